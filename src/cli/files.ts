/**
 * Files named on the command line that are written, and what can go wrong with any, said in one line.
 */

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
 * Finds out early that an output cannot be written, before minutes of work are spent on it. It creates nothing.
 *
 * @throws FftError `unwritable-output`.
 */
export async function checkOutput(path: string): Promise<void> {
  try {
    const existing = await stat(path).catch(() => undefined);
    if (existing?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    // What was opened for writing may be written, whatever became of its name and rights.
    if (descriptorOf(path) !== undefined) return;
    await access(existing === undefined ? dirname(followLinks(path)) : path, constants.W_OK);
  } catch (error) {
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

/** The bytes of a file, or pieces of them. */
export type Contents = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Writes a file whole or not at all: what was there stays until the new file is complete, so that an input that is the
 * output, too, outlives a full disk. What is no file of its own but open already is written on: `/dev/stdout`.
 *
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
  // Others have written to an open file and will again, so it must stay the one that it is; a socket has no other way in.
  if (descriptor !== undefined && (existing?.isFile() || existing?.isSocket())) return writeOn(descriptor, contents);
  // Pipes and devices are written as they are.
  if (existing && !existing.isFile()) return writeFile(path, contents);
  // Where a link leads, so that it stays one.
  const target = existing ? await realpath(path) : followLinks(path);
  // Its real name, because `join` takes the folder before `..` away, which may be a link.
  const folder = await realpath(dirname(target));
  // So is a file in a folder that takes no other.
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

/** At the position where an open file is. */
async function writeOn(descriptor: number, contents: Contents): Promise<void> {
  for await (const piece of contents instanceof Uint8Array ? [contents] : contents) {
    for (let at = 0; at < piece.length; ) {
      try {
        at += writeSync(descriptor, piece, at, Math.min(2 ** 24, piece.length - at));
      } catch (error) {
        // A socket whose reader has not kept up: there is nothing else to do meanwhile.
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

/** Says what was done: beside the output, where that is the standard one. */
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

/** What went wrong with a file, in one line. */
export function fileError(code: FftErrorCode, what: string, cause: unknown): FftError {
  const { code: reason = '', message = '' } = cause as NodeJS.ErrnoException;
  return new FftError(code, `${what}: ${REASONS[reason] ?? (message || reason)}.`, { cause });
}
