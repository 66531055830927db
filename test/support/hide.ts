/**
 * `OMNIFFT_TEST_HIDE=all`: tests see a machine with nothing but Node and a shell. Programs are hidden by the PATH, and
 * devices by the packages that open them, in this process and in those that it starts. What else is found by its place in
 * the file system asks `hidden` (optional.ts).
 */
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What tests of the command line have a shell do. */
const KEPT = ['sh', 'cat', 'ln', 'rm'];

/**
 * Changes the environment for the processes to come, as it asks for.
 * @param root of the working tree
 * @throws RangeError where it asks for something else
 */
export function hideAsTold(root: string): void {
  const { OMNIFFT_TEST_HIDE: told, PATH = '', NODE_OPTIONS = '' } = process.env;
  if (!told) return;
  if (told !== 'all') throw new RangeError(`OMNIFFT_TEST_HIDE is "${told}"; it can be "all".`);
  const folder = join(root, 'out', 'bare');
  // Each project of a test run reads the configuration once more.
  if (PATH === folder) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(folder, 'node'));
  for (const name of KEPT) {
    const path = PATH.split(delimiter)
      .map((place) => join(place, name))
      .find((candidate) => existsSync(candidate));
    if (path) symlinkSync(path, join(folder, name));
  }
  process.env.PATH = folder;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS} --import=${new URL('hide-packages.mjs', import.meta.url)}`;
}
