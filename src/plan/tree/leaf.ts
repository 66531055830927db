/**
 * A leaf of the plan tree with everything decided: one launch over the whole tensor. A tile of one or several dimensions goes through steps
 * in shared memory, between a view that loads it and a view that stores it.
 *
 * The dimensions of a tile are those that are transformed (axes, or the two digits of one axis), followed by one that counts `tile`
 * neighbouring transforms. Twiddles of a four-step decomposition and scale factors are applied when the tile is loaded or stored.
 */
import type { Layout, Order } from '../../layout/index.ts';
import type { ScaleFactor } from '../../numeric/scale-factor.ts';
import type { BuiltCallback } from '../../problem/callbacks.ts';
import type { Band, ComplexLayout, Convolution, Sides } from '../../problem/problem.ts';
import type { Arithmetic } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';

/** A sum over the coordinates of a leaf: Σ step · coordinate. Dimensions of a tile are numbered first, then batch dimensions. */
export type Terms = readonly { readonly dimension: number; readonly step: number }[];

/** The format of a side: one of the formats of complex numbers, or reals, which a leaf reads as parts of complex numbers. */
export type SideFormat = ComplexLayout | 'real';

/** The user's callback, applied to each element in memory. The layout of the side calls it under the name `callback`. */
export interface SideCallback {
  readonly built: BuiltCallback;
  /** The operands that the callback loads from, by the callback's own names for them. */
  readonly arrays: { readonly [name: string]: string };
  /** The dimensions of the tensor whose coordinates the callback asks for, in the order in which the layout passes them. */
  readonly asks: readonly number[];
}

/** One side of a leaf: the numbers that it reads or the numbers that it writes. */
export interface LeafSide {
  /**
   * The memory location of each coordinate: [dimensions of the tile …, batch dimensions …, part]. If a leaf packs two real lines into one
   * complex line, and each line has bins of its own, the side of the bins is [… , line, part].
   */
  readonly layout: Layout;
  readonly format: SideFormat;
  readonly callback?: SideCallback;
  /** The number type in memory; the leaf's precision if missing. */
  readonly storage?: Stored;
  /** Factors that numbers are multiplied by when they are loaded or before they are stored. */
  readonly factors?: readonly SideFactors[];
}

/** Number types that memory can hold. */
export type Stored = 'half' | Arithmetic;

export type LanesAlong = 'axis' | 'batch';

/** The shared memory of a group. */
export interface SharedMemory {
  readonly format: Target['sharedFormat'];
  /** Only with `halves`: points are exchanged in two halves as well, so that a quarter of the reals is in shared memory at once. */
  readonly quarters?: true;
  /** 2: a pass reads one array and writes the other. 1: a pass reads the whole array into registers before it writes. */
  readonly arrays: 1 | 2;
  /** The number of 4-byte banks. */
  readonly banks: number;
  /** Complex numbers that each array may hold, padding included. (Passes in place need one array only, which has the room of both.) */
  readonly room: number;
}

/** An array that a launch reads beside its input and output. Each run of a plan binds one. */
export interface Operand {
  /** The name by which a run binds the array. */
  readonly name: string;
  readonly storage: Stored;
  /** The array holds reals and may begin anywhere; if missing, it holds interleaved complex numbers. */
  readonly reals?: true;
}

/** The direction of a launch, and the scale factors of its loads and stores. */
export interface DirectionScale {
  readonly inverse: boolean;
  /** The factor of each number that is read, and of each that is written. */
  readonly scale: Sides<ScaleFactor>;
}

/** Copies the tile between global and shared memory, if the lanes of the neighbouring pass would not walk along global memory. */
export interface CopyStep {
  readonly do: 'copy';
}

/**
 * Stockham passes along one dimension of a tile: a mixed-radix transform (VkFFT guide 2.5; LIFT section 3.1). Meanwhile each block of a
 * cluster holds its share of another dimension.
 */
