/**
 * The chunks of a WAVE file: an id, a size, that number of bytes, and padding.
 *
 * Files are walked here and not by a package: the package used before, `wavefile`, read every kind of chunk, looped for ever over damaged `cue ` and
 * `smpl` chunks and took padding for sound.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991) for RIFF and RIFX; EBU Tech 3306, "RF64: An
 * extended file format for audio", and ITU-R BS.2088, which calls the same format BW64, for files of more than 4 GiB; "Sony Wave64 (W64) file format"
 * (Sony Pictures Digital, 2003) for another such format.
 */

import type { ByteSource } from '../../numpy/files/source.ts';

/** A chunk as the file announces it. */
export interface Chunk {
  /** Offset of the chunk's first byte. */
  readonly start: number;
  /** Number of bytes that the chunk announces; up to the end of the file where the size is unknown. */
  readonly size: number;
  /** Number of bytes present: fewer than announced where the file ends too early. */
  readonly present: number;
  /** Whether the writer did not know the size when it wrote the header, and never corrected it. */
  readonly unknown: boolean;
  /** Whether the chunk does not stand where the chunk before it ends, and had to be searched for. */
  readonly displaced: boolean;
}

/** A file format for chunks. */
export interface Container {
  readonly littleEndian: boolean;
  /** Offset of the first chunk. */
  readonly first: number;
  /** Bytes of a chunk's id, of its size, and of both together. */
  readonly id: number;
  readonly bytes: number;
  readonly header: number;
  /** Alignment of chunks, in bytes. */
  readonly alignment: number;
  /** Whether sizes that do not fit their fields stand in a chunk of their own. */
  readonly long: boolean;
}

const RIFF: Container = { littleEndian: true, first: 12, id: 4, bytes: 4, header: 8, alignment: 2, long: false };
const W64: Container = { littleEndian: true, first: 40, id: 16, bytes: 8, header: 24, alignment: 8, long: false };
const CONTAINERS: Readonly<Record<string, Container>> = {
  RIFF,
  RIFX: { ...RIFF, littleEndian: false },
  RF64: { ...RIFF, long: true },
  BW64: { ...RIFF, long: true },
};

/** The last bytes of Wave64's ids, which are GUIDs: the first four bytes are RIFF's letters, and all ids but two end like this. */
const W64_TAIL = 'f3acd3118cd100c04f8edb8a';
const W64_RIFF = '72696666 2e91cf11a5d628db04c10000'.replace(' ', '');
const W64_WAVE = `77617665${W64_TAIL}`;

/** The chunk format of a file; undefined for a file that is not a WAVE file. */
export function containerOf(source: ByteSource): Container | undefined {
  const start = source.read(0, 40);
  const name = asciiText(start.subarray(0, 4));
  if (asciiText(start.subarray(8, 12)) === 'WAVE' && Object.hasOwn(CONTAINERS, name)) return CONTAINERS[name];
  return hex(start.subarray(0, 16)) === W64_RIFF && hex(start.subarray(24, 40)) === W64_WAVE ? W64 : undefined;
}

/**
 * The first chunk of each wanted name. Other chunks are skipped unread, so that damage in them does no harm.
 *
 * Where no chunk begins at the end of the one before it (it was written without its padding, or with a wrong size), the missing chunks are searched
 * for byte by byte. (SoX and ffmpeg refuse such files.)
 *
 * @param names names of four letters
 */
export function findChunks<Name extends string>(
  source: ByteSource,
  container: Container,
  names: readonly Name[],
): Map<Name, Chunk> {
  const found = new Map<Name, Chunk>();
  let longSize = 0;
  let before: Pick<Header, 'start' | 'size'> = { start: container.first, size: 0 };
  while (found.size < names.length) {
    const missing = names.filter((name) => !found.has(name));
    const inPlace = nextHeader(source, container, before.start + before.size, missing);
    const header = inPlace ?? searchedHeader(source, container, before, missing);
    if (header === undefined) break;
    const { name, start } = header;
    const rest = source.size - start;
    // The 64-bit sizes of the whole file and of its samples.
    if (container.long && name === 'ds64' && rest >= 16) {
      longSize = Number(dataView(source.read(start, 16)).getBigUint64(8, true));
    }
    const samples = name === 'data';
    const announced = samples && container.long && isPlaceholder(header.size) ? longSize : header.size;
    // A size that fits into the file is taken as it is, even if it looks like a placeholder, and so is a size of 0 that other chunks follow.
    const fits = announced === 0 ? hasOnlyChunks(source, container, start) : announced <= rest;
    const unknown = samples && !fits && isPlaceholder(announced);
    const size = unknown ? rest : announced;
    const wanted = missing.find((one) => one === name);
    if (wanted !== undefined) {
      const displaced = inPlace === undefined;
      found.set(wanted, { start, size, present: Math.min(size, rest), unknown, displaced });
    }
    before = { start, size };
  }
  return found;
}

