/** Where the libraries of the CUDA toolkit are: it need not be where the loader looks. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const windows = process.platform === 'win32';

const folders = windows
  ? ['bin/x64', 'bin']
  : ['lib64', 'lib', 'targets/x86_64-linux/lib', 'targets/sbsa-linux/lib', ''];

/**
 * Names to load a library by, best first: its files in the toolkits of this machine, then wherever the loader looks.
 * @param part of the toolkit that it comes with, where that is a folder of its own beside others (Python packages).
 */
export function toolkitNames(files: readonly string[], part?: string): string[] {
  const found = toolkits().flatMap((root) => {
    const roots = part === undefined ? [root] : [root, join(dirname(root), part)];
    return roots.flatMap((place) => folders.flatMap((folder) => files.map((file) => join(place, folder, file))));
  });
  return [...found.filter((path) => existsSync(path)), ...files];
}

function toolkits(): string[] {
  const { CUDA_PATH, CUDA_HOME } = process.env;
  const prefix = '/usr/local';
  const versions =
    windows || !existsSync(prefix)
      ? []
      : readdirSync(prefix)
          .filter((name) => /^cuda(-[\d.]+)?$/.test(name))
          .map((name) => join(prefix, name));
  return [CUDA_PATH, CUDA_HOME, ...versions].filter((root): root is string => root !== undefined && root !== '');
}
