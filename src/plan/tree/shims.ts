/**
 * Which neighbouring nodes may be one launch, and where that may write (rocFFT buffer assignment, "FuseShim"). Whoever makes a tree
 * weighs it with and without such a launch, by price; what a shim says is which nodes these are, and where such a launch may write.
 */
import { isOverNumbers } from '../../layout/index.ts';
import { keepsPlaces, type LeafNode, takesLines } from './node.ts';

/** Where a launch reads and where it writes. */
export interface LaunchMemory {
  /** It writes the memory that it reads. */
  readonly oneMemory: boolean;
  /** Every element lies at one address on both sides; or, where one side has reals, every line of reals in the memory of its bins. */
  readonly alike: boolean;
}

interface Shim {
  readonly name: string;
  /** What would be launches of their own, in their order, and is this leaf; nothing where it is not fused so. */
  joins(leaf: LeafNode): readonly string[];
  /** Whether they may be one launch that reads and writes there. */
  fits(placement: LaunchMemory): boolean;
}

/** Of what is read whole before it is written, line by line. */
function anywhere({ oneMemory, alike }: LaunchMemory): boolean {
  return !oneMemory || alike;
}

/** Of what is written where others have yet to read. */
function elsewhere({ oneMemory }: LaunchMemory): boolean {
  return !oneMemory;
}

const shims: readonly Shim[] = [
  {
    // A transform, a product and the way back between one load and one store: of an axis of large primes with what is done to its
    // points before and after, or of a convolution. `cheapestBluestein` and `splitConvolution` weigh it against several launches.
    name: 'convolution',
    joins: ({ convolved, product }) => {
      const round = ['transform', 'product', 'transform back'];
      if (convolved) return ['chirp and pad', ...round, 'chirp and crop'];
      return product ? round : [];
    },
    fits: anywhere,
  },
  {
    // Transforms along several axes, one after another, while their tile is in shared memory. `waysTogether` weighs it.
    name: 'axes',
    joins: ({ more = [] }) => (more.length > 0 ? ['axis', ...more.map(() => 'axis')] : []),
    fits: anywhere,
  },
  {
    // A transform of complex numbers and the step that makes of its bins those of the reals that were their parts, or that leaves out
    // half of them where the imaginary parts were zeros, or the way back; each line is read whole before it is written. `schemesOfReals`
    // weighs it.
    name: 'packing',
    joins: (leaf) => (takesLines(leaf) || leaf.real?.side === 'both' ? ['transform', 'pairs of bins'] : []),
    fits: anywhere,
  },
  {
    // One of several uploads of a real axis and what leads from reals, or to those bins that memory has: all points are there between
    // launches, part of them at the ends, which lie otherwise. `schemesOfReals` weighs it.
    name: 'halving',
    joins: (leaf) => {
      const { real, lines } = leaf;
      const reals = (real?.by === 'zeros' || real?.by === 'parts') && real.side !== 'both';
      const bins = [...lines.input, ...lines.output].some(({ line }) => isOverNumbers(line));
      return !takesLines(leaf) && !leaf.stays && (reals || bins) ? ['upload', 'half of the points'] : [];
    },
    fits: elsewhere,
  },
  {
    // An upload and the product with the twiddles between it and its neighbour, as it stores or loads: never dearer than two launches.
    name: 'twiddles',
    joins: ({ twiddle }) => (twiddle ? ['upload', 'twiddles'] : []),
    fits: anywhere,
  },
  {
    // An upload and the transposition after it, which is how it stores: its elements go where others have yet to read.
    // `reordersFirst` weighs in which of two uploads, `planDirection` whether the first one of all is to do it for want of memory.
    name: 'reordering',
    joins: (leaf) => (keepsPlaces(leaf) ? [] : ['upload', 'transposition']),
    fits: elsewhere,
  },
];

/** What a leaf does beside the passes of one axis. */
export function shimsOf(leaf: LeafNode): readonly Shim[] {
  return shims.filter((shim) => shim.joins(leaf).length > 0);
}

/** Whether a leaf, with all that has joined it, may read and write there. */
export function mayWrite(leaf: LeafNode, placement: LaunchMemory): boolean {
  // Each channel of a result is made of all channels that are read.
  if (leaf.mix && placement.oneMemory) return false;
  return anywhere(placement) && shimsOf(leaf).every((shim) => shim.fits(placement));
}

/** Launches that it would take beside the leaf's own. */
export function launchesSaved(leaf: LeafNode): number {
  return shimsOf(leaf).reduce((sum, shim) => sum + shim.joins(leaf).length - 1, 0);
}
