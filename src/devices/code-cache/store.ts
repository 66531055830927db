/**
 * Where compiled code is kept between processes.
 *
 * Keys are texts that say everything the value depends on: what was compiled, by which compiler, for which device, by which build of
 * omnifft. A value is either what was put under exactly that key, or not there, so that callers need not check it again.
 */
export interface CodeStore {
  /** The version of omnifft and the build of its code: part of every key. */
  readonly build: string;
  /** The value of a key; undefined where there is none, or none that is sound. Never throws. */
  get(key: string): Uint8Array | undefined;
  /** Keeps a value, soon. Where that cannot be done, nothing happens. Never throws. */
  put(key: string, value: Uint8Array): void;
  /**
   * Where reading takes waiting: brings the value of a key to where `get` finds it. Never rejects. Absent where `get` finds
   * everything by itself.
   */
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

/** Which code of omnifft this is. Compiled code that another version, or another state of the sources, has written is not used. */
declare const OMNIFFT_BUILD: string | undefined;

/** A digest of the sources that a build was made of; undefined where the sources themselves run, which may change at any time. */
export const buildDigest: string | undefined = typeof OMNIFFT_BUILD === 'string' ? OMNIFFT_BUILD : undefined;
