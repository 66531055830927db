/**
 * Files named on the command line: what can go wrong with them, said in one line.
 */

import { access, constants, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FftError, type FftErrorCode } from '../problem/index.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission was denied',
  EPERM: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'its name is too long',
  ERR_FS_FILE_TOO_LARGE: 'it is larger than 2 GiB',
};

/** @throws FftError `unreadable-input`. */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError('unreadable-input', `Cannot read ${path}`, error);
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
    await access(existing === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

/** @throws FftError `unwritable-output`. */
export async function writeOutput(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes);
  } catch (error) {
    throw fileError('unwritable-output', `Cannot write ${path}`, error);
  }
}

/** @throws FftError `unwritable-output`. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw fileError('unwritable-output', `Cannot make the folder ${path}`, error);
  }
}

function fileError(code: FftErrorCode, what: string, cause: unknown): FftError {
  const { code: reason = '', message = '' } = cause as NodeJS.ErrnoException;
  return new FftError(code, `${what}: ${REASONS[reason] ?? (message || reason)}.`, { cause });
}
