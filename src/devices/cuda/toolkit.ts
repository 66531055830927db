/** Finds the libraries of the CUDA toolkit outside the loader's search path, too. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environmentVariable } from '../permissions.ts';

export const windows = process.platform === 'win32';

const folders = windows
  ? ['bin/x64', 'bin']
  : ['lib64', 'lib', 'targets/x86_64-linux/lib', 'targets/sbsa-linux/lib', ''];

/**
 * Names to load a library by, in order of preference: paths in the toolkits of this machine, then plain names for the loader.
 * @param part the toolkit's component that contains the library; Python packages have a folder for each.
 */
export function toolkitNames(files: readonly string[], part?: string): string[] {
  const roots = toolkits().flatMap((root) => (part === undefined ? [root] : [root, join(dirname(root), part)]));
  return candidatePaths(
    roots.flatMap((root) => folders.map((folder) => join(root, folder))),
    files,
  );
}

/** The paths of files in some folders, followed by the plain file names. */
export function candidatePaths(places: readonly string[], files: readonly string[]): string[] {
  const paths = places.flatMap((place) => files.map((file) => join(place, file)));
  return [...paths.filter((path) => existsSync(path)), ...files];
}

/** The values of environment variables that are set and not empty. */
export function namedPaths(values: readonly (string | undefined)[]): string[] {
  return values.filter((value): value is string => value !== undefined && value !== '');
}

function toolkits(): string[] {
  const prefix = '/usr/local';
  const versions =
    windows || !existsSync(prefix)
      ? []
      : readdirSync(prefix)
          .filter((name) => /^cuda(-[\d.]+)?$/.test(name))
          .map((name) => join(prefix, name));
  return namedPaths([...['CUDA_PATH', 'CUDA_HOME'].map(environmentVariable), ...versions]);
}
