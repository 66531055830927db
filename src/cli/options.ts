/**
 * Options and arguments that several commands share, and how they are read.
 */

import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Device,
  FftError,
  type OpenableKind,
  openDevice,
  openProfile,
  type Problem,
  type ProblemInput,
  type ProfileName,
  type ProfileOptions,
  parseDescriptor,
  profileNames,
} from '../index.ts';
import { show } from '../problem/errors.ts';
import { lengthsAlone, type TransformKind } from '../problem/index.ts';
import { withOptionNames } from './failures.ts';

export interface DeviceFlags {
  readonly device: string;
  readonly threads?: number;
  /** The name of a profile to plan for, instead of opening a device. */
  readonly profile?: string;
  readonly language?: string;
  /** The precision that plans need: `auto` skips devices without it. */
  readonly precision?: 'single' | 'double';
}

/** Adds `--device` and `--threads`. */
export function withDevice(command: Command): Command {
  return command
    .option('-d, --device <kind>', 'device to run on, as `omnifft devices` lists them', 'auto')
    .option('--threads <count>', 'threads of a CPU device (default: its own choice)', positiveInteger);
}

/** Adds `--profile` and `--language`. */
export function withProfile(command: Command): Command {
  const profile = new Option('--profile <name>', `instead of a device, the profile of one: ${profileNames.join(', ')}`);
  return command
    .addOption(profile.conflicts(['device', 'threads']))
    .option('--language <name>', 'what kernels for a profile are written in: cuda, hip, opencl, wgsl, msl or wasm');
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print the result as JSON', false);
}

/** Opens the device that the options name, lends it to `use` and closes it. */
export async function useDevice<T>(options: DeviceFlags, use: (device: Device) => Promise<T>): Promise<T> {
  const device = await withOptionNames(['threads', 'language'], () => open(options));
  try {
    return await use(device);
  } finally {
    device.close();
  }
}

/** Unknown names are refused by the functions that open devices and profiles. */
async function open({ device, threads, profile, language, precision }: DeviceFlags): Promise<Device> {
  if (profile !== undefined) {
    // Commands that run plans do not take a profile.
    return openProfile(
      profile as ProfileName,
      language === undefined ? {} : ({ language } as ProfileOptions),
    ) as Promise<Device>;
  }
  if (language !== undefined) {
    throw new FftError('invalid-usage', '--language is for profiles: name one with --profile. A device has its own.');
  }
  return openDevice(device as OpenableKind, {
    ...(threads === undefined ? {} : { threads }),
    // A named device computes missing precisions by pairs, so no device is skipped.
    ...(precision === undefined || (device ?? 'auto') !== 'auto' ? {} : { precision }),
  });
}

/**
 * Reads the name of an output: `-` is the standard output. An extension of another file format is refused; a name without an extension fits every
 * format.
 */
export function outputPath(...suffixes: readonly string[]): (text: string) => string {
  return (text) => {
    const suffix = extname(text);
    if (/^\.[a-z]/i.test(suffix) && !suffixes.includes(suffix.toLowerCase())) {
      throw new InvalidArgumentError(`What is written ends in ${suffixes.join(' or ')}, not in ${show(suffix)}.`);
    }
    return text === '-' ? '/dev/stdout' : text;
  };
}

/** Reads a problem from the command line: lengths alone, lengths after a transform (`r2c:512`), a descriptor, or the problem object as JSON. */
export function readProblem(text: string): ProblemInput {
  const [, transform, lengths = ''] = /^\s*([a-z]\w*):(.*)$/.exec(text) ?? [];
  const ofTransform = transform === undefined ? undefined : lengthsAlone(lengths);
  if (ofTransform) return { ...ofTransform, transform: transform as TransformKind };
  if (!text.trimStart().startsWith('{')) return lengthsAlone(text) ?? readDescriptor(text);
  try {
    return JSON.parse(text) as ProblemInput;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FftError('invalid-usage', `The problem starts as JSON does but is none: ${reason}`, { cause: error });
  }
}

/** Reads a descriptor. A text that does not begin like one may have been meant as lengths, as the error then says. */
function readDescriptor(text: string): ProblemInput {
  try {
    return parseDescriptor(text);
  } catch (cause) {
    if (!(cause instanceof FftError) || /^\s*[sd]/i.test(text)) throw cause;
    const instead = 'Lengths alone, such as 1024 or 256x256, or a problem as JSON will do, too.';
    throw new FftError(cause.code, `${cause.message} ${instead}`, { cause });
  }
}

/** The precision that a device must have to compute all of the given problems. */
export function neededPrecision(...problems: readonly Problem[]): 'single' | 'double' {
  return problems.every(({ precision }) => precision === 'single') ? 'single' : 'double';
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('A positive integer is needed.');
  }
  return value;
}

/** Comma-separated integers, negative ones too. */
export function integerList(text: string): number[] {
  const values = text.split(',').map((item) => (/^\s*[+-]?\d+\s*$/.test(item) ? Number(item) : Number.NaN));
  if (!values.every(Number.isSafeInteger)) {
    throw new InvalidArgumentError('Integers separated by commas are needed, such as 0,2 or -1.');
  }
  return values;
}
