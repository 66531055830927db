/** Files named on the command line that are read: piece by piece, however large. */

import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { freemem } from 'node:os';
import { allocated } from '../numpy/arrays/array.ts';
import { type ByteSource, pieceSource } from '../numpy/files/source.ts';
import { FftError } from '../problem/index.ts';
import { fileError } from './files.ts';

/** Small readings are answered from as many bytes as one reading of the file gives. */
const READ_AHEAD = 2 ** 16;

/** What an input is called in messages: `-` on the command line is standard input. */
export function inputName(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/**
 * Reads a file, or standard input for `-`, and decodes its contents.
 * @throws FftError `unreadable-input`, `out-of-memory`, or what `decode` throws, with the name of the file.
 */
export async function readWith<T>(path: string, decode: (source: ByteSource) => T | Promise<T>): Promise<T> {
  let handle: FileHandle | undefined;
  try {
    if (path !== '-') handle = await open(path);
    return await decode(handle ? await sourceOf(handle) : await collectStream(process.stdin));
  } catch (error) {
    if (!(error instanceof FftError)) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw fileError('unreadable-input', `Cannot read ${inputName(path)}`, error);
    }
    throw new FftError(error.code, `${inputName(path)}: ${error.message}`, { cause: error });
  } finally {
    await handle?.close();
  }
}

async function sourceOf(handle: FileHandle): Promise<ByteSource> {
  const stats = await handle.stat();
  if (stats.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  // Some files of the system say that they are empty and are not.
  if (stats.isFile() && stats.size > 0) return fileSource(handle.fd, stats.size);
  return collectStream(handle.createReadStream({ autoClose: false }));
}

/** @param read as `readSync` */
export function fileSource(descriptor: number, size: number, read: typeof readSync = readSync): ByteSource {
  let buffer = new Uint8Array(READ_AHEAD);
  let start = 0;
  let end = 0;
  return {
    size,
    read(at, length) {
      const wanted = Math.max(0, Math.min(length, size - at));
      if (at < start || at + wanted > end) {
        const most = Math.min(Math.max(wanted, READ_AHEAD), size - at);
        if (buffer.length < most) buffer = allocated(most, () => new Uint8Array(most));
        start = at;
        end = at;
        while (end - at < most) {
          const count = read(descriptor, buffer, end - at, most - (end - at), end);
          // The file has become shorter.
          if (count === 0) break;
          end += count;
        }
      }
      return buffer.subarray(at - start, Math.min(at - start + wanted, end - start));
    },
  };
}

/** What comes in its own time is kept: it cannot be read again. */
async function collectStream(stream: AsyncIterable<Uint8Array>): Promise<ByteSource> {
  const most = freemem();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > most) {
      const message = `there are more than ${most} bytes, which is all the memory that is free; a file need not fit into it.`;
      throw new FftError('out-of-memory', message);
    }
    pieces.push(piece);
  }
  return pieceSource(pieces);
}
