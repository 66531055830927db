/**
 * A leaf of the plan tree, fully resolved: one launch over everything. A tile of one or several dimensions goes through
 * steps in shared memory, between a view that loads it and a view that stores it.
 *
 * A tile has the dimensions that are transformed (axes, or the two digits of one) and, last, `tile` neighbouring transforms.
 * Twiddles of a four-step decomposition and scale factors are applied on the way in or out.
 */
import type { Layout, Order } from '../../layout/index.ts';
import type { ScaleFactor } from '../../numeric/scale-factor.ts';
import type { BuiltCallback } from '../../problem/callbacks.ts';
import type { ComplexLayout, Convolution, Sides } from '../../problem/problem.ts';
import type { Arithmetic } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';

/** A sum over the coordinates of a leaf: Σ step · coordinate. Dimensions of a tile come first, then batches. */
export type Terms = readonly { readonly dimension: number; readonly step: number }[];

/** How the numbers of a side lie: complex ones in one of their formats, or reals, which a leaf takes for parts of complex ones. */
export type SideFormat = ComplexLayout | 'real';

/** What is done to each element in memory, as the user sees it. The layout of the side calls it, as `callback`. */
export interface SideCallback {
  readonly built: BuiltCallback;
  /** The operands that it loads from, by the names that it has for them. */
  readonly arrays: { readonly [name: string]: string };
  /** The dimensions of the tensor whose coordinates it asks for, in the order in which the layout gives them. */
  readonly asks: readonly number[];
}

/** The numbers that a leaf reads, or writes. */
export interface LeafSide {
  /**
   * The real behind each coordinate: [dimensions of the tile …, batch dimensions …, part]. Where a leaf makes one line of complex numbers of
   * two lines, each of which has bins of its own, the side of the bins is [… , line, part].
   */
  readonly layout: Layout;
  readonly format: SideFormat;
  readonly callback?: SideCallback;
  /** What its numbers are in memory; as they are computed with where it is missing. */
  readonly storage?: Stored;
  /** By which the numbers in memory are multiplied, as they are read or before they are written. */
  readonly factors?: readonly SideFactors[];
}

/** What a number in memory can be. */
export type Stored = 'half' | Arithmetic;

export type LanesAlong = 'axis' | 'batch';

/** The memory that the threads of a group share. */
export interface SharedMemory {
  readonly format: Target['sharedFormat'];
  /** Only for `halves`: of the points, too, the first half goes through it before the second one. */
  readonly quarters?: true;
  /** Passes read one array and write the other, or read all of one before they write it. */
  readonly arrays: 1 | 2;
  /** 4-byte banks. */
  readonly banks: number;
  /** Complex numbers that each of the arrays may hold, padding included. (Passes in place, which need one of two, have both's.) */
  readonly room: number;
}

/** An array that a launch reads beside its two sides, and that each run of a plan is given. */
export interface Operand {
  /** By which the run names it. */
  readonly name: string;
  readonly storage: Stored;
  /** Reals, which may begin anywhere; missing: complex numbers, re and im side by side. */
  readonly reals?: true;
}

/** Which way a launch transforms, and by what it multiplies on the way in and on the way out. */
export interface DirectionScale {
  readonly inverse: boolean;
  /** Factors of what is read and what is written. */
  readonly scale: Sides<ScaleFactor>;
}

/** Moves the tile from one place to another: where the lanes of a pass would not walk along memory. */
export interface CopyStep {
  readonly do: 'copy';
}

/**
 * Stockham passes along one dimension of a tile, while each block of a cluster holds its share of another: a mixed-radix
 * transform (VkFFT guide 2.5; LIFT section 3.1).
 */
export interface PassesStep {
  readonly do: 'passes';
  /** The dimension that is transformed. */
  readonly dimension: number;
  /** Radix of each pass; their product is the length. */
  readonly radices: readonly number[];
  /** The dimension that is shared out among the blocks of a cluster; missing where there is none. */
  readonly split?: number;
  /** The other dimensions in the order in which neighbouring threads walk through them, −1 for the tile's own. */
  readonly columns: readonly number[];
  /**
   * Along what neighbouring lanes walk in the first and the last pass: the transformed dimension, or the columns. Vectors can
   * only change from the columns to the dimension, after their first pass.
   */
  readonly lanesAlong: { readonly input: LanesAlong; readonly output: LanesAlong };
  /** Primes of these radices whose butterflies are convolutions, and of the transforms inside those. */
  readonly convolved?: readonly number[];
  /** Radices whose passes take several steps, by Rader's algorithm. */
  readonly rader?: readonly RaderRadix[];
  /** The exponents have the other sign. */
  readonly inverse?: true;
  /**
   * Points are real, so that bin N − k is the conjugate of bin k, and only those up to the half are there. `real-input`: reals → bins.
   * `real-output`: bins → reals, by the exponents of the other sign (kernels/symmetric-passes.ts).
   */
  readonly symmetry?: 'real-input' | 'real-output';
  /**
   * Of the digits of an axis (`Leaf.coupled`), the other one, whose passes came before: those along this one carry on from there.
   */
  readonly after?: number;
  /** What the first pass reads, and what the last one writes, where that is not simply all points. */
  readonly read?: PointwiseStep;
  readonly write?: PointwiseStep;
}

