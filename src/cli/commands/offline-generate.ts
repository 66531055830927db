/** `omnifft offline-generate`: writes plans as source: kernels and the host code that launches them. */

import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import { buildHost, type HostLanguage } from '../../engine/ahead/host.ts';
import { buildWasm } from '../../engine/ahead/wasm.ts';
import { buildWgsl } from '../../engine/ahead/wgsl.ts';
import { FftError, openProfile, type ProfileName, type ProfileOptions } from '../../index.ts';
import { show } from '../../problem/errors.ts';
import { withOptionNames } from '../failures.ts';
import { checkOutput } from '../files.ts';
import { outputPath, withJson } from '../options.ts';
import { type NamedFile, namedProblems, withPlans, writeFiles } from '../planned.ts';

interface OfflineOptions {
  readonly json: boolean;
  readonly output: string;
  readonly profile: string;
  readonly language?: string;
}

/** The allowed extensions of files by language. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  cuda: ['.cu'],
  hip: ['.hip', '.cpp'],
  opencl: ['.c', '.cpp'],
  wgsl: ['.ts'],
  wasm: ['.ts'],
};
const ALL_EXTENSIONS = [...new Set(Object.values(EXTENSIONS).flat())];

export function addOfflineGenerate(program: Command): void {
  const command = program
    .command('offline-generate')
    .description('write kernels as source, with a host program in C, C++ or TypeScript that launches them')
    .argument(
      '<problems...>',
      'descriptors such as scfo1024*16, lengths, r2c:512, or problems as JSON; name=1024 names one',
    )
    .requiredOption(
      '-o, --output <file>',
      'where to write it: .cu (CUDA), .hip (HIP), .c or .cpp (OpenCL), .ts (WebGPU, WebAssembly); a header goes beside it',
      outputPath(...ALL_EXTENSIONS),
    )
    .requiredOption(
      '--profile <name>',
      'the device that it is planned for: h200, mi250x, arc, webgpu-default, wasm-cpu …',
    )
    .option(
      '--language <name>',
      'what kernels are written in: cuda, hip, opencl, wgsl or wasm (default: that of the profile)',
    );
  withJson(command).action(offlineGenerate);
}

async function offlineGenerate(texts: readonly string[], options: OfflineOptions): Promise<void> {
  const { json, output, profile } = options;
  await checkOutput(output);
  const problems = namedProblems(texts);
  const language = await languageOf(options);
  const ends = EXTENSIONS[language];
  if (!ends)
    throw new FftError('unsupported-feature', `There is no host program for ${language}: choose another --language.`);
  if (!ends.includes(extname(output).toLowerCase())) {
    throw new FftError(
      'invalid-usage',
      `A host program for ${language} ends in ${ends.join(' or ')}, not as ${show(output)} does.`,
    );
  }
  const stem = output.slice(0, -extname(output).length);
  const files = await withPlans(problems, { profile, language }, (plans, profile): NamedFile[] => {
    if (language === 'wasm') {
      return [
        { file: output, contents: buildWasm(plans, { profile, relaxed: false, separate: false, typed: true }).script },
      ];
    }
    if (language === 'wgsl') return [{ file: output, contents: buildWgsl(plans, { profile, typed: true }).script }];
    const { source, header } = buildHost(plans, { profile, language: language as HostLanguage, stem: basename(stem) });
    return [
      { file: output, contents: source },
      { file: `${stem}.h`, contents: header },
    ];
  });
  await writeFiles(files, [...problems.keys()], json);
}

/** The language that is asked for; by default the one of the profile. */
async function languageOf({ profile, language }: OfflineOptions): Promise<string> {
  const options = language === undefined ? {} : ({ language } as ProfileOptions);
  const device = await withOptionNames(['language'], () => openProfile(profile as ProfileName, options));
  try {
    return language ?? KINDS[device.kind] ?? device.kind;
  } finally {
    device.close();
  }
}

/** The languages of kinds of devices, where the two have different names. */
const KINDS: Readonly<Record<string, string>> = { webgpu: 'wgsl', cpu: 'wasm', vulkan: 'spirv' };
