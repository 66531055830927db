/** Output files named on the command line, and messages in one line about errors of any file. */

import { rmSync, writeSync } from 'node:fs';
import { access, chmod, constants, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FftError, type FftErrorCode } from '../problem/index.ts';
import { descriptorOf, followLinks, isStandardOutput } from './descriptors.ts';
import { beforeInterrupt } from './interrupts.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission was denied',
  EPERM: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};

/**
 * Checks whether an output can be written, before minutes of work are spent on it. Creates nothing.
 * @throws FftError `unwritable-output`.
 */
export async function checkOutput(path: string): Promise<void> {
  try {
    const existing = await stat(path).catch(() => undefined);
    if (existing?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    // An open descriptor stays writable, whatever happens to the name and permissions of its file.
    if (descriptorOf(path) !== undefined) return;
    await access(existing === undefined ? dirname(followLinks(path)) : path, constants.W_OK);
  } catch (error) {
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

/** The contents of a file as a whole, or in pieces. */
export type Contents = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Writes a file as a whole or not at all: an existing file stays until the new one is complete, so that a full disk does not destroy an input that is
 * also the output. Open descriptors such as `/dev/stdout` are written to directly.
 * @throws FftError `unwritable-output`.
 */
export async function writeOutput(path: string, contents: Contents): Promise<void> {
  try {
    await replaceFile(path, contents);
  } catch (error) {
    if (error instanceof FftError) throw error;
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

async function replaceFile(path: string, contents: Contents): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const descriptor = descriptorOf(path);
  // An open file is written to in place, because other processes write to it, too; a socket cannot be reopened by its name.
  if (descriptor !== undefined && (existing?.isFile() || existing?.isSocket())) return writeOn(descriptor, contents);
  // Pipes and devices cannot be replaced.
  if (existing && !existing.isFile()) return writeFile(path, contents);
  // The target of a link, so that the link itself stays.
  const target = existing ? await realpath(path) : followLinks(path);
  // The real path is needed, because `join` drops the folder before `..`, which may be a link.
  const folder = await realpath(dirname(target));
  // A file in a folder that takes no new file is overwritten in place.
  if (existing && !(await isWritable(folder))) return writeFile(path, contents);
  const partial = join(folder, `.omnifft-${process.pid}-${Date.now().toString(36)}`);
  const forget = beforeInterrupt(() => rmSync(partial, { force: true }));
  try {
    await writeFile(partial, contents, { flag: 'wx' });
    if (existing) await chmod(partial, existing.mode);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    forget();
  }
}

/** Writes to an open descriptor at its current position. */
async function writeOn(descriptor: number, contents: Contents): Promise<void> {
  for await (const piece of contents instanceof Uint8Array ? [contents] : contents) {
    for (let at = 0; at < piece.length; ) {
      try {
        at += writeSync(descriptor, piece, at, Math.min(2 ** 24, piece.length - at));
      } catch (error) {
        // The reader of a socket is slow. There is no other work to do, so the write is tried again at once.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
    }
  }
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reports success on stdout, or on stderr if stdout is the output itself. */
export function reportDone(output: string, text: string): void {
  (isStandardOutput(output) ? console.error : console.log)(text);
}

/** @throws FftError `unwritable-output`. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw fileError('unwritable-output', `Cannot make the folder ${path}`, error);
  }
}

/** The error about a file, in one line. */
export function fileError(code: FftErrorCode, what: string, cause: unknown): FftError {
  const { code: reason = '', message = '' } = cause as NodeJS.ErrnoException;
  return new FftError(code, `${what}: ${REASONS[reason] ?? (message || reason)}.`, { cause });
}
