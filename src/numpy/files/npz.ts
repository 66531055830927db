/** `.npz` files: named arrays, each as a `.npy` file in a zip archive, as `numpy.savez` writes them. */

import { readOptions } from '../../engine/arguments/options.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { NewUint8Array } from '../../problem/index.ts';
import { requireBytes } from '../../problem/input/bytes.ts';
import { isRecord, type Reading, snapshot } from '../../problem/input/snapshot.ts';
import type { ArrayInput } from '../arrays/array.ts';
import type { NpyArray } from '../arrays/npy-array.ts';
import { joinBytes, npyPieces, readNpyFrom } from './npy.ts';
import { type ByteSource, memorySource } from './source.ts';
import { isZip, type ZipInput, zipContents, zipEntries, zipPieces } from './zip.ts';

/** An array of an archive, not read yet. */
export interface NpzMember {
  readonly name: string;
  /** @throws FftError (as a rejection) `invalid-file`, `out-of-memory` */
  readonly read: () => Promise<NpyArray>;
}

const SUFFIX = '.npy';
/** The longest name that an archive can hold. */
const LONGEST_NAME = 65535 - SUFFIX.length;
/** The rules by which the record of arrays is read; each array is then read by its own rules. */
const READING: Reading = { code: 'invalid-argument', depth: 1, keep: true, most: 2 ** 16 };

/**
 * Reads all arrays of a `.npz` file, compressed or not. What else is in the archive is passed over.
 *
 * @param bytes The whole file. It is not modified, and must stay as it is until the promise resolves.
 * @returns the arrays by their names; an object without a prototype, so that no name is taken.
 * @throws FftError (as a rejection) `invalid-argument` when they are no `Uint8Array`, `detached-array`; `invalid-file` when
 *   they are no zip archive, are damaged, encrypted, compressed otherwise than by deflate, or hold an array that `readNpy`
 *   refuses; `out-of-memory`.
 */
export async function readNpz(bytes: Uint8Array): Promise<Record<string, NpyArray>> {
  const arrays: Record<string, NpyArray> = Object.create(null);
  for (const { name, read } of npzMembers(memorySource(requireBytes(bytes, 'readNpz')))) arrays[name] = await read();
  return arrays;
}

/** The arrays of an archive. @throws FftError `invalid-file` */
export function npzMembers(source: ByteSource): NpzMember[] {
  if (!isZip(source)) {
    throw new FftError('invalid-file', 'The file does not start as a .npz file does, which is a zip archive.');
  }
  const entries = zipEntries(source).filter(({ name }) => name.endsWith(SUFFIX));
  return entries.map((entry) => {
    const name = entry.name.slice(0, -SUFFIX.length);
    return { name, read: async () => readMember(name, await zipContents(source, entry), readNpyFrom) };
  });
}

function readMember(name: string, contents: ByteSource, read: (source: ByteSource) => NpyArray): NpyArray {
  try {
    return read(contents);
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    throw new FftError(error.code, `Array ${show(name)}: ${error.message}`, { cause: error });
  }
}

/**
 * Writes arrays as a `.npz` file, which `numpy.load` reads.
 *
 * @param arrays by their names, which NumPy chooses as `arr_0`, `arr_1` … where it is given none. They must stay as they are
 *   until the promise resolves.
 * @param options `compressed`: whether to deflate them, as `numpy.savez_compressed` does; default: false.
 * @throws FftError (as a rejection) `invalid-argument`, `unknown-field`, those of `writeNpy`
 */
export async function writeNpz(
  arrays: Readonly<Record<string, ArrayInput>>,
  options: { readonly compressed?: boolean | undefined } = {},
): Promise<NewUint8Array> {
  const { compressed = false } = readOptions(options, { works: ['compressed'] }, 'writeNpz');
  if (typeof compressed !== 'boolean') {
    throw new FftError('invalid-argument', `compressed is ${show(compressed)}; it is true or false.`, {
      path: 'compressed',
    });
  }
  const given = snapshot(arrays, 'What writeNpz was given', READING);
  if (!isRecord(given)) {
    throw new FftError('invalid-argument', `writeNpz was given ${show(given)}; it takes an object of arrays by name.`);
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of npzPieces(given as typeof arrays, compressed)) {
    pieces.push(piece);
    size += piece.length;
  }
  return joinBytes(size, pieces);
}

/** An `.npz` file in pieces. */
export function npzPieces(arrays: Readonly<Record<string, ArrayInput>>, compressed = false): AsyncIterable<Uint8Array> {
  // All arrays are checked before the first one is written.
  const inputs = Object.entries(arrays).map(([name, array]): ZipInput => {
    if (new TextEncoder().encode(name).length > LONGEST_NAME) {
      throw new FftError('invalid-argument', `The name ${show(name)} is too long: ${LONGEST_NAME} bytes are the most.`);
    }
    return { name: name + SUFFIX, ...npyPieces(array) };
  });
  return zipPieces(inputs, compressed);
}
