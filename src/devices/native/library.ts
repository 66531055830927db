/**
 * Shared libraries of the system, called through koffi, which is loaded on first use. This file knows nothing of what
 * particular libraries do.
 */
import type koffi from 'koffi';
import { FftError, reasonOf } from '../../problem/errors.ts';
import { nodeModule } from '../cpu/host.ts';

export type Koffi = typeof koffi;

/** A C function. Pointers are BigInts, or arrays, which stand for their memory; `async` takes a callback as its last argument. */
export interface NativeFunction {
  // biome-ignore lint/suspicious/noExplicitAny: what a C function takes and gives is known to its caller alone.
  (...values: any[]): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async: (...values: any[]) => void;
}

/** Whether a value can be a handle or an address. Only the library may know whether it is valid. @param least the lowest possible value */
export function isHandle(value: unknown, least: bigint): value is bigint {
  return typeof value === 'bigint' && value >= least && value < 2n ** 64n;
}

export interface LibraryRequest {
  /** File names or paths, the best first. */
  readonly names: readonly string[];
  /** The description of the library, in messages. */
  readonly what: string;
  /** The remedy if the library is missing: a sentence. */
  readonly install: string;
}

export interface NativeLibrary {
  /** The name or path that was found. */
  readonly name: string;
  /** @throws FftError `device-unavailable` where the library is too old to have the function. */
  func(name: string, result: string, parameters: readonly string[]): NativeFunction;
  /** Like `func`, but undefined if the library does not have the function. */
  optional(name: string, result: string, parameters: readonly string[]): NativeFunction | undefined;
}

/** Compilers of the drivers run on the stack that koffi calls with; its own default is too small for them. */
const STACK_BYTES = 16 * 2 ** 20;

let loading: Promise<Koffi> | undefined;

/** @throws FftError `device-unavailable` where koffi is not installed or has no binary for this system. */
export function loadKoffi(): Promise<Koffi> {
  loading ??= nodeModule<{ default: Koffi }>('koffi').then(
    (module) => {
      const { default: koffi } = module!;
      try {
        koffi.config({ sync_stack_size: STACK_BYTES, async_stack_size: STACK_BYTES });
      } catch {
        // The caller's own code has used koffi already, so koffi's settings can no longer change.
      }
      return koffi;
    },
    (cause) => {
      const isMissing = (cause as { code?: unknown } | undefined)?.code === 'ERR_MODULE_NOT_FOUND';
      const why = isMissing
        ? "is not installed: run 'npm install koffi'."
        : `cannot be loaded here (${reasonOf(cause)}).`;
      const message = `Native devices need the package koffi, which ${why}`;
      throw new FftError('device-unavailable', message, { cause });
    },
  );
  return loading;
}

/** @throws FftError `device-unavailable` that says what is missing and what to install. */
export async function openLibrary({ names, what, install }: LibraryRequest): Promise<NativeLibrary> {
  const koffi = await loadKoffi();
  let cause: unknown;
  for (const name of names) {
    try {
      return wrapLibrary(koffi, name, what);
    } catch (error) {
      cause = error;
    }
  }
  throw new FftError('device-unavailable', `${what} was not found (looked for ${names.join(', ')}). ${install}`, {
    cause,
  });
}

/** The functions of a table, by this library's names for them. @param nameOf gives the C library's name of a function. */
export function functionsOf<K extends string>(
  library: NativeLibrary,
  table: Readonly<Record<K, readonly string[]>>,
  result: string,
  nameOf: (name: K) => string = (name) => name,
): Readonly<Record<K, NativeFunction>> {
  const entries = Object.entries<readonly string[]>(table) as [K, readonly string[]][];
  const bound = entries.map(([name, parameters]) => [name, library.func(nameOf(name), result, parameters)]);
  return Object.fromEntries(bound) as Record<K, NativeFunction>;
}

function wrapLibrary(koffi: Koffi, name: string, what: string): NativeLibrary {
  const handle = koffi.load(name);
  const func: NativeLibrary['func'] = (symbol, result, parameters) => {
    try {
      return handle.func(symbol, result, [...parameters]) as NativeFunction;
    } catch (cause) {
      throw new FftError('device-unavailable', `${what} (${name}) has no function ${symbol}: it is too old.`, {
        cause,
      });
    }
  };
  return {
    name,
    func,
    optional(symbol, result, parameters) {
      try {
        return func(symbol, result, parameters);
      } catch {
        return undefined;
      }
    },
  };
}
