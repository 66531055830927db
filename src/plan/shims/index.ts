/** `plan/shims`: which steps have become part of a launch; a file for each. */
import type { LeafNode } from '../node.ts';
import { axes } from './axes.ts';
import { convolution } from './convolution.ts';
import { halving } from './halving.ts';
import { packing } from './packing.ts';
import { reordering } from './reordering.ts';
import type { Shim } from './shim.ts';
import { twiddles } from './twiddles.ts';

const shims: readonly Shim[] = [convolution, axes, packing, halving, twiddles, reordering];

/** What a leaf does beside the passes of one axis. */
export function shimsOf(leaf: LeafNode): readonly Shim[] {
  return shims.filter((shim) => shim.saves(leaf) > 0);
}

/** Kernels that it would take beside the leaf's own. */
export function kernelsSaved(leaf: LeafNode): number {
  return shims.reduce((sum, shim) => sum + shim.saves(leaf), 0);
}
