/**
 * Reads and writes zip archives. Contents are stored or deflated; sizes have 64 bits.
 * There is no package for it here: fflate takes an archive as one array only, checks no checksum and writes no sizes of 64 bits, in 6 kB of gzip
 * instead of the 3 kB of this module; zip.js does all of that, in 36 kB.
 * Source: PKWARE's APPNOTE.TXT, "ZIP File Format Specification", version 6.3.10. The platform deflates and inflates.
 */

import { excerpt, FftError } from '../../problem/errors.ts';
import { type ByteSource, pieceSource, readPieces, sourceSlice } from './source.ts';

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  /** The compression method: 0 stored, 8 deflated; others are refused. */
  readonly method: number;
  readonly encrypted: boolean;
  /** The CRC-32 of the contents. */
  readonly crc: number;
  /** Bytes in the archive, and bytes of the contents. */
  readonly packed: number;
  readonly size: number;
  /** The offset of its local header. */
  readonly at: number;
}

const STORED = 0;
const DEFLATED = 8;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
/** The value of a 32-bit field whose number is in an extra field with 64 bits. */
const ELSEWHERE = 0xffffffff;
/** The largest ratio of deflate's compression. */
const MOST_DEFLATION = 1032;

/** Whether a source starts like an archive. */
export function isZip(source: ByteSource): boolean {
  const [first, second] = source.read(0, 2);
  return first === 0x50 && second === 0x4b;
}

/**
 * The entries in the central directory.
 * @throws FftError `invalid-file`
 */
export function zipEntries(source: ByteSource): ZipEntry[] {
  const { start, size, count } = findDirectory(source);
  const entries: ZipEntry[] = [];
  let packed = 0;
  for (let at = start; entries.length < count; ) {
    const head = viewAt(source, at, 46, CENTRAL);
    const lengths = [head.getUint16(28, true), head.getUint16(30, true), head.getUint16(32, true)] as const;
    const [name, extra, comment] = lengths;
    const next = at + 46 + name + extra + comment;
    if (next > start + size) throw damaged('its directory is cut short');
    const entry = centralEntry(head, source.read(at + 46, name + extra), name);
    entries.push(entry);
    packed += entry.packed;
    at = next;
  }
  // Overlapping files ("zip bombs") would unpack to more than an archive of this size can hold.
  if (packed > source.size) throw damaged(`its files take ${packed} bytes, the archive has ${source.size}`);
  return entries;
}

/**
 * The contents of a file, unpacked, with their checksum verified.
 * @throws FftError (as a rejection) `invalid-file`, `out-of-memory`
 */
export async function zipContents(source: ByteSource, entry: ZipEntry): Promise<ByteSource> {
  const { name, method, encrypted, size, packed, at } = entry;
  const called = `${excerpt(name, 100)} in the archive`;
  if (encrypted) throw new FftError('invalid-file', `${called} is encrypted; unpack it and give the file itself.`);
  if (method !== STORED && method !== DEFLATED) {
    throw new FftError(
      'invalid-file',
      `${called} is compressed by method ${method}; only deflate is read: save it with numpy.savez.`,
    );
  }
  const head = viewAt(source, at, 30, LOCAL);
  const start = at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  if (start + packed > source.size) throw damaged(`${called} is cut short`);
  const possible = method === STORED ? size === packed : size <= MOST_DEFLATION * packed;
  if (!possible) throw damaged(`${called} cannot have ${size} bytes where it takes ${packed}`);
  const bytes = sourceSlice(source, start, packed);
  const contents = method === STORED ? bytes : await inflate(bytes, size, called);
  let crc = 0;
  for (const piece of readPieces(contents)) crc = crc32(piece, crc);
  if (contents.size !== size || crc !== entry.crc) throw damaged(`the checksum of ${called} is wrong`);
  return contents;
}

/** A file to put into an archive; its pieces are iterated twice. */
export interface ZipInput {
  readonly name: string;
  readonly size: number;
  readonly pieces: Iterable<Uint8Array>;
}

/**
 * An archive, piece by piece, as `numpy.savez` or `numpy.savez_compressed` would write it, with sizes of 64 bits.
 * @param deflated whether to compress the files
 */
