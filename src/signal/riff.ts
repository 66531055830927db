/**
 * The chunks of a WAVE file: four letters, a size, as many bytes, and a byte of padding where the size is odd.
 *
 * Walked here and not by a package: the one that did it before, `wavefile`, read every kind of chunk, looped for ever over
 * damaged `cue ` and `smpl` chunks and took padding for sound.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991) for RIFF; EBU Tech
 * 3306, "RF64: An extended file format for audio", and ITU-R BS.2088, which calls the same BW64, for files of more than 4 GiB.
 */

/** A chunk as the file announces it. */
export interface Chunk {
  /** How many bytes it announces. */
  readonly size: number;
  /** Those of them that are there: fewer where the file ends too early. */
  readonly bytes: Uint8Array;
}

/** What programs announce that do not know yet how much will come, and long files that say it elsewhere. */
export const UNKNOWN_SIZE = 0xffffffff;

/** Containers whose sizes have 64 bits, in a chunk of their own. */
const LONG: ReadonlySet<string | undefined> = new Set(['RF64', 'BW64']);

/** What the file starts with: `RIFF`, `RF64` or `BW64` where it may be longer than 4 GiB, `RIFX` where numbers are big-endian. */
export function containerOf(bytes: Uint8Array): string | undefined {
  return text(bytes, 8) === 'WAVE' ? text(bytes, 0) : undefined;
}

/**
 * The chunks of some names, the first of each. Others are stepped over unread: damage in them does no harm.
 *
 * @param bytes A file whose container is `RIFF`, `RF64` or `BW64`.
 */
export function findChunks<Name extends string>(bytes: Uint8Array, names: readonly Name[]): Map<Name, Chunk> {
  const view = viewOf(bytes);
  const long = LONG.has(containerOf(bytes));
  const found = new Map<Name, Chunk>();
  let dataSize = UNKNOWN_SIZE;
  for (let at = 12; at + 8 <= bytes.length && found.size < names.length; ) {
    const id = text(bytes, at);
    const start = at + 8;
    const announced = view.getUint32(at + 4, true);
    // The sizes of the whole file and of its samples, in 64 bits each.
    if (long && id === 'ds64' && start + 16 <= bytes.length) dataSize = Number(view.getBigUint64(start + 8, true));
    const size = long && id === 'data' && announced === UNKNOWN_SIZE ? dataSize : announced;
    const name = names.find((name) => name === id);
    if (name !== undefined && !found.has(name)) found.set(name, { size, bytes: bytes.subarray(start, start + size) });
    at = start + size + (size % 2);
  }
  return found;
}

/** The bytes of a file or chunk as numbers. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function text(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
