/**
 * Calls into compiled kernels with bound arguments. A short transform takes 40 ns, so a launch is a direct call: no
 * argument list is built, nothing is allocated, and each count of pointers has a function of its own.
 */
import { FftError } from '../../problem/errors.ts';
import type { Run } from './kernel.ts';

/** Where the calling thread's scratch lies now: it moves when a kernel needs more. */
export interface ScratchPlace {
  address: number;
}

/** What a launch threw, as an error of ours. */
export function launchFailure(cause: unknown): FftError {
  if (cause instanceof FftError) return cause;
  return new FftError('launch-failed', `A kernel failed on the CPU device: ${cause}.`, { cause });
}

/** A call that runs all groups of one kernel. */
export function launcher(run: Run, groups: number, scratch: ScratchPlace, pointers: readonly number[]): () => void {
  const [a, b, c, d, e, f, g] = pointers as [number, number, number, number, number, number, number];
  switch (pointers.length) {
    case 1:
      return () => run(0, groups, scratch.address, a);
    case 2:
      return () => run(0, groups, scratch.address, a, b);
    case 3:
      return () => run(0, groups, scratch.address, a, b, c);
    case 4:
      return () => run(0, groups, scratch.address, a, b, c, d);
    case 5:
      return () => run(0, groups, scratch.address, a, b, c, d, e);
    case 6:
      return () => run(0, groups, scratch.address, a, b, c, d, e, f);
    case 7:
      return () => run(0, groups, scratch.address, a, b, c, d, e, f, g);
    default:
      return () => run(0, groups, scratch.address, ...pointers);
  }
}

/** One call for several, in order. */
export function sequence(launches: readonly (() => void)[]): () => void {
  const [first, second, third] = launches as [() => void, () => void, () => void];
  switch (launches.length) {
    case 1:
      return first;
    case 2:
      return () => {
        first();
        second();
      };
    case 3:
      return () => {
        first();
        second();
        third();
      };
    default:
      return () => {
        for (let i = 0; i < launches.length; i++) launches[i]!();
      };
  }
}
