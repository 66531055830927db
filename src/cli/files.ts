/**
 * Files named on the command line: what can go wrong with them, said in one line.
 */

import { writeSync } from 'node:fs';
import { access, chmod, constants, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FftError, type FftErrorCode } from '../problem/index.ts';
import { descriptorOf, followLinks, isStandardOutput } from './descriptors.ts';

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
  ERR_FS_FILE_TOO_LARGE: 'it is larger than 2 GiB',
};

/** What an input is called in messages: `-` on the command line is standard input. */
export function inputName(path: string): string {
  return path === '-' ? 'standard input' : path;
}

async function readInput(path: string): Promise<Uint8Array> {
  try {
    return path === '-' ? await buffer(process.stdin) : await readFile(path);
  } catch (error) {
    throw fileError('unreadable-input', `Cannot read ${inputName(path)}`, error);
  }
}

/**
 * Reads a file and makes something of what is in it.
 * @throws FftError `unreadable-input`, or what `decode` throws, with the name of the file.
 */
export async function readWith<T>(path: string, decode: (bytes: Uint8Array) => T): Promise<T> {
  const bytes = await readInput(path);
  try {
    return decode(bytes);
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    throw new FftError(error.code, `${inputName(path)}: ${error.message}`, { cause: error });
  }
}

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

/**
 * Writes a file whole or not at all: what was there stays until the new file is complete, so that an input that is the
 * output, too, outlives a full disk. What is no file of its own but open already is written on: `/dev/stdout`.
 *
 * @throws FftError `unwritable-output`.
 */
export async function writeOutput(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await replaceFile(path, bytes);
  } catch (error) {
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const descriptor = descriptorOf(path);
  // Others have written to an open file and will again, so it must stay the one that it is; a socket has no other way in.
  if (descriptor !== undefined && (existing?.isFile() || existing?.isSocket())) return writeOn(descriptor, bytes);
  // Pipes and devices are written as they are.
  if (existing && !existing.isFile()) return writeFile(path, bytes);
  // Where a link leads, so that it stays one.
  const target = existing ? await realpath(path) : followLinks(path);
  // Its real name, because `join` takes the folder before `..` away, which may be a link.
  const folder = await realpath(dirname(target));
  // So is a file in a folder that takes no other.
  if (existing && !(await isWritable(folder))) return writeFile(path, bytes);
  const partial = join(folder, `.omnifft-${process.pid}-${Date.now().toString(36)}`);
  try {
    await writeFile(partial, bytes, { flag: 'wx' });
    if (existing) await chmod(partial, existing.mode);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** At the position where an open file is. */
function writeOn(descriptor: number, bytes: Uint8Array): void {
  const most = 2 ** 24;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at, Math.min(most, bytes.length - at));
    } catch (error) {
      // A socket whose reader has not kept up: there is nothing else to do meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
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
export function report(output: string, text: string): void {
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