/** The id and the size of a chunk. */
interface Header {
  /** The chunk's four letters; empty for an id without letters. */
  readonly name: string;
  /** Offset of the chunk's first byte. */
  readonly start: number;
  /** Number of bytes that the chunk announces. */
  readonly size: number;
}

/** The header at an offset; undefined where the file ends before the header does. */
function headerAt(source: ByteSource, { littleEndian, id, header, bytes }: Container, at: number): Header | undefined {
  if (at + header > source.size) return undefined;
  const head = source.read(at, header);
  const name = chunkName(head.subarray(0, id));
  const size = dataView(head);
  // A size in Wave64 includes the header.
  const announced = bytes === 8 ? Number(size.getBigUint64(id, true)) - header : size.getUint32(id, littleEndian);
  return { name, start: at + header, size: Math.max(0, announced) };
}

/**
 * The header of the next chunk, with or without padding before it.
 * @param end end of the chunk before it, without its padding
 */
function nextHeader(
  source: ByteSource,
  container: Container,
  end: number,
  names: readonly string[],
): Header | undefined {
  const padded = alignedPosition(container, end);
  // Bytes at the wrong alignment may look like a chunk by chance, but not like one with a wanted name.
  const tight = padded === end ? undefined : headerAt(source, container, end);
  if (tight && names.includes(tight.name)) return tight;
  return [headerAt(source, container, padded), tight].find(
    (header) => header && (names.includes(header.name) || isCompleteChunk(source, header)),
  );
}

/** Whether a header has the name of a chunk and the chunk ends within the file. */
function isCompleteChunk(source: ByteSource, { name, start, size }: Header): boolean {
  return /^[\x20-\x7e]{4}$/.test(name) && start + size <= source.size;
}

/** Number of bytes that are searched at a time. */
const SEARCHED = 2 ** 16;

/** The first wanted chunk behind the start of another chunk, at any offset; undefined where there is none, or where the file ends properly. */
function searchedHeader(
  source: ByteSource,
  container: Container,
  before: Pick<Header, 'start' | 'size'>,
  names: readonly string[],
): Header | undefined {
  const end = before.start + before.size;
  if (end === source.size || alignedPosition(container, end) === source.size) return undefined;
  for (let from = before.start; from + container.header <= source.size; from += SEARCHED) {
    // The bytes are copied, because headers are read meanwhile; a few more bytes hold an id that begins at the end.
    const piece = new Uint8Array(source.read(from, SEARCHED + 3));
    const letters = new TextDecoder('latin1').decode(piece);
    const places = names.flatMap((name) => positionsOf(letters, name)).sort((a, b) => a - b);
    for (const place of places) {
      const header = headerAt(source, container, from + place);
      // Texts in other chunks may contain these letters, but not followed by a plausible size.
      if (header && names.includes(header.name) && (isCompleteChunk(source, header) || isPlaceholder(header.size)))
        return header;
    }
  }
  return undefined;
}

function positionsOf(text: string, word: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at >= 0 && at < SEARCHED; at = text.indexOf(word, at + 1)) places.push(at);
  return places;
}

/** The largest distance of a placeholder size from a round number: a header, or the rest of a frame, may have been subtracted. */
const MARGIN = 2 ** 17;

/**
 * Whether a size is a placeholder by a program that did not know the final size: 0, the largest number that the field holds, or a little less:
 * 0x7ffff000 (sox), 0xffffffff (ffmpeg), 0x7fffffff, 0x80000000, 0xffff1000; in 64 bits 2^63 - 1 (ffmpeg) and 2^64 - 1.
 */
function isPlaceholder(size: number): boolean {
  const below = (most: number) => size > most - MARGIN && size <= most;
  return size === 0 || below(2 ** 31) || below(2 ** 32) || size > 2 ** 62;
}

/** Whether the rest of the file consists of whole chunks, or is empty. */
function hasOnlyChunks(source: ByteSource, container: Container, from: number): boolean {
  for (let at = from; at < source.size; ) {
    const header = headerAt(source, container, at);
    if (!header || !isCompleteChunk(source, header)) return false;
    at = alignedPosition(container, header.start + header.size);
  }
  return true;
}

function alignedPosition({ alignment }: Container, at: number): number {
  return Math.ceil(at / alignment) * alignment;
}

/** The bytes of a file or chunk as a DataView. */
export function dataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The letters of an id. */
function chunkName(id: Uint8Array): string {
  return id.length === 4 || hex(id.subarray(4)) === W64_TAIL ? asciiText(id.subarray(0, 4)) : '';
}

function asciiText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
