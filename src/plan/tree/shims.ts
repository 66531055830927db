/**
 * Fuse shims: which neighbouring nodes may be one launch, and where such a launch may write (rocFFT buffer assignment, "FuseShim"). Whether
 * a fusion pays is decided by price where a tree is made, with and without it; a shim only tells what is fused and where the launch may
 * write.
 */
import { isOverNumbers } from '../../layout/index.ts';
import { keepsPlaces, type LeafNode, takesLines } from './node.ts';

/** How the memory that a launch reads relates to the memory that it writes. */
export interface LaunchMemory {
  /** The launch writes the memory that it reads. */
  readonly oneMemory: boolean;
  /** Every element has the same address on both sides or, if one side is real, every line of reals lies in the memory of its bins. */
  readonly alike: boolean;
}

interface Shim {
  readonly name: string;
  /** The separate launches, in order, that this leaf replaces; empty if the leaf is no such fusion. */
  joins(leaf: LeafNode): readonly string[];
  /** Whether the fused launch may read and write such memory. */
  fits(placement: LaunchMemory): boolean;
}

/** For launches that read each line whole before they write it. */
function fitsLineByLine({ oneMemory, alike }: LaunchMemory): boolean {
  return !oneMemory || alike;
}

/** For launches that write where other groups have yet to read. */
function fitsElsewhere({ oneMemory }: LaunchMemory): boolean {
  return !oneMemory;
}

const shims: readonly Shim[] = [
  {
    // A convolution in one launch: a transform, a product and the transform back, either of an axis with large primes (with its pointwise
    // operations before and after) or with a user's kernel. `cheapestBluestein` and `splitConvolution` weigh it against several launches.
    name: 'convolution',
    joins: ({ convolved, product }) => {
      const round = ['transform', 'product', 'transform back'];
      if (convolved) return ['chirp and pad', ...round, 'chirp and crop'];
      return product ? round : [];
    },
    fits: fitsLineByLine,
  },
  {
    // Transforms along several axes, one after another, while their tile is in shared memory. `sharedAxesChoices` weighs it.
    name: 'axes',
    joins: ({ more }) => (more.length > 0 ? ['axis', ...more.map(() => 'axis')] : []),
    fits: fitsLineByLine,
  },
  {
    // A complex transform with its Hermitian split, or with the omission of redundant bins if imaginary parts are zero, or the inverse of
    // either. Each line is read whole before it is written. `schemesOfReals` weighs it.
    name: 'packing',
    joins: (leaf) => (takesLines(leaf) || leaf.real?.side === 'both' ? ['transform', 'pairs of bins'] : []),
    fits: fitsLineByLine,
  },
  {
    // A transform with the weighted sums over its bins, which are fewer and lie elsewhere. It saves the way of all bins through memory.
    name: 'bands',
    joins: ({ bands }) => (bands?.there ? ['transform', 'bands'] : []),
    fits: fitsElsewhere,
  },
  {
    // One of several uploads of a real axis, together with the step from reals or to the Hermitian half. Memory between launches holds all
    // points, the user's memory only a part of them and in another layout. `schemesOfReals` weighs it.
    name: 'halving',
    joins: (leaf) => {
      const { real, lines } = leaf;
      const reals = (real?.by === 'zeros' || real?.by === 'parts') && real.side !== 'both';
      const bins = [...lines.input, ...lines.output].some(({ line }) => isOverNumbers(line));
      return !takesLines(leaf) && !leaf.stays && (reals || bins) ? ['upload', 'half of the points'] : [];
    },
    fits: fitsElsewhere,
  },
  {
    // An upload with the four-step twiddles on its loads or stores, on both where decompositions are nested. It is never dearer than launches
    // of their own.
    name: 'twiddles',
    joins: ({ twiddle, outerTwiddle }) =>
      twiddle ? ['upload', 'twiddles', ...(outerTwiddle ? ['twiddles'] : [])] : [],
    fits: fitsLineByLine,
  },
  {
    // An upload with the transposition that follows it, done by its stores: elements are written where other groups have yet to read.
    // `reordersFirst` chooses which of two uploads does it; `planDirection` decides whether the first upload of all has to, for want of
    // memory.
    name: 'reordering',
    joins: (leaf) => (keepsPlaces(leaf) || leaf.bands ? [] : ['upload', 'transposition']),
    fits: fitsElsewhere,
  },
];

/** The fusions in a leaf. */
export function shimsOf(leaf: LeafNode): readonly Shim[] {
  return shims.filter((shim) => shim.joins(leaf).length > 0);
}

/** Whether a leaf with all its fusions may read and write such memory. */
export function mayWrite(leaf: LeafNode, placement: LaunchMemory): boolean {
  // Each channel of the result depends on all channels that are read, each band on many bins.
  if ((leaf.mix || leaf.bands) && placement.oneMemory) return false;
  return fitsLineByLine(placement) && shims.every((shim) => shim.fits(placement) || shim.joins(leaf).length === 0);
}

/** The number of launches that the fusions of a leaf save. */
export function launchesSaved(leaf: LeafNode): number {
  return shimsOf(leaf).reduce((sum, shim) => sum + shim.joins(leaf).length - 1, 0);
}
