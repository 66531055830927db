/** The room's entry: builds the kernel of a leaf. */
import type { Kernel } from '../ir/index.ts';
import type { DirectionScale, Leaf } from '../plan/tree/leaf.ts';
import { bandsKernel } from './bands.ts';
import { layerKernel } from './layer.ts';
import { leafKernel } from './leaf.ts';
import { mixKernel } from './mix-channels.ts';
import { kernelSteps } from './passes/steps.ts';

/**
 * Whether one kernel of this leaf should serve both directions. On vector units, the passes between the first and the last one are the
 * same in both directions.
 */
export function sharesPasses(leaf: Leaf): boolean {
  return leaf.lockstep === 'vector' && kernelSteps(leaf.steps).length > 2;
}

/** @param reverse the opposite direction, if the kernel is to serve both (`sharesPasses`) */
export function buildKernel(leaf: Leaf, reverse?: DirectionScale): Kernel {
  const [step] = leaf.steps;
  if (step?.do === 'mix') return mixKernel(leaf, step);
  if (step?.do === 'layer') return layerKernel(leaf, step);
  if (step?.do === 'bands') return bandsKernel(leaf, step);
  return leafKernel(leaf, reverse);
}
