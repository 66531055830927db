/** What numbers of a problem are in memory, in the words of kernels and host arrays. */
import type { StorageType } from '../ir/index.ts';
import type { Storage } from '../problem/problem.ts';

/** @param storage one that kernels know: no double-double */
export function typeOfStorage(storage: Storage): StorageType {
  return storage === 'half' ? 'f16' : storage === 'single' ? 'f32' : 'f64';
}
