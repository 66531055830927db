/**
 * What a user may ask for (`ProblemInput`) and the one form in which the rest of the library reads it (`Problem`).
 * Types and the lists of accepted words only: normalize.ts makes the second of the first.
 */

import type { BuiltCallbacks, Callbacks } from './callbacks.ts';
import type { Direction, Directions } from './directions.ts';

/** The arithmetic that a plan can be asked to do. */
export const precisions = ['single', 'double', 'double-double'] as const;
export type Precision = (typeof precisions)[number];

/** What a number in memory can be. */
export const storages = ['half', ...precisions] as const;
export type Storage = (typeof storages)[number];

/** Real-to-real transforms, defined as in FFTW. */
export const realTransforms = ['dct1', 'dct2', 'dct3', 'dct4', 'dst1', 'dst2', 'dst3', 'dst4', 'dht'] as const;
export const transformKinds = ['c2c', 'r2c', ...realTransforms] as const;
export type TransformKind = (typeof transformKinds)[number];

export type ReleasedTransform = TransformKind;

/** `interleaved`: re, im, re, im … in one array; `planar`: one array for re, one for im. */
export const complexLayouts = ['interleaved', 'planar'] as const;
export type ComplexLayout = (typeof complexLayouts)[number];

export const placements = ['out-of-place', 'in-place'] as const;
export type Placement = (typeof placements)[number];

/** How a plan is chosen: by what the planner reckons, by timing the best few on the device, or for the least temp memory. */
export const strategies = ['fast', 'measure', 'least-memory'] as const;
export type Strategy = (typeof strategies)[number];

/** `input` is what the forward transform reads and the inverse writes; `output` is the other side. */
export const sides = ['input', 'output'] as const;
export type Side = (typeof sides)[number];

/** One value for each side of a problem. */
export interface Sides<T> {
  readonly input: T;
  readonly output: T;
}

/** Knobs of the planner, for those who know better on one device; docs/tuning.md explains each. */
export interface Tuning {
  /** Bytes that memory moves at once. A power of two from 16 to 4096. */
  readonly coalescedBytes?: number | undefined;
  /** Bytes of shared memory that a group may use, from 4096 to what the device has. */
  readonly sharedBytes?: number | undefined;
  /** Banks of shared memory, 4 bytes each. A power of two up to 1024. */
  readonly banks?: number | undefined;
  /** Threads in lockstep. A power of two up to what the device has. */
  readonly warpSize?: number | undefined;
  /** Threads that groups should have; no promise. */
  readonly threads?: number | undefined;
  /** Threads that no group may exceed, from 32 to what the device allows. */
  readonly maxThreads?: number | undefined;
  /** Half the threads in the uploads of an axis that has several. */
  readonly halfThreads?: boolean | undefined;
  /** Blocks that may share a tile in one launch, where a device has clusters; 1: none. */
  readonly clusterBlocks?: number | undefined;
  /** Transforms per group: one number, or one for each axis; 0 leaves it to the planner. */
  readonly groupedBatch?: number | readonly number[] | undefined;
  /** Lengths from which on an axis has at least two, or three, uploads. */
  readonly uploadSwitch?: { readonly two?: number | undefined; readonly three?: number | undefined } | undefined;
  /** Into how many parts a run of memory may be cut for a longer upload: 1 to 64, or −1 for any number. */
  readonly performBandwidthBoost?: number | undefined;
  /** Plan the innermost axis like the others. */
  readonly considerAllAxesStrided?: boolean | undefined;
  /** Roots of unity from tables, or computed where a device has exact sines. */
  readonly twiddles?: 'table' | 'computed' | undefined;
  /** The same for twiddles of the four-step algorithm, between the uploads of an axis. Default: as `twiddles`. */
  readonly twiddles4Step?: 'table' | 'computed' | undefined;
  /** Streams that launches are spread over, from 1 to 128, where a device has several. */
  readonly streams?: number | undefined;
  /** How many times over registers stand in for shared memory where an axis has one upload; 1: not at all; 2, 3: twice; from 4 on: four times, where all axes are complex powers of two. */
  readonly registerBoost?: number | undefined;
  /** False: not for lengths that are no powers of two. */
  readonly registerBoostNonPow2?: boolean | undefined;
  /** The same in each of several uploads. */
  readonly registerBoost4Step?: number | undefined;
  /** Groups in one dimension of a launch at most; more fold over the others, and over launches. */
  readonly maxGroups?: number | undefined;
  /**
   * Lengths of convolutions by Bluestein's algorithm: of primes up to `maxRadix`; or `length`; or by `pattern`, which has a length for
   * axes of `from` points on, up to the next entry. Where it takes several launches, `separate` leaves the last one there and the
   * first one back apart, which are one otherwise; `six` also gives chirp and padding, the product, and chirp and crop launches of their own.
   */
  readonly bluestein?:
    | {
        readonly maxRadix?: number | undefined;
        readonly length?: number | undefined;
        readonly pattern?: readonly { readonly from: number; readonly length?: number }[] | undefined;
        readonly launches?: 'fused' | 'separate' | 'six' | undefined;
      }
    | undefined;
  /**
   * Primes, from the first number to the second, that are multiplied as radices (`multiply`), or convolved as radices and lengths
   * (`convolve`). Those up to 13 are concerned by a range of `multiply` only that ends beyond 13.
   */
  readonly rader?:
    | {
        readonly multiply?: readonly [number, number] | undefined;
        readonly convolve?: readonly [number, number] | undefined;
      }
    | undefined;
  /**
   * True: two real sequences of a batch may go through one complex transform, as its real and its imaginary part, where that is
   * faster. What one of them holds then reaches the other: rounding errors are relative to the larger one, and a NaN or an infinity
   * spoils both. By default every sequence is transformed by itself.
   */
  readonly mergeSequences?: boolean | undefined;
}