export async function* zipPieces(inputs: Iterable<ZipInput>, deflated: boolean): AsyncGenerator<Uint8Array> {
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const { name, size, pieces } of inputs) {
    let crc = 0;
    for (const piece of pieces) crc = crc32(piece, crc);
    const packedPieces = deflated ? await piped(new CompressionStream('deflate-raw'), pieces) : pieces;
    const packed = deflated ? pieceSource(packedPieces as Uint8Array[]).size : size;
    const method = deflated ? DEFLATED : STORED;
    const entry = { name, method, encrypted: false, crc, packed, size, at };
    const local = localHeader(entry);
    yield local;
    yield* packedPieces;
    directory.push(centralHeader(entry));
    at += local.length + packed;
  }
  yield* directory;
  yield endOf(directory, at);
}

function findDirectory(source: ByteSource): { start: number; size: number; count: number } {
  // A comment of up to 65535 bytes may follow the end record.
  const from = Math.max(0, source.size - 22 - 65535);
  const tail = new Uint8Array(source.read(from, source.size - from));
  const view = new DataView(tail.buffer);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END || at + 22 + view.getUint16(at + 20, true) > tail.length) continue;
    const place = from + at;
    const found =
      at >= 20 && view.getUint32(at - 20, true) === LOCATOR_64
        ? directory64(source, Number(view.getBigUint64(at - 12, true)))
        : {
            start: view.getUint32(at + 16, true),
            size: view.getUint32(at + 12, true),
            count: view.getUint16(at + 10, true),
          };
    if (found.start + found.size > place) throw damaged('its directory is not where its end says');
    return found;
  }
  throw damaged('it has no directory at its end, so that it may be cut short');
}

function directory64(source: ByteSource, at: number): { start: number; size: number; count: number } {
  const view = viewAt(source, at, 56, END_64);
  const [start, size, count] = [48, 40, 32].map((place) => Number(view.getBigUint64(place, true)));
  return { start: start!, size: size!, count: count! };
}

/** An entry of the central directory. @param rest its name and extra fields */
function centralEntry(head: DataView, rest: Uint8Array, nameLength: number): ZipEntry {
  const name = new TextDecoder().decode(rest.subarray(0, nameLength));
  const long = longFields(rest.subarray(nameLength));
  // Numbers that do not fit 32 bits follow in the extra field, in this order.
  const field = (place: number) => {
    const short = head.getUint32(place, true);
    return short === ELSEWHERE ? (long.shift() ?? short) : short;
  };
  const size = field(24);
  const packed = field(20);
  const at = field(42);
  const encrypted = head.getUint16(8, true) % 2 === 1;
  return { name, method: head.getUint16(10, true), encrypted, crc: head.getUint32(16, true), packed, size, at };
}

/** The 64-bit numbers in the extra fields. */
function longFields(extra: Uint8Array): number[] {
  const view = new DataView(extra.buffer, extra.byteOffset, extra.byteLength);
  for (let at = 0; at + 4 <= extra.length; ) {
    const size = view.getUint16(at + 2, true);
    const count = Math.floor(Math.min(size, extra.length - at - 4) / 8);
    if (view.getUint16(at, true) === 1) {
      return Array.from({ length: count }, (_, k) => Number(view.getBigUint64(at + 4 + 8 * k, true)));
    }
    at += 4 + size;
  }
  return [];
}

/** A view of bytes with a signature. @throws FftError `invalid-file` if there are fewer bytes, or the signature differs. */
function viewAt(source: ByteSource, at: number, length: number, signature: number): DataView {
  const bytes = Number.isSafeInteger(at) ? new Uint8Array(source.read(at, length)) : new Uint8Array(0);
  const view = new DataView(bytes.buffer);
  if (bytes.length === length && view.getUint32(0, true) === signature) return view;
  throw damaged(`what its directory names is not at byte ${at}`);
}

async function inflate(bytes: ByteSource, size: number, called: string): Promise<ByteSource> {
  try {
    return pieceSource(await piped(new DecompressionStream('deflate-raw'), readPieces(bytes), size));
  } catch (cause) {
    if (cause instanceof FftError) throw cause;
    throw new FftError('invalid-file', `The archive is damaged: ${called} cannot be unpacked.`, { cause });
  }
}