/**
 * A prime radix whose pass takes several steps through shared memory, each a butterfly of a few points (kernels/rader-pass.ts).
 * `convolution`: transforms of one point less, there and back, by passes of these radices (Rader 1968). `multiplication`: sums of products
 * with roots of unity (Rader's direct multiplication, VkFFT guide 4.3.6).
 */
export type RaderRadix =
  | { readonly prime: number; readonly by: 'convolution'; readonly radices: readonly number[] }
  | { readonly prime: number; readonly by: 'multiplication' };

/** What is done to the points of a dimension one by one, between memory and passes. */
export interface PointwiseStep {
  /**
   * Only the bins up to the half of a transform of reals are read, which has an odd length. The others are conjugates of them, and of the
   * result only real parts are kept, so all bins but the first count twice instead; of the first one the real part counts.
   */
  readonly hermitian?: true;
  /** Points from this one on are not there: they count as zero, and are not written. */
  readonly count?: number;
  /** Each is multiplied by its factor. */
  readonly factors?: Factors;
  /** Each is multiplied by a number of the kernel. */
  readonly kernel?: KernelFactors;
  /**
   * Before the product, point 0 and the one element in memory that is not in the order of powers add up to what that element
   * becomes; after it, the element is added to point 0.
   */
  readonly origin?: true;
}

/**
 * Factors of a point n. `chirp`: e^{−πi·n²/modulus}. `chirp-spectrum`: the transform of the conjugated chirp, laid around both ends
 * of a circle as long as the dimension, over that length (Bluestein 1970; rocFFT Bluestein design). `root-spectrum`: the transform of
 * e^{−2πi·m/modulus} at m = g^−n modulo that prime, over its length, which is one less (Rader 1968). `roots`: of unity, of that order. `hartley`: 1 + i. `band`: 0 in
 * a block of points, else 1.
 */
export interface Factors {
  readonly kind: 'chirp' | 'chirp-spectrum' | 'root-spectrum' | 'roots' | 'hartley' | 'band';
  readonly modulus: number;
  /** Points that there are factors for, where that is not the length of the dimension. */
  readonly count?: number;
  /**
   * Of the spectrum of a chirp: how many points are read and how many bins are written, where these are fewer than all. The chirp then
   * lies at −(read − 1) … written − 1 on the circle.
   */
  readonly reach?: ChirpReach;
  /** They come in the order in which uploads of these lengths leave their bins. */
  readonly order?: readonly number[];
  /** They are conjugated. */
  readonly conjugated?: true;
  /** Where a point is Σ step · coordinate; of passes it is the coordinate along their dimension where this is missing. */
  readonly terms?: Terms;
  /** Of roots: e^{−2πi·(first + step·n)/modulus}. */
  readonly step?: number;
  readonly first?: number;
  /** Of a band: points `from` ≤ n < `to` become zero. */
  readonly from?: number;
  readonly to?: number;
}

/** Points that a convolution with a chirp reads, from the first one on, and those that it writes. */
export interface ChirpReach {
  readonly read: number;
  readonly written: number;
}

/** What the kernel of a convolution is called among the operands of a launch. */
export const KERNEL = 'kernel';

/** What bins are multiplied by that an operand holds, the kernel of a convolution: numbers, or matrices over coordinates. */
export interface KernelFactors extends Omit<Convolution, 'kernels' | 'kernelSpectrum' | 'channels' | 'modes'> {
  /** Rows and columns of matrices are exchanged. */
  readonly transposed?: true;
  /** The real behind each coordinate: [dimensions of the tile …, batch dimensions …, entry of a matrix, part]. */
  readonly layout: Layout;
}

/** Bins of all coordinates of a tile are multiplied by matrices. */
export interface MultiplyStep {
  readonly do: 'multiply';
  readonly kernel: KernelFactors;
}

/**
 * The only step of a launch that multiplies channels by matrices: channel o of the result is a sum over all channels i of the signal, each times
 * number (i, o) of the kernel. A thread, or a vector, computes several channels of several batches at once, so that each number that it loads
 * is used more than once.
 */