export interface PassesStep {
  readonly do: 'passes';
  /** The dimension that is transformed. */
  readonly dimension: number;
  /** Radix of each pass; their product is the length. */
  readonly radices: readonly number[];
  /** The dimension that is divided among the blocks of a cluster; missing if there is no cluster. */
  readonly split?: number;
  /** The other dimensions in the order in which neighbouring threads walk through them; −1 stands for the transforms of the tile. */
  readonly columns: readonly number[];
  /**
   * The direction in which neighbouring lanes walk in the first and in the last pass: along the transformed dimension, or from column to
   * column. Vectors can only change from columns to the dimension, and only after their first pass.
   */
  readonly lanesAlong: { readonly input: LanesAlong; readonly output: LanesAlong };
  /** Large primes whose butterflies, in these passes or inside another convolution, are computed as cyclic convolutions. */
  readonly convolved?: readonly number[];
  /** Radices whose passes take several steps, by Rader's algorithm. */
  readonly rader?: readonly RaderRadix[];
  /** The passes use exponents of the opposite sign. */
  readonly inverse?: true;
  /**
   * Points are real, so bin N − k is the conjugate of bin k, and only bins up to N/2 are stored. `real-input`: reals → bins. `real-output`:
   * bins → reals, with exponents of the opposite sign (kernels/passes/symmetric-passes.ts).
   */
  readonly symmetry?: 'real-input' | 'real-output';
  /** The other digit of an axis in two digits (`Leaf.coupled`) whose passes came before: these passes continue its Stockham transform. */
  readonly after?: number;
  /** Pointwise operations of the first pass when it reads, and of the last pass when it writes; missing if all points are plain. */
  readonly read?: PointwiseStep;
  readonly write?: PointwiseStep;
}

/**
 * A prime radix whose pass takes several steps through shared memory, each a butterfly of a few points (kernels/passes/rader-pass.ts).
 * `convolution`: transforms of p − 1 points, forward and back, by passes of these radices (Rader 1968). `multiplication`: sums of products
 * with roots of unity (Rader's direct multiplication, VkFFT guide 4.3.6).
 */
export type RaderRadix =
  | { readonly prime: number; readonly by: 'convolution'; readonly radices: readonly number[] }
  | { readonly prime: number; readonly by: 'multiplication' };

/** Operations on the single points of a dimension, applied between memory and passes. */
export interface PointwiseStep {
  /**
   * Reads only bins 0 … (N − 1)/2 of a real transform of odd length N. The missing bins are conjugates, and only real parts of the result
   * are kept: so every bin but bin 0 counts twice, and of bin 0 the real part counts.
   */
  readonly hermitian?: true;
  /** The number of points in memory: points from this one on are read as zero and not written. */
  readonly count?: number;
  /** Each point is multiplied by its factor. */
  readonly factors?: Factors;
  /** Each point is multiplied by its number of the convolution kernel. */
  readonly kernel?: KernelFactors;
  /**
   * Handles the element that Rader's order of powers leaves out. Before the product, point 0 and that element in memory are added, which
   * gives the element's result; after the product, the element is added to point 0.
   */
  readonly origin?: true;
}

/**
 * A factor for each point n of a dimension.
 * - `chirp`: e^{−πi·n²/modulus}.
 * - `chirp-spectrum`: the transform of the conjugated chirp, wrapped around the ends of the period, divided by the length (Bluestein
 *   1970; rocFFT Bluestein design).
 * - `root-spectrum`: the transform of e^{−2πi·m/modulus} at m = g^−n modulo that prime, divided by its length, which is the prime less
 *   one (Rader 1968).
 * - `roots`: roots of unity of order `modulus`. `hartley`: 1 + i. `band`: 0 in a block of points, 1 elsewhere.
 */