/** Elements along an axis: from `from` on, up to `to`, which is not one of them. */
export interface Block {
  readonly from: number;
  readonly to: number;
}

/** What the products of a convolution are of. */
export interface Convolution {
  /**
   * A number: kernels that each signal is convolved with; the result has batches × kernels systems, the kernels slowest. A word: each
   * coordinate, each batch, or each coordinate of each batch has a kernel of its own, and the result has the signal's shape.
   */
  readonly kernels: number | 'per-coordinate' | 'per-batch' | 'per-both';
  /** Rows and columns of the matrix that a kernel has at each point, by which the coordinates of the signal are multiplied. */
  readonly matrix: 1 | 2 | 3;
  /** Only the upper triangle of the matrix is there. */
  readonly symmetric: boolean;
  /** Which spectrum is conjugated before the product. */
  readonly conjugate: 'none' | 'signal' | 'kernel';
  /** Each product is divided by its magnitude. */
  readonly crossPower: boolean;
  /**
   * What a call is given as its kernel. `prepared`: what `prepareKernel` has made. `user`: memory of the caller's with the spectrum of the
   * kernel, bins in their natural order.
   */
  readonly kernelSpectrum: 'prepared' | 'user';
  /**
   * A spectral layer, as in Fourier neural operators: of the spectrum of `in` coordinates some bins are kept (`modes`), each is multiplied by
   * a matrix of in × out complex numbers, and all other bins are zero. `null` where there is none.
   */
  readonly channels: { readonly in: number; readonly out: number } | null;
  /**
   * For each axis how many bins at either end a spectral layer keeps: 0 … m − 1 and −m … −1; of reals along the first axis 0 … m − 1 alone.
   * `null` where there are no channels.
   */
  readonly modes: readonly number[] | null;
}

type PartialSides<T> = { readonly [S in Side]?: T | undefined };

