/** `omnifft aot-generate`: plans with their compiled code as one file, which `device.plan(problem, { from })` takes. */

import type { Command } from 'commander';
import { compilingDevices } from '../../engine/compiling-devices.ts';
import { bytesText } from '../../engine/index.ts';
import { joinBinaries } from '../../engine/kept/binaries.ts';
import { type Device, FftError, type ProblemInput, type ProfileName, type ProfileOptions } from '../../index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { withOptionNames } from '../failures.ts';
import { checkOutput, reportDone, writeOutput } from '../files.ts';
import { neededPrecision, outputPath, positiveInteger, readProblem, useDevice, withJson } from '../options.ts';

interface AotOptions {
  readonly json: boolean;
  readonly output: string;
  readonly device?: string;
  readonly threads?: number;
  readonly profile?: readonly string[];
  readonly language?: string;
  readonly architecture?: string;
}

export function addAotGenerate(program: Command): void {
  const command = program
    .command('aot-generate')
    .description(
      'plan transforms and compile their kernels, for programs that then need neither a planner nor a compiler',
    )
    .argument('<problems...>', 'descriptors such as scfo1024*16, lengths, r2c:512, or problems as JSON')
    .requiredOption('-o, --output <file.fft>', 'where to write all of them', outputPath('.fft'))
    .option('-d, --device <kind>', 'compile on a device of this machine, for devices like it')
    .option('--threads <count>', 'threads of a CPU device (default: its own choice)', positiveInteger)
    .option('--profile <names...>', 'compile without a device, for those of these profiles: h200, mi250x, wasm-cpu …')
    .option('--language <name>', 'what kernels for a profile are written in: cuda, hip, opencl, spirv or wasm')
    .option(
      '--architecture <name>',
      'the processor, as the compiler calls it: sm_90, gfx90a, dg2 (default: that of the profile; with spirv: compile for it, for Level Zero)',
    );
  withJson(command).action(aotGenerate);
}

async function aotGenerate(texts: readonly string[], options: AotOptions): Promise<void> {
  const { output, json, device, profile } = options;
  if ((device === undefined) === (profile === undefined)) {
    throw new FftError(
      'invalid-usage',
      'Name what to compile for: a --device of this machine, or a --profile of one that is not there.',
    );
  }
  await checkOutput(output);
  const problems = texts.map(readProblem);
  const saved =
    device === undefined ? await forProfiles(problems, options) : await forDevice(problems, device, options);
  const bytes = joinBinaries(saved);
  await writeOutput(output, bytes);
  const said = { plans: saved.length, file: output, bytes: bytes.length };
  reportDone(
    output,
    json ? JSON.stringify(said, null, 2) : `${said.plans} plans: ${output} (${bytesText(bytes.length)})`,
  );
}

/** Plans with code for devices like the one that is open. */
async function forDevice(
  problems: readonly ProblemInput[],
  device: string,
  { threads }: AotOptions,
): Promise<Uint8Array[]> {
  const precision = neededPrecision(...problems.map((problem) => normalizeProblem(problem)));
  return await useDevice({ device, precision, ...(threads === undefined ? {} : { threads }) }, (opened) =>
    savedPlans(problems, opened),
  );
}

async function forProfiles(problems: readonly ProblemInput[], options: AotOptions): Promise<Uint8Array[]> {
  const { profile = [], language, architecture } = options;
  const saved: Uint8Array[] = [];
  for (const name of profile) {
    const settings = { language: language as ProfileOptions['language'], architecture };
    const devices = await withOptionNames(['language', 'architecture'], () =>
      compilingDevices(name as ProfileName, settings),
    );
    for (const device of devices) {
      try {
        saved.push(...(await savedPlans(problems, device)));
      } finally {
        device.close();
      }
    }
  }
  return saved;
}

async function savedPlans(problems: readonly ProblemInput[], device: Device): Promise<Uint8Array[]> {
  const saved: Uint8Array[] = [];
  for (const problem of problems) {
    const plan = await device.plan(problem);
    try {
      saved.push(plan.serialize({ binaries: true }));
    } finally {
      plan.destroy();
    }
  }
  return saved;
}