export interface Factors {
  readonly kind: 'chirp' | 'chirp-spectrum' | 'root-spectrum' | 'roots' | 'hartley' | 'band';
  readonly modulus: number;
  /** The number of points that have factors, if it is not the length of the dimension. */
  readonly count?: number;
  /**
   * Only for `chirp-spectrum`: how many points are read and how many bins are written, if these are fewer than all. The chirp then lies at
   * −(read − 1) … written − 1 of the period.
   */
  readonly reach?: ChirpReach;
  /** The factors come in the order in which uploads of these lengths leave bins. */
  readonly order?: readonly number[];
  /** The factors are conjugated. */
  readonly conjugated?: true;
  /** The number of a point as Σ step · coordinate; if missing, the coordinate along the dimension of the passes. */
  readonly terms?: Terms;
  /** Only for `roots`: e^{−2πi·(first + step·n)/modulus}. */
  readonly step?: number;
  readonly first?: number;
  /** Only for `band`: points `from` ≤ n < `to` become zero. */
  readonly from?: number;
  readonly to?: number;
}

/** The number of points that a convolution with a chirp reads, and the number that it writes, both counted from point 0. */
export interface ChirpReach {
  readonly read: number;
  readonly written: number;
}

/** The name of the convolution kernel among the operands of a launch. */
export const KERNEL = 'kernel';

/** The convolution kernel as factors of bins: an operand that holds a number, or a matrix over coordinates, for each bin. */
export interface KernelFactors extends Omit<Convolution, 'kernels' | 'kernelSpectrum' | 'channels' | 'modes'> {
  /** Matrices are transposed. */
  readonly transposed?: true;
  /** The memory location of each coordinate: [dimensions of the tile …, batch dimensions …, entry of a matrix, part]. */
  readonly layout: Layout;
}

/** Multiplies the vector of coordinates at each bin of a tile by a matrix. */
export interface MultiplyStep {
  readonly do: 'multiply';
  readonly kernel: KernelFactors;
}

/**
 * Multiplies channels by matrices: channel o of the result is the sum over all channels i of the signal, each times number (i, o) of the
 * kernel. It is the only step of its launch. A thread, or a vector, computes several channels of several batches at once, so that each
 * number it loads is used more than once.
 */
export interface MixStep {
  readonly do: 'mix';
  readonly in: number;
  readonly out: number;
  /** The matrices: [batch dimensions …, channels in, channels out, part]. */
  readonly layout: Layout;
  readonly conjugate: Convolution['conjugate'];
  /** Channels of the result, and batches, that one item computes. */
  readonly block: { readonly out: number; readonly batches: number };
  /** Blocks of channels, and of batches, in a group. */
  readonly blocks: { readonly out: number; readonly batches: number };
  /** Terms of a sum that one phase writes out; missing if sums are loops. */
  readonly terms?: number;
}

/** Factors of the numbers of a side. */
export interface SideFactors extends Factors {
  readonly terms: Terms;
  /** The order in which the points that the factors count are stored along the first dimension of the tile. */
  readonly points?: Order;
}

/**
 * The Hermitian split: combines bins k and N − k of a complex transform into bins of real data (VkFFT guide 2.5.3). `halves`: neighbouring
 * points of one real sequence were packed as real and imaginary parts. `lines`: two real sequences were.
 */
export interface HermitianSplit {
  readonly do: 'hermitian-split';
  /** N. */
  readonly length: number;
  readonly by: 'halves' | 'lines';
  /** The inverse: from bins of reals to complex numbers, before their passes. */
  readonly toReals?: true;
  /** The other dimensions of the tile are transformed axes, too: bin k is combined with bin −k along each of them. */
  readonly everyAxis?: true;
  /**
   * Only for `lines` of even length N, whose bins 0 and N/2 are real: bin 0 of the first line holds the sum of the complex transform's bins
   * 0 and N/2, bin 0 of the second line their difference, and neither line has a bin N/2.
   */
  readonly merged?: true;
  /** Only for `halves`: bins are multiplied by numbers of the convolution kernel, then become complex numbers again. */
  readonly kernel?: KernelFactors;
}

/**
 * A spectral layer along one axis. A group transforms the lines of all channels of one batch, at one bin of the other axes, keeps their bins in
 * shared memory, multiplies them by the matrices, and transforms back. It is the only step of its launch. The first batch dimension of each leaf
 * counts what the group does itself.
 */
