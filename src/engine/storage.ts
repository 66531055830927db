/** What numbers of a problem are in memory, in the words of kernels and host arrays. */
import type { StorageType } from '../ir/index.ts';
import type { Storage } from '../problem/problem.ts';

export function typeOfStorage(storage: Storage): StorageType {
  return ({ half: 'f16', single: 'f32', double: 'f64', 'double-double': 'dd' } as const)[storage];
}

/** What arrays of them hold: a double-double is two doubles. */
export function typeOfArrays(storage: Storage): Exclude<StorageType, 'dd'> {
  const type = typeOfStorage(storage);
  return type === 'dd' ? 'f64' : type;
}
