/** Sources of bytes that are read piece by piece: an array, a list of pieces, or a file that is larger than any array. */

import { refuseDetached } from '../../problem/input/bytes.ts';
import { allocated } from '../arrays/array.ts';

export interface ByteSource {
  /** The number of bytes. */
  readonly size: number;
  /**
   * Reads. @returns `length` bytes from `at` on, or fewer at the end. They are valid until the next call, and must not be changed.
   * @throws FftError `out-of-memory`, or the error of the file.
   */
  read(at: number, length: number): Uint8Array;
}

/** The number of bytes that are decoded at a time: a multiple of every element's size. */
export const PIECE = 2 ** 22;

/** A source in memory. @param bytes an ordinary array, as `requireBytes` returns it */
export function memorySource(bytes: Uint8Array): ByteSource {
  const read = (at: number, length: number) => {
    // Checked on every read, because an archive is read over several turns of the event loop.
    refuseDetached(bytes, 'The file');
    return bytes.subarray(at, at + length);
  };
  return { size: bytes.length, read };
}

/** A part of a source as a source of its own. */
export function sourceSlice(source: ByteSource, start: number, size: number): ByteSource {
  const inside = Math.max(0, Math.min(size, source.size - start));
  return {
    size: inside,
    read: (at, length) => source.read(start + at, Math.max(0, Math.min(length, inside - at))),
  };
}

/** A source of several pieces, which together may be longer than the longest array. */
export function pieceSource(pieces: readonly Uint8Array[]): ByteSource {
  const starts: number[] = [];
  let size = 0;
  for (const { length } of pieces) {
    starts.push(size);
    size += length;
  }
  // Reads are mostly sequential, so the search begins at the piece of the last one.
  let current = 0;
  const find = (at: number) => {
    if ((starts[current] ?? 0) > at) current = 0;
    while (current + 1 < starts.length && starts[current + 1]! <= at) current++;
  };
  function read(at: number, length: number): Uint8Array {
    const end = Math.min(size, at + length);
    if (at >= end) return new Uint8Array(0);
    find(at);
    const start = starts[current]!;
    if (end <= start + pieces[current]!.length) return pieces[current]!.subarray(at - start, end - start);
    const whole = allocated(end - at, () => new Uint8Array(end - at));
    for (let done = at; done < end; ) {
      find(done);
      const part = pieces[current]!.subarray(done - starts[current]!, end - starts[current]!);
      whole.set(part, done - at);
      done += part.length;
    }
    return whole;
  }
  return { size, read };
}

/** All bytes of a source, piece by piece. */
export function* readPieces(source: ByteSource, most = PIECE): Generator<Uint8Array> {
  for (let at = 0; at < source.size; ) {
    const piece = source.read(at, Math.min(most, source.size - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}
