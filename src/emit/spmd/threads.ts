/** A pass Kernel → Kernel: what is said of the lanes of vectors, said of threads, which no vector holds together. */
import type { Kernel, Phase } from '../../ir/index.ts';
import { itemwise } from '../lanes.ts';

/** The kernel for threads; the very same one where nothing in it is about vectors. */
export function forThreads(kernel: Kernel): Kernel {
  const phases = kernel.phases.map(ofThreads);
  return phases.every((phase, n) => phase === kernel.phases[n]) ? kernel : { ...kernel, phases };
}

/** Items that have to load together before any of them stores are on several threads: all of the phase load first. */
function ofThreads(phase: Phase): Phase {
  const single = itemwise(phase);
  const { inPlace = 1, ...others } = single;
  return inPlace > 1 ? { ...others, readsFirst: true } : single;
}