export interface MixStep {
  readonly do: 'mix';
  readonly in: number;
  readonly out: number;
  /** [batch dimensions …, channels in, channels out, part]. */
  readonly layout: Layout;
  readonly conjugate: Convolution['conjugate'];
  /** Channels of the result, and batches, of one item. */
  readonly block: { readonly out: number; readonly batches: number };
  /** Blocks of either that a group has. */
  readonly blocks: { readonly out: number; readonly batches: number };
  /** Terms of a sum that are written out in one phase; missing where sums are loops. */
  readonly terms?: number;
}

/** Factors of a side. */
export interface SideFactors extends Factors {
  readonly terms: Terms;
  /** The points of the first dimension of a tile, along which they are counted, come in this order. */
  readonly points?: Order;
}

/**
 * Element k together with element N − k (VkFFT guide 2.5.3): what makes the spectrum of reals of that of complex numbers.
 * `halves`: the points of a real sequence were taken two by two for complex numbers. `lines`: two sequences were taken for the real
 * and the imaginary parts of one.
 */
export interface HermitianSplit {
  readonly do: 'pair';
  /** N. */
  readonly length: number;
  readonly by: 'halves' | 'lines';
  /** From spectra of reals to complex numbers, before their passes. */
  readonly back?: true;
  /** The other dimensions of the tile are axes, too: bin k goes with bin −k of each of them. */
  readonly everyAxis?: true;
  /**
   * Of lines of an even length N, whose bins 0 and N/2 are reals: for bin 0 of the first line stands the sum of what belongs to both bins in
   * the complex transform, for bin 0 of the second line the difference, and neither has a bin N/2.
   */
  readonly merged?: true;
  /** Of `halves`, there and back: bins are multiplied by numbers of a kernel, and become complex numbers again. */
  readonly kernel?: KernelFactors;
}

export type LeafStep = CopyStep | PassesStep | HermitianSplit | MultiplyStep | MixStep;

/**
 * One launch. Where a cluster of blocks holds a tile together, they exchange their shares between steps: a cluster is a
 * bigger upload.
 */
export interface Leaf extends DirectionScale {
  readonly precision: Arithmetic;
  /** Lengths of the dimensions of a tile. */
  readonly lengths: readonly number[];
  readonly steps: readonly LeafStep[];
  /** The first two dimensions are the digits of one axis, and their passes are coupled by twiddles. */
  readonly coupled: boolean;
  /** Blocks of a cluster; 1: no cluster is needed. */
  readonly blocks: number;
  /** Count of each batch dimension. The first one is tiled: `tile` neighbouring transforms share a group. */
  readonly batch: readonly number[];
  readonly tile: number;
  /** Whether the lanes are the elements of vectors or threads of a group. */
  readonly lockstep: 'vector' | 'threads';
  /** Lanes in lockstep for this precision. */
  readonly lanes: number;
  readonly threads: number;
  /** Groups, or blocks of them, that are to run side by side on a multiprocessor; missing where that is left to the compiler. */
  readonly residentGroups?: number;
  readonly shared: SharedMemory;
  readonly input: LeafSide;
  readonly output: LeafSide;
  /** What else it reads. */
  readonly operands?: readonly Operand[];
  /** Twiddles of a four-step decomposition: b is the number of a transform in the batch dimension `along`, by default the first. */
  readonly twiddle?: StepTwiddle;
  /** Input and output may be the same memory. */
  readonly aliased: boolean;
}

function isPasses(step: LeafStep): step is PassesStep {
  return step.do === 'passes';
}

/** The passes of a leaf, in their order. */
export function passesOf({ steps }: Pick<Leaf, 'steps'>): PassesStep[] {
  return steps.filter(isPasses);
}

/** Radices of the passes along each dimension of a tile. */
export function radicesOf(leaf: Leaf): readonly (readonly number[])[] {
  const passes = passesOf(leaf);
  return leaf.lengths.map((_, d) => passes.find(({ dimension }) => dimension === d)?.radices ?? []);
}

/** Copies before the first pass and after the last one. */
export function stagedOf({ steps }: Pick<Leaf, 'steps'>): { readonly input: boolean; readonly output: boolean } {
  return { input: steps[0]!.do === 'copy', output: steps.at(-1)!.do === 'copy' };
}

/**
 * Element k of transform b is multiplied by e^{−2πi·k·b/order}, as it is read or as it is written. `both`: as it is read, and where it has
 * gone there and back, by the conjugate as it is written.
 */
export interface StepTwiddle {
  readonly order: number;
  readonly on: 'input' | 'output' | 'both';
  /** By e^{2πi·k·b/order} instead. */
  readonly conjugated?: true;
  /** What b begins with, where that is not 0. */
  readonly first?: number;
  /** In a leaf: the batch dimension that b counts along, where that is not the first. */
  readonly along?: number;
  /** Of several axes, the one that k counts along: 0 for `axis` (where it is missing, too), n for `more[n − 1]`. */
  readonly axis?: number;
}
