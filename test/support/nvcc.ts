/** NVIDIA's compiler for tests: it needs no GPU. */
import { join } from 'node:path';
import { findProgram, missing } from './optional.ts';

/** Its path; undefined where there is none, and the tests with it are to be skipped. */
export function findNvcc(): string | undefined {
  const roots = [process.env.CUDA_PATH, process.env.CUDA_HOME, '/usr/local/cuda'];
  const path = findProgram(
    ['nvcc'],
    roots.flatMap((root) => (root ? [join(root, 'bin')] : [])),
  );
  missing('nvcc', path ? undefined : 'there is no nvcc');
  return path;
}
