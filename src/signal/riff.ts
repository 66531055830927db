/**
 * The chunks of a WAVE file: an id, a size, as many bytes, and padding.
 *
 * Walked here and not by a package: the one that did it before, `wavefile`, read every kind of chunk, looped for ever over
 * damaged `cue ` and `smpl` chunks and took padding for sound.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991) for RIFF and RIFX; EBU
 * Tech 3306, "RF64: An extended file format for audio", and ITU-R BS.2088, which calls the same BW64, for files of more than
 * 4 GiB; "Sony Wave64 (W64) file format" (Sony Pictures Digital, 2003) for another way to that.
 */

import type { ByteSource } from '../numpy/source.ts';

/** A chunk as the file announces it. */
export interface Chunk {
  /** Where its bytes begin. */
  readonly start: number;
  /** How many bytes it announces: up to the end of the file where it does not know. */
  readonly size: number;
  /** How many of them are there: fewer where the file ends too early. */
  readonly present: number;
}

/** A way to hold chunks. */
export interface Container {
  readonly littleEndian: boolean;
  /** Where the first chunk begins. */
  readonly first: number;
  /** Bytes of a chunk's id, and of its id and its size. */
  readonly id: number;
  readonly header: number;
  /** Chunks begin at multiples of that many bytes. */
  readonly alignment: number;
  /** Sizes are those of the samples in a chunk of their own where they do not fit. */
  readonly long: boolean;
}

const RIFF: Container = { littleEndian: true, first: 12, id: 4, header: 8, alignment: 2, long: false };
const W64: Container = { littleEndian: true, first: 40, id: 16, header: 24, alignment: 8, long: false };
const CONTAINERS: Readonly<Record<string, Container>> = {
  RIFF,
  RIFX: { ...RIFF, littleEndian: false },
  RF64: { ...RIFF, long: true },
  BW64: { ...RIFF, long: true },
};

/** What programs announce that do not know yet how much will come, and long files that say it elsewhere. */
const UNKNOWN_SIZE = 0xffffffff;

/** How ids of Wave64 end: the first four bytes are the letters that RIFF has, but for two of them. */
const W64_TAIL = 'f3acd3118cd100c04f8edb8a';
const W64_RIFF = '72696666 2e91cf11a5d628db04c10000'.replace(' ', '');
const W64_WAVE = `77617665${W64_TAIL}`;

/** How the file holds its chunks; undefined for what is no WAVE file. */
export function containerOf(source: ByteSource): Container | undefined {
  const start = source.read(0, 40);
  const name = text(start.subarray(0, 4));
  if (text(start.subarray(8, 12)) === 'WAVE' && Object.hasOwn(CONTAINERS, name)) return CONTAINERS[name];
  return hex(start.subarray(0, 16)) === W64_RIFF && hex(start.subarray(24, 40)) === W64_WAVE ? W64 : undefined;
}

/**
 * The chunks of some names, the first of each. Others are stepped over unread: damage in them does no harm.
 *
 * @param names of four letters
 */
export function findChunks<Name extends string>(
  source: ByteSource,
  container: Container,
  names: readonly Name[],
): Map<Name, Chunk> {
  const { littleEndian, id, header, alignment, long } = container;
  const found = new Map<Name, Chunk>();
  let dataSize = UNKNOWN_SIZE;
  for (let at = container.first; at + header <= source.size && found.size < names.length; ) {
    // A copy: the next reading may take its place.
    const head = new Uint8Array(source.read(at, header));
    const view = viewOf(head);
    const name = nameOf(head.subarray(0, id));
    const start = at + header;
    // Wave64 counts the header, too.
    const announced =
      container === W64 ? Math.max(0, Number(view.getBigUint64(id, true)) - header) : view.getUint32(id, littleEndian);
    const rest = source.size - start;
    // The sizes of the whole file and of its samples, in 64 bits each.
    if (long && name === 'ds64' && rest >= 16) dataSize = Number(viewOf(source.read(start, 16)).getBigUint64(8, true));
    let size = announced;
    if (container !== W64 && name === 'data' && announced === UNKNOWN_SIZE) size = long ? dataSize : rest;
    const wanted = names.find((one) => one === name);
    if (wanted !== undefined && !found.has(wanted)) found.set(wanted, { start, size, present: Math.min(size, rest) });
    at = Math.ceil((start + size) / alignment) * alignment;
  }
  return found;
}

/** The bytes of a file or chunk as numbers. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The letters of an id. */
function nameOf(id: Uint8Array): string {
  return id.length === 4 || hex(id.subarray(4)) === W64_TAIL ? text(id.subarray(0, 4)) : '';
}

function text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
