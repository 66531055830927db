/** Input files named on the command line, read piece by piece, so that their size does not matter. */

import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { freemem } from 'node:os';
import { allocated } from '../numpy/arrays/array.ts';
import { type ByteSource, pieceSource } from '../numpy/files/source.ts';
import { FftError } from '../problem/index.ts';
import { fileError } from './files.ts';

/** The least number of bytes that are read from a file at a time; smaller reads are served from them. */
const READ_AHEAD = 2 ** 16;

/** The name of an input in messages: `-` on the command line is the standard input. */
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
  // Some system files report a size of zero although they have contents.
  if (stats.isFile() && stats.size > 0) return fileSource(handle.fd, stats.size);
  return collectStream(handle.createReadStream({ autoClose: false }));
}

/** A source that reads an open file. @param read replaces `readSync` in tests */
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
          // The file was truncated meanwhile.
          if (count === 0) break;
          end += count;
        }
      }
      return buffer.subarray(at - start, Math.min(at - start + wanted, end - start));
    },
  };
}

/** A stream is collected in memory, because it cannot be read twice. */
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
