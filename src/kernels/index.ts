/** The room's door: one plan leaf in, one kernel out. */
import type { Kernel } from '../ir/index.ts';
import type { DirectionScale, Leaf } from '../plan/tree/leaf.ts';
import { leafKernel } from './leaf.ts';
import { kernelSteps } from './steps.ts';

/**
 * Whether a kernel of this leaf had best run both ways: where the lanes are those of vectors, passes between its first and
 * last one are the same for both.
 */
export function sharesPasses(leaf: Leaf): boolean {
  return leaf.lockstep === 'vector' && kernelSteps(leaf.steps).length > 2;
}

/** @param reverse the other way for the same kernel to run, where `sharesPasses` says that it may. */
export function buildKernel(leaf: Leaf, reverse?: DirectionScale): Kernel {
  return leafKernel(leaf, reverse);
}
