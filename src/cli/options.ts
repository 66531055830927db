/**
 * Options and arguments that several commands share, and how they are read.
 */

import { type Command, InvalidArgumentError } from 'commander';
import { FftError, openDevice, parseDescriptor } from '../index.ts';
import type { ProblemInput } from '../problem/index.ts';

export interface DeviceOptions {
  readonly device: string;
  readonly threads?: number;
}

type DeviceKind = Parameters<typeof openDevice>[0];
export type Device = Awaited<ReturnType<typeof openDevice>>;

/** Adds `--device` and `--threads`. */
export function withDevice(command: Command): Command {
  return command
    .option('-d, --device <kind>', 'device to run on, as `omnifft devices` lists them', 'auto')
    .option('--threads <count>', 'threads of a CPU device (default: its own choice)', positiveInteger);
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print the result as JSON', false);
}

/** Opens the device that the options name, lends it to `use` and closes it. */
export async function useDevice<T>(options: DeviceOptions, use: (device: Device) => Promise<T>): Promise<T> {
  const threads = options.threads === undefined ? {} : { threads: options.threads };
  // An unknown name is refused by openDevice, which knows them all.
  const device = await openDevice(options.device as DeviceKind, threads);
  try {
    return await use(device);
  } finally {
    await device.close();
  }
}

/** Reads a problem as it is given on the command line: a descriptor, or the problem object as JSON. */
export function readProblem(text: string): ProblemInput {
  if (!text.trimStart().startsWith('{')) return parseDescriptor(text);
  try {
    return JSON.parse(text) as ProblemInput;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FftError('invalid-usage', `The problem starts as JSON does but is none: ${reason}`, { cause: error });
  }
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