/**
 * What the language of problems can say, computed by this release (`ProblemInput`) or not. Only `size` is required.
 *
 * The tensor is `leftBatches × size[0] × … × size[D−1] × coordinates × batches`, in order of increasing default stride:
 * axes are listed **fastest first**.
 */
export interface AnyProblemInput {
  /** Lengths of the D ≥ 1 axes, fastest first. */
  readonly size: readonly number[];
  /**
   * What is computed. `c2c`: complex numbers of complex numbers. `r2c`: `size[0]` reals on the `input` side, ⌊size[0]/2⌋ + 1 complex
   * bins on the `output` side, and complex transforms along the other axes. `dct1` … `dst4`: FFTW's cosine and sine transforms, `dht`: its discrete
   * Hartley transform, reals on both sides; one word for all axes, or one for each. Default `c2c`.
   */
  readonly transform?: TransformKind | readonly TransformKind[] | undefined;
  /** Axes of `size` that are only there to be stepped over, one flag per axis. Default none. */
  readonly omit?: readonly boolean[] | undefined;
  /** Arithmetic; `half` is short for single arithmetic over half storage. Default `single`. */
  readonly precision?: Storage | undefined;
  /** Work and temp memory. Default: the precision. */
  readonly storage?: Storage | undefined;
  /** Input and output memory. Default: the storage. */
  readonly edgeStorage?: Storage | undefined;
  /** How complex numbers lie, for both sides or for each. Default `interleaved`. */
  readonly layout?: ComplexLayout | PartialSides<ComplexLayout> | undefined;
  /** Transforms outside all axes (the slowest dimension). Default 1. */
  readonly batches?: number | undefined;
  /** Transforms inside all axes (the fastest dimension). Default 1. */
  readonly leftBatches?: number | undefined;
  /** Components of a vector field, between the axes and the batches. Default 1. */
  readonly coordinates?: number | undefined;
  /** Default `out-of-place`. */
  readonly placement?: Placement | undefined;
  /** Forbids scratch writes to the buffer that is read. Default true; without meaning in place. */
  readonly preserveInput?: boolean | undefined;
  /**
   * D + 2 entries `[left, axis 0, …, axis D−1, batch]`, or D + 3 with the coordinate stride before the batch (required
   * when `coordinates > 1`), in elements of that side's own type: reals where it holds reals, complex numbers elsewhere. A negative one
   * walks backwards from the offset; 0 reads the same again, on a side that is never written. Default:
   * packed; of `r2c` in place, each row of reals has room for its bins, 2(⌊size[0]/2⌋ + 1) reals. In place, one side speaks for
   * both, but for `r2c`, which needs both.
   */
  readonly strides?: PartialSides<readonly number[]> | undefined;
  /**
   * Where the element whose indices are all 0 lies in each buffer, in elements of that side's own type, as strides. Default 0. With negative
   * strides others lie in front of it.
   */
  readonly offsets?: PartialSides<number> | undefined;
  /**
   * Divide the inverse by the number of points, so that it undoes the forward transform: ∏ of the transformed axes' lengths, each
   * the logical one (FFTW) of cosine and sine transforms: 2(N − 1) of `dct1`, 2(N + 1) of `dst1`, N of `dht`, 2N of the others. Default false.
   */
  readonly normalize?: boolean | undefined;
  /** Factors on the results. Default 1. */
  readonly scale?: { readonly [S in Direction]?: number | undefined } | undefined;
  /** Which directions to plan for. Default `both`. */
  readonly directions?: Directions | undefined;
  /**
   * Leave the bins of an axis of several uploads where these put them; `plan.output.order` tells where that is. Real-to-real transforms, and real
   * ones that gain nothing by it, have their bins in order. Default false.
   */
  readonly unordered?: boolean | undefined;
  /**
   * Blocks of zeros: one entry for each axis, fastest first, `null` where it has none. An element lies in the block of a side
   * if any of its axes does; it counts as zero where it would be read, and is not touched where it would be written.
   */
  readonly zeroPadding?:
    | {
        /** Of the `input` side. */
        readonly space?: readonly (Block | null)[] | undefined;
        /** Of the `output` side. */
        readonly frequency?: readonly (Block | null)[] | undefined;
      }
    | undefined;
  /**
   * Functions of single elements, fused into what the first launch of a direction reads and what its last launch writes, and the
   * arrays that they load from: docs/callbacks.md. Default none.
   */
  readonly callbacks?: Callbacks | null | undefined;
  /**
   * The plan also convolves (`prepareKernel`, `convolve`): with so many `kernels` (default 1), numbers or matrices of `matrix` rows
   * (default 1: numbers) of which `symmetric` ones have their upper triangle only; the spectrum of the signal or the kernel
   * conjugated (a correlation); with `crossPower` each product divided by its magnitude, or 0 where that is 0. With `channels` and `modes` it is
   * a spectral layer, which only convolves: it has no `forward` and `inverse`, its input side holds the signal, `in` coordinates of it, and
   * its output side the result, `out` coordinates, of reals for reals.
   */
  readonly convolution?: { readonly [F in keyof Convolution]?: Convolution[F] | undefined } | null | undefined;
  /**
   * `fast`: the plan that the planner reckons to be the fastest. `measure`: its best few candidates are timed on the device,
   * which takes a second or two, and the fastest is kept (FFTW's MEASURE). `least-memory`: the plan that does with as little
   * temp memory (`plan.bytes.temp`) as the planner knows how. Default `fast`.
   */
  readonly strategy?: Strategy | undefined;
  /** Knobs of the planner. Default: none is set. */
  readonly tuning?: Tuning | undefined;
  /** Verify each kernel that is made. Default false. */
  readonly debug?: boolean | undefined;
}

