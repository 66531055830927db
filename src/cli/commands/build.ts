/** `omnifft build`: writes transforms as a module with their compiled code, and without a planner or compiler. */

import { type Command, Option } from 'commander';
import { buildWasm, type ModulePart } from '../../engine/ahead/wasm.ts';
import { buildWgsl } from '../../engine/ahead/wgsl.ts';
import { FftError } from '../../index.ts';
import { logMelModule } from '../../signal/features/feature-module.ts';
import { checkOutput } from '../files.ts';
import { outputPath, withJson } from '../options.ts';
import { checkTaken, NAMED, type NamedFile, namedProblems, namedTexts, withPlans, writeFiles } from '../planned.ts';

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
      'lengths such as 1024 or 256x256, r2c:512, a descriptor, a problem as JSON, or log-mel:whisper, features of a preset; name=1024 says what a transform is called',
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
  withJson(command).action(runBuild);
}

async function runBuild(texts: readonly string[], options: BuildOptions): Promise<void> {
  const { json, output, target, profile, relaxed, separate } = options;
  if (target === 'wgsl' ? relaxed || separate : profile !== undefined) {
    const message = '--relaxed and --separate are for --target wasm, --profile is for --target wgsl.';
    throw new FftError('invalid-usage', message);
  }
  await checkOutput(output);
  const problems = namedProblems(texts.filter((text) => !isFeatures(text)));
  const presets = featurePresets(texts.filter(isFeatures), problems);
  if (target === 'wgsl' && presets.size > 0) {
    throw new FftError(
      'invalid-usage',
      'log-mel is for --target wasm; a page with WebGPU has logMel of omnifft/signal.',
    );
  }
  const stem = output.replace(/\.m?js$/, '');
  const declarations = `${stem}.d.${output.endsWith('.js') ? 'ts' : 'mts'}`;
  const planned = { profile: profile ?? (target === 'wgsl' ? 'webgpu-default' : 'wasm-cpu'), language: target };
  const files = await withPlans(problems, planned, async (plans, profile, device): Promise<NamedFile[]> => {
    const module = ({ script, types }: { script: string; types: string }) => [
      { file: output, contents: script },
      { file: declarations, contents: types },
    ];
    if (target === 'wgsl') return module(buildWgsl(plans, { profile }));
    const parts = new Map<string, ModulePart>();
    for (const [name, preset] of presets) parts.set(name, await logMelModule(preset, device));
    const built = buildWasm(plans, { profile, relaxed, separate }, parts);
    const { plain, relaxed: code } = built.code;
    return [
      ...module(built),
      ...(separate ? [{ file: `${stem}.wasm`, contents: plain }] : []),
      ...(separate && code ? [{ file: `${stem}.relaxed.wasm`, contents: code }] : []),
    ];
  });
  await writeFiles(files, [...problems.keys(), ...presets.keys()], json);
}

/** The prefix of a preset of features, which stands in the place of a transform's length. */
const FEATURES = 'log-mel:';

function isFeatures(text: string): boolean {
  return (NAMED.exec(text)?.[2] ?? text).startsWith(FEATURES);
}

/** The presets, by the names that their features are exported by, such as `logMelWhisper`. */
function featurePresets(texts: readonly string[], problems: ReadonlyMap<string, unknown>): Map<string, string> {
  const presets = namedTexts(texts, (text): [string, string] => {
    const preset = text.slice(FEATURES.length);
    const words = preset.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
    return [`logMel${words.join('')}`, preset];
  });
  for (const [name, preset] of presets) if (problems.has(name)) throw checkTaken(name, FEATURES + preset);
  return presets;
}
