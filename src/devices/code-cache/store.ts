/**
 * The store that keeps compiled code between processes.
 * Keys are texts that name everything a value depends on: the source, the compiler, the device, and the build of omnifft. `get` returns either the
 * value that was put under exactly that key, or nothing, so callers need not check the value again.
 */
export interface CodeStore {
  /** The version of omnifft and the build of its code: part of every key. */
  readonly build: string;
  /** The value of a key; undefined if there is none or it is damaged. Never throws. */
  get(key: string): Uint8Array | undefined;
  /** Keeps a value, soon after the call. Does nothing if the value cannot be kept. Never throws. */
  put(key: string, value: Uint8Array): void;
  /** Reads the value of a key asynchronously, so that the next `get` finds it. Absent in stores whose `get` reads by itself. Never rejects. */
  fetch?(key: string): Promise<void>;
}

/**
 * The key of an entry: its kind, the build of the library that wrote it, and all that the kept value depends on.
 * @param facts compared in order, so the same facts have to be given in the same order
 */
export function entryKey(
  what: 'binary' | 'measured' | 'plan',
  { build }: CodeStore,
  facts: readonly unknown[],
): string {
  return JSON.stringify([what, build, ...facts]);
}

/** Identifies the build of omnifft: code that another version or another state of the sources has compiled is not used. */
declare const OMNIFFT_BUILD: string | undefined;

/** A digest of the sources that a build was made from; undefined when the sources themselves run, because they may change at any time. */
export const buildDigest: string | undefined = typeof OMNIFFT_BUILD === 'string' ? OMNIFFT_BUILD : undefined;