export interface LayerStep {
  readonly do: 'layer';
  /** Its output, and the input of `mix`, are planes in shared memory. */
  readonly forward: Leaf;
  readonly mix: Leaf;
  /** Its input, and the output of `mix`, are planes in shared memory. */
  readonly inverse: Leaf;
}

/**
 * Weighted sums over the bins of each line. It is the only step of its launch. Bins are read from the input of the leaf or, with `forward`, from a
 * plane of reals in shared memory, [bins × lines of the tile].
 */
export interface BandsStep {
  readonly do: 'bands';
  readonly bands: readonly Band[];
  /** The number of bins of a line. */
  readonly bins: number;
  /** The transform of a tile of lines, whose output is the plane. */
  readonly there?: Leaf;
}

export type LeafStep = CopyStep | PassesStep | HermitianSplit | MultiplyStep | MixStep | LayerStep | BandsStep;

/**
 * One launch. The blocks of a cluster hold a tile together and exchange their shares between steps, so a cluster makes larger uploads
 * possible.
 */
export interface Leaf extends DirectionScale {
  readonly precision: Arithmetic;
  /** Lengths of the dimensions of a tile. */
  readonly lengths: readonly number[];
  readonly steps: readonly LeafStep[];
  /** The first two dimensions are the digits of one axis, and their passes are coupled by twiddles. */
  readonly coupled: boolean;
  /** The number of blocks of a cluster; 1 if there is no cluster. */
  readonly blocks: number;
  /** The count of each batch dimension. The first one is tiled: `tile` neighbouring transforms share a group. */
  readonly batch: readonly number[];
  readonly tile: number;
  /** Whether lanes are elements of a vector or threads of a group. */
  readonly lockstep: 'vector' | 'threads';
  /** Lanes that run in lockstep for this precision. */
  readonly lanes: number;
  readonly threads: number;
  /** Groups (or blocks of them) that should be resident on a multiprocessor at once; missing if the compiler decides. */
  readonly residentGroups?: number;
  readonly shared: SharedMemory;
  readonly input: LeafSide;
  readonly output: LeafSide;
  /** The arrays that it reads beside its input. */
  readonly operands?: readonly Operand[];
  /** The twiddles of a four-step decomposition. */
  readonly twiddle?: StepTwiddle;
  /** The same of a decomposition around that one, on the other side. */
  readonly outerTwiddle?: StepTwiddle;
  /** Input and output may be the same memory. */
  readonly aliased: boolean;
}

function isPasses(step: LeafStep): step is PassesStep {
  return step.do === 'passes';
}

/** The passes of a leaf, in order. */
export function passesOf({ steps }: Pick<Leaf, 'steps'>): PassesStep[] {
  return steps.filter(isPasses);
}

/** Radices of the passes along each dimension of a tile. */
export function radicesOf(leaf: Leaf): readonly (readonly number[])[] {
  const passes = passesOf(leaf);
  return leaf.lengths.map((_, d) => passes.find(({ dimension }) => dimension === d)?.radices ?? []);
}

/** Whether a copy comes before the first pass, and whether one follows the last pass. */
export function stagedOf({ steps }: Pick<Leaf, 'steps'>): { readonly input: boolean; readonly output: boolean } {
  return { input: steps[0]!.do === 'copy', output: steps.at(-1)!.do === 'copy' };
}

/**
 * The twiddles of a four-step decomposition: element k of transform b is multiplied by e^{−2πi·k·b/order} when it is loaded or stored.
 * `both`: when it is loaded and, after the transform back, by the conjugate when it is stored.
 */
export interface StepTwiddle {
  readonly order: number;
  readonly on: 'input' | 'output' | 'both';
  /** The factor is e^{2πi·k·b/order} instead. */
  readonly conjugated?: true;
  /** The first value of b; 0 if missing. */
  readonly first?: number;
  /** The batch dimension that b counts along; the first if missing. */
  readonly along?: number;
  /** The axis that k counts along if a node has several: 0 (or missing) for `axis`, n for `more[n − 1]`. */
  readonly axis?: number;
}
