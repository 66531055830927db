/** `omnifft build`: transforms planned ahead of time, as a module that has neither planner nor compiler in it. */

import { type Command, Option } from 'commander';
import { buildWasm } from '../../engine/ahead/wasm.ts';
import { buildWgsl } from '../../engine/ahead/wgsl.ts';
import { FftError } from '../../index.ts';
import { checkOutput } from '../files.ts';
import { outputPath, withJson } from '../options.ts';
import { type NamedFile, namedProblems, withPlans, writeFiles } from '../planned.ts';

interface BuildOptions {
  readonly json: boolean;
  readonly output: string;
  readonly target: 'wasm' | 'wgsl';
  readonly profile?: string;
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
    .addOption(new Option('--target <name>', 'what it runs on').choices(['wasm', 'wgsl']).default('wasm'))
    .option('--relaxed', 'wasm: add kernels with multiply-adds for engines that have relaxed SIMD', false)
    .option('--separate', 'wasm: write the code beside it, for pages that may not compile code from bytes', false)
    .option('--profile <name>', 'wgsl: the device that it is planned for (default: webgpu-default, which all can run)');
  withJson(command).action(build);
}

async function build(texts: readonly string[], options: BuildOptions): Promise<void> {
  const { json, output, target, profile, relaxed, separate } = options;
  if (target === 'wgsl' ? relaxed || separate : profile !== undefined) {
    const message = '--relaxed and --separate are for --target wasm, --profile is for --target wgsl.';
    throw new FftError('invalid-usage', message);
  }
  await checkOutput(output);
  const problems = namedProblems(texts);
  const stem = output.replace(/\.m?js$/, '');
  const declarations = `${stem}.d.${output.endsWith('.js') ? 'ts' : 'mts'}`;
  const named = { profile: profile ?? (target === 'wgsl' ? 'webgpu-default' : 'wasm-cpu'), language: target };
  const files = await withPlans(problems, named, (plans, profile): NamedFile[] => {
    const module = ({ script, types }: { script: string; types: string }) => [
      { file: output, contents: script },
      { file: declarations, contents: types },
    ];
    if (target === 'wgsl') return module(buildWgsl(plans, { profile }));
    const built = buildWasm(plans, { profile, relaxed, separate });
    const { plain, relaxed: code } = built.code;
    return [
      ...module(built),
      ...(separate ? [{ file: `${stem}.wasm`, contents: plain }] : []),
      ...(separate && code ? [{ file: `${stem}.relaxed.wasm`, contents: code }] : []),
    ];
  });
  await writeFiles(files, [...problems.keys()], json);
}