/** What a user may ask for: the part of the language that this release computes. */
export interface ProblemInput extends AnyProblemInput {
  readonly transform?: ReleasedTransform | readonly ReleasedTransform[] | undefined;
  readonly precision?: Storage | undefined;
  readonly storage?: Storage | undefined;
  readonly edgeStorage?: Storage | undefined;
}

/** The normal form of a problem: every field present, valid and frozen. Two equal problems have equal normal forms. */
export interface Problem {
  /** Lengths of the D axes, fastest first. */
  readonly size: readonly number[];
  /** One per axis; of an r2c problem the first axis is `r2c`, the others `c2c`. */
  readonly transform: readonly TransformKind[];
  readonly omit: readonly boolean[];
  readonly precision: Precision;
  readonly storage: Storage;
  readonly edgeStorage: Storage;
  readonly layout: Sides<ComplexLayout>;
  readonly batches: number;
  readonly leftBatches: number;
  readonly coordinates: number;
  readonly placement: Placement;
  /** Always false in place, where there is no separate input to preserve. */
  readonly preserveInput: boolean;
  /** D + 3 entries `[left, axis 0, …, axis D−1, coordinate, batch]` in elements of that side's type. */
  readonly strides: Sides<readonly number[]>;
  /** In elements of that side's type. */
  readonly offsets: Sides<number>;
  readonly normalize: boolean;
  readonly scale: { readonly [S in Direction]: number };
  readonly directions: Directions;
  readonly unordered: boolean;
  readonly strategy: Strategy;
  /** The block of each axis, `null` where it has none. */
  readonly zeroPadding: { readonly space: readonly (Block | null)[]; readonly frequency: readonly (Block | null)[] };
  /** What the functions have built; `null` where there are none. */
  readonly callbacks: BuiltCallbacks | null;
  /** `null` where the plan does not convolve. */
  readonly convolution: Convolution | null;
  /** What differs from the planner's own choice, in the order of `Tuning`; `groupedBatch` as a list. */
  readonly tuning: Tuning;
  readonly debug: boolean;
}
