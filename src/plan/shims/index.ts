/** `plan/shims`: which neighbouring nodes may be one launch, and where that may write; a file for each. */
import type { LeafNode } from '../node.ts';
import { axes } from './axes.ts';
import { convolution } from './convolution.ts';
import { halving } from './halving.ts';
import { packing } from './packing.ts';
import { reordering } from './reordering.ts';
import { anywhere, type LaunchMemory, type Shim } from './shim.ts';
import { twiddles } from './twiddles.ts';

const shims: readonly Shim[] = [convolution, axes, packing, halving, twiddles, reordering];

/** What a leaf does beside the passes of one axis. */
export function shimsOf(leaf: LeafNode): readonly Shim[] {
  return shims.filter((shim) => shim.joins(leaf).length > 0);
}

/** Whether a leaf, with all that has joined it, may read and write there. */
export function mayWrite(leaf: LeafNode, placement: LaunchMemory): boolean {
  return anywhere(placement) && shimsOf(leaf).every((shim) => shim.fits(placement));
}

/** Launches that it would take beside the leaf's own. */
export function launchesSaved(leaf: LeafNode): number {
  return shimsOf(leaf).reduce((sum, shim) => sum + shim.joins(leaf).length - 1, 0);
}
