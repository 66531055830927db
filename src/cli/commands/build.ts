/** `omnifft build`: transforms planned ahead of time, as a module that has neither planner nor compiler in it. */

import { type Command, Option } from 'commander';
import { buildWasm, type PlannedTransform } from '../../engine/ahead/wasm.ts';
import { bytesText } from '../../engine/index.ts';
import { FftError, openProfile, type Plan, type ProblemInput } from '../../index.ts';
import { normalizeProblem, type Problem } from '../../problem/index.ts';
import { checkOutput, reportDone, writeOutput } from '../files.ts';
import { outputPath, readProblem, withJson } from '../options.ts';

interface BuildOptions {
  readonly json: boolean;
  readonly output: string;
  readonly target: 'wasm';
  readonly relaxed: boolean;
  readonly separate: boolean;
}

export function addBuild(program: Command): void {
  const command = program
    .command('build')
    .description('write transforms as a module of their own, planned ahead of time: no planner, nothing to compile')
    .argument(
      '<problems...>',
      'lengths such as 1024 or 256x256, r2c:512, a descriptor, or a problem as JSON; name=1024 says what a transform is called',
    )
    .requiredOption(
      '-o, --output <file.mjs>',
      'where to write it; declarations go beside it',
      outputPath('.mjs', '.js'),
    )
    .addOption(new Option('--target <name>', 'what it runs on').choices(['wasm']).default('wasm'))
    .option('--relaxed', 'add kernels with multiply-adds for engines that have relaxed SIMD', false)
    .option('--separate', 'write the WebAssembly beside it, for pages that may not compile code from bytes', false);
  withJson(command).action(build);
}

async function build(texts: readonly string[], { json, output, relaxed, separate }: BuildOptions): Promise<void> {
  await checkOutput(output);
  const problems = namedProblems(texts);
  const device = await openProfile('wasm-cpu');
  try {
    const plans = new Map<string, PlannedTransform>();
    for (const [name, problem] of problems) plans.set(name, (await device.plan(problem)) as unknown as Plan);
    const { script, types, code } = buildWasm(plans, { profile: device.profile, relaxed, separate });
    const stem = output.replace(/\.m?js$/, '');
    const files: [string, Uint8Array][] = [
      [output, new TextEncoder().encode(script)],
      [`${stem}.d.${output.endsWith('.js') ? 'ts' : 'mts'}`, new TextEncoder().encode(types)],
      ...(separate ? [[`${stem}.wasm`, code.plain] as [string, Uint8Array]] : []),
      ...(separate && code.relaxed ? [[`${stem}.relaxed.wasm`, code.relaxed] as [string, Uint8Array]] : []),
    ];
    for (const [path, bytes] of files) await writeOutput(path, bytes);
    const said = {
      transforms: [...problems.keys()],
      files: files.map(([file, { length: bytes }]) => ({ file, bytes })),
    };
    reportDone(
      output,
      json ? JSON.stringify(said, null, 2) : `${said.transforms.join(', ')}: ${filesText(said.files)}`,
    );
  } finally {
    device.close();
  }
}

function filesText(files: readonly { readonly file: string; readonly bytes: number }[]): string {
  return files.map(({ file, bytes }) => `${file} (${bytesText(bytes)})`).join(', ');
}

/** Problems by the names that they are exported by. */
function namedProblems(texts: readonly string[]): Map<string, ProblemInput> {
  const problems = new Map<string, ProblemInput>();
  for (const text of texts) {
    const [, given, rest] = /^([A-Za-z_$][\w$]*)=(.*)$/s.exec(text) ?? [];
    const input = readProblem(rest ?? text);
    const name = given ?? nameOf(normalizeProblem(input));
    if (problems.has(name)) {
      const another = `Two transforms would be called ${name}: name one of them, as in other=${text}.`;
      throw new FftError('invalid-argument', another, { path: 'problems' });
    }
    problems.set(name, input);
  }
  return problems;
}

/** Such as `fft1024`, `r2c256x256`, `dct2_64` or `fft32_batch100`. */
function nameOf({ size, transform, batches }: Problem): string {
  const kinds = [...new Set(transform)].map((kind) => (kind === 'c2c' ? 'fft' : kind));
  const kind = kinds.join('_');
  return `${kind}${/\d$/.test(kind) ? '_' : ''}${size.join('x')}${batches > 1 ? `_batch${batches}` : ''}`;
}