/** Pipes pieces through a stream. @param most the most bytes that may come out. */
async function piped(
  stream: CompressionStream | DecompressionStream,
  pieces: Iterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array[]> {
  const writer = stream.writable.getWriter();
  const feed = async () => {
    // Copied, because a piece is valid until the next one only.
    for (const piece of pieces) await writer.write(new Uint8Array(piece));
    await writer.close();
  };
  // An error of the pieces becomes an error of the reader.
  const fed = feed().catch((cause: unknown) => writer.abort(cause));
  fed.catch(() => {});
  const reader = stream.readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const results: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > most) {
      await reader.cancel();
      throw damaged(`there are more than the ${most} bytes that it announces`);
    }
    results.push(next.value);
  }
  await fed;
  return results;
}

const VERSION = 45;
/** The earliest date of the format, used for all files so that archives of equal arrays are equal. */
const FIRST_DAY = (1 << 5) | 1;
/** The flag for names in UTF-8. */
const FLAGS = 0x800;

/** Writes the fields that local and central headers share, from the version on. */
function writeCommon(view: DataView, at: number, { method, crc }: ZipEntry, name: Uint8Array, extra: number): void {
  for (const [place, value] of [VERSION, FLAGS, method, 0, FIRST_DAY].entries()) {
    view.setUint16(at + 2 * place, value, true);
  }
  view.setUint32(at + 10, crc, true);
  view.setUint32(at + 14, ELSEWHERE, true);
  view.setUint32(at + 18, ELSEWHERE, true);
  view.setUint16(at + 22, name.length, true);
  view.setUint16(at + 24, extra, true);
}

/** Writes an extra field of 64-bit numbers. */
function writeLong(view: DataView, at: number, values: readonly number[]): void {
  view.setUint16(at, 1, true);
  view.setUint16(at + 2, 8 * values.length, true);
  values.forEach((value, k) => view.setBigUint64(at + 4 + 8 * k, BigInt(value), true));
}

function localHeader(entry: ZipEntry): Uint8Array {
  const name = new TextEncoder().encode(entry.name);
  const bytes = new Uint8Array(30 + name.length + 20);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, LOCAL, true);
  writeCommon(view, 4, entry, name, 20);
  bytes.set(name, 30);
  writeLong(view, 30 + name.length, [entry.size, entry.packed]);
  return bytes;
}

function centralHeader(entry: ZipEntry): Uint8Array {
  const name = new TextEncoder().encode(entry.name);
  const bytes = new Uint8Array(46 + name.length + 28);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, CENTRAL, true);
  view.setUint16(4, VERSION, true);
  writeCommon(view, 6, entry, name, 28);
  view.setUint32(42, ELSEWHERE, true);
  bytes.set(name, 46);
  writeLong(view, 46 + name.length, [entry.size, entry.packed, entry.at]);
  return bytes;
}

/** The end records of the directory: the zip64 one, its locator, and the 32-bit one for readers without zip64. */
function endOf(directory: readonly Uint8Array[], start: number): Uint8Array {
  const count = directory.length;
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const view = new DataView(new ArrayBuffer(56 + 20 + 22));
  view.setUint32(0, END_64, true);
  view.setBigUint64(4, 44n, true);
  view.setUint16(12, VERSION, true);
  view.setUint16(14, VERSION, true);
  [count, count, size, start].forEach((value, k) => view.setBigUint64(24 + 8 * k, BigInt(value), true));
  view.setUint32(56, LOCATOR_64, true);
  view.setBigUint64(64, BigInt(start + size), true);
  view.setUint32(72, 1, true);
  view.setUint32(76, END, true);
  view.setUint16(84, Math.min(count, 0xffff), true);
  view.setUint16(86, Math.min(count, 0xffff), true);
  view.setUint32(88, Math.min(size, ELSEWHERE), true);
  view.setUint32(92, Math.min(start, ELSEWHERE), true);
  return new Uint8Array(view.buffer);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The CRC-32 of bytes. @param before the CRC-32 of the bytes before these */
function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (let k = 0; k < bytes.length; k++) crc = TABLE[(crc ^ bytes[k]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function damaged(reason: string): FftError {
  return new FftError('invalid-file', `The archive is damaged: ${reason}.`);
}
