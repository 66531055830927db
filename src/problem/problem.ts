/**
 * The problem as a user writes it (`ProblemInput`), and its normal form, which the rest of the library reads (`Problem`). This file has only
 * types and lists of accepted words; normalize.ts makes normal forms.
 */

import type { BuiltCallbacks, Callbacks } from './callbacks.ts';
import type { Direction, Directions } from './directions.ts';

/** The arithmetic of a plan. */
export const precisions = ['single', 'double', 'double-double'] as const;
export type Precision = (typeof precisions)[number];

/** The formats of numbers in memory. */
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

/** The choice of a plan: by estimated prices, by timing the best few candidates on the device, or for the least temp memory. */
export const strategies = ['fast', 'measure', 'least-memory'] as const;
export type Strategy = (typeof strategies)[number];

/** The sides of a problem: `input` is read by the forward transform and written by the inverse; `output` is the other one. */
export const sides = ['input', 'output'] as const;
export type Side = (typeof sides)[number];

/** One value for each side of a problem. */
export interface Sides<T> {
  readonly input: T;
  readonly output: T;
}

/** Knobs of the planner, for users who know better on one device; docs/tuning.md explains each. */
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
  /** The number of parts that a run of memory may be cut into for a longer upload: 1 to 64, or −1 for any number. */
  readonly performBandwidthBoost?: number | undefined;
  /** Plan the innermost axis like the others. */
  readonly considerAllAxesStrided?: boolean | undefined;
  /** Roots of unity from tables, or computed where a device has exact sines. */
  readonly twiddles?: 'table' | 'computed' | undefined;
  /** The same for twiddles of the four-step algorithm, between the uploads of an axis. Default: as `twiddles`. */
  readonly twiddles4Step?: 'table' | 'computed' | undefined;
  /** Streams that launches are spread over, from 1 to 128, where a device has several. */
  readonly streams?: number | undefined;
  /**
   * The factor by which registers extend shared memory where an axis has one upload. 1: not at all; 2, 3: twice; from 4 on: four times, where
   * all axes are complex powers of two.
   */
  readonly registerBoost?: number | undefined;
  /** False: not for lengths that are not powers of two. */
  readonly registerBoostNonPow2?: boolean | undefined;
  /** The same factor in each of several uploads. */
  readonly registerBoost4Step?: number | undefined;
  /** The most groups in one dimension of a launch; more groups fold over the other dimensions, and over launches. */
  readonly maxGroups?: number | undefined;
  /**
   * Lengths of convolutions by Bluestein's algorithm: products of primes up to `maxRadix`; or `length`; or by `pattern`, whose entries have a
   * length for axes of `from` points on, up to the next entry. If a convolution takes several launches, `separate` splits the launch in the
   * middle into the end of the first transform and the beginning of the inverse; `six` also gives chirp and padding, the product, and chirp
   * and crop launches of their own.
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
   * Ranges of primes, both ends included, that are multiplied as radices (`multiply`), or convolved as radices and lengths (`convolve`). A
   * range of `multiply` only affects primes up to 13 if it ends beyond 13.
   */
  readonly rader?:
    | {
        readonly multiply?: readonly [number, number] | undefined;
        readonly convolve?: readonly [number, number] | undefined;
      }
    | undefined;
  /**
   * True: two real sequences of a batch may go through one complex transform, as its real and its imaginary part, where that is faster. They
   * are no longer independent then: rounding errors are relative to the larger one, and a NaN or an infinity spoils both. By default every
   * sequence is transformed by itself.
   */
  readonly mergeSequences?: boolean | undefined;
}

/** Elements along an axis: from `from` up to `to`, not included. */
export interface Block {
  readonly from: number;
  readonly to: number;
}

/** The convolution of a plan. */
export interface Convolution {
  /**
   * A number: the kernels that each signal is convolved with; the result has batches × kernels systems, the kernels slowest. A word: each
   * coordinate, each batch, or each coordinate of each batch has a kernel of its own, and the result has the signal's shape.
   */
  readonly kernels: number | 'per-coordinate' | 'per-batch' | 'per-both';
  /** Rows and columns of the kernel's matrix at each point, which multiplies the coordinates of the signal. */
  readonly matrix: 1 | 2 | 3;
  /** Whether only the upper triangle of the matrix is stored. */
  readonly symmetric: boolean;
  /** The spectrum that is conjugated before the product. */
  readonly conjugate: 'none' | 'signal' | 'kernel';
  /** Whether each product is divided by its magnitude. */
  readonly crossPower: boolean;
  /**
   * The kernel that a call is given. `prepared`: a result of `prepareKernel`. `user`: the caller's memory with the spectrum of the kernel,
   * bins in their natural order.
   */
  readonly kernelSpectrum: 'prepared' | 'user';
  /**
   * The channels of a spectral layer, as in Fourier neural operators: some bins of the spectrum of `in` coordinates are kept (`modes`), each
   * is multiplied by a matrix of in × out complex numbers, and all other bins are zero. `null` for other convolutions.
   */
  readonly channels: { readonly in: number; readonly out: number } | null;
  /**
   * The number of bins at either end of each axis that a spectral layer keeps: 0 … m − 1 and −m … −1; along the first axis of reals only 0 … m
   * − 1. `null` where there are no channels.
   */
  readonly modes: readonly number[] | null;
}

/** A band of bins: a weight for each bin from `from` on. */
export interface Band {
  readonly from: number;
  readonly weights: readonly number[];
}

type PartialSides<T> = { readonly [S in Side]?: T | undefined };

/**
 * The language of problems, whether this release computes them (`ProblemInput`) or not. Only `size` is required.
 *
 * The tensor is `leftBatches × size[0] × … × size[D−1] × coordinates × batches`, in order of increasing default stride:
 * axes are listed **fastest first**.
 */
export interface AnyProblemInput {
  /** Lengths of the D ≥ 1 axes, fastest first. */
  readonly size: readonly number[];
  /**
   * The transform. `c2c`: complex to complex. `r2c`: `size[0]` reals on the `input` side, ⌊size[0]/2⌋ + 1 complex bins on the `output` side,
   * and complex transforms along the other axes. `dct1` … `dst4`: FFTW's cosine and sine transforms, `dht`: its discrete Hartley transform,
   * reals on both sides; one word for all axes, or one for each. Default `c2c`.
   */
  readonly transform?: TransformKind | readonly TransformKind[] | undefined;
  /** Axes of `size` that are not transformed but only stepped over, one flag per axis. Default: no axis. */
  readonly omit?: readonly boolean[] | undefined;
  /** Arithmetic; `half` is short for single arithmetic over half storage. Default `single`. */
  readonly precision?: Storage | undefined;
  /** The format of work and temp memory. Default: the precision. */
  readonly storage?: Storage | undefined;
  /** The format of input and output memory. Default: the storage. */
  readonly edgeStorage?: Storage | undefined;
  /** The layout of complex numbers, for both sides or for each. Default `interleaved`. */
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
   * D + 2 entries `[left, axis 0, …, axis D−1, batch]`, or D + 3 with the coordinate stride before the batch (required when `coordinates >
   * 1`), in elements of that side's own type: reals where it holds reals, complex numbers elsewhere. A negative stride walks backwards from
   * the offset; 0 reads the same elements again, on a side that is never written. Default: packed; for `r2c` in place, each row of reals has
   * room for its bins, 2(⌊size[0]/2⌋ + 1) reals. In place, the strides of one side hold for both, but `r2c` needs both.
   */
  readonly strides?: PartialSides<readonly number[]> | undefined;
  /**
   * The place in each buffer of the element whose indices are all 0, in elements of that side's own type, as strides. Default 0. With negative
   * strides, other elements lie in front of it.
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
   * Leave the bins of an axis in several uploads where the uploads put them; `plan.output.order` tells their places. Real-to-real transforms,
   * and real ones that gain nothing by it, have their bins in order. Default false.
   */
  readonly unordered?: boolean | undefined;
  /**
   * Blocks of zeros: one entry for each axis, fastest first, `null` for an axis without one. An element lies in the block of a side if it does
   * so along any axis; it counts as zero where it would be read, and is not touched where it would be written.
   */
  readonly zeroPadding?:
    | {
        /** Blocks of the `input` side. */
        readonly space?: readonly (Block | null)[] | undefined;
        /** Blocks of the `output` side. */
        readonly frequency?: readonly (Block | null)[] | undefined;
      }
    | undefined;
  /**
   * Functions of single elements, fused into what the first launch of a direction reads and what its last launch writes, and the
   * arrays that they load from: docs/callbacks.md. Default none.
   */
  readonly callbacks?: Callbacks | null | undefined;
  /**
   * Weighted sums over bins, which the plan writes in place of the bins: for mel spectra, the filters. A matrix [bands × bins], row by row (a
   * Float32Array or Float64Array), or a list of bands, each as its first bin and the weights from there on. Of each bin the sums take the
   * real that `callbacks.forward.bin` returns; without that callback, re² + im². Along its axis, the `output` side then has an element for
   * each band, a real; `callbacks.forward.store` is given the sums. Only for the forward direction of one axis, out of place. Default none.
   */
  readonly bands?:
    | Float32Array
    | Float64Array
    | readonly { readonly from: number; readonly weights: readonly number[] | Float32Array | Float64Array }[]
    | null
    | undefined;
  /**
   * The plan also convolves (`prepareKernel`, `convolve`), with `kernels` kernels (default 1). They are numbers, or matrices of `matrix` rows
   * (default 1: numbers), of which `symmetric` ones store their upper triangle only. `conjugate` conjugates the spectrum of the signal or the
   * kernel (a correlation); `crossPower` divides each product by its magnitude, or makes it 0 where that is 0. With `channels` and `modes` the
   * plan is a spectral layer, which only convolves: it has no `forward` and `inverse`, its input side holds the signal, with `in` coordinates,
   * and its output side the result, with `out` coordinates, of reals for reals.
   */
  readonly convolution?: { readonly [F in keyof Convolution]?: Convolution[F] | undefined } | null | undefined;
  /**
   * `fast`: the plan with the least estimated price. `measure`: the best few candidates are timed on the device, which takes a second or two,
   * and the fastest is kept (FFTW's MEASURE). `least-memory`: the plan with the least temp memory (`plan.bytes.temp`) that the planner can
   * find. Default `fast`.
   */
  readonly strategy?: Strategy | undefined;
  /** Knobs of the planner. Default: none is set. */
  readonly tuning?: Tuning | undefined;
  /** Verify each kernel that is made. Default false. */
  readonly debug?: boolean | undefined;
}

/** A problem as a user writes it, within the part of the language that this release computes. */
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
  /** The transform of each axis; for an r2c problem the first axis is `r2c`, the others `c2c`. */
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
  /** The place of the element with all indices 0, in elements of that side's type. */
  readonly offsets: Sides<number>;
  readonly normalize: boolean;
  readonly scale: { readonly [S in Direction]: number };
  readonly directions: Directions;
  readonly unordered: boolean;
  readonly strategy: Strategy;
  /** The block of each axis, `null` for an axis without one. */
  readonly zeroPadding: { readonly space: readonly (Block | null)[]; readonly frequency: readonly (Block | null)[] };
  /** The built callbacks; `null` where there are none. */
  readonly callbacks: BuiltCallbacks | null;
  /** The bands, from the first to the last weight other than zero; `null` where there are none. */
  readonly bands: readonly Band[] | null;
  /** `null` where the plan does not convolve. */
  readonly convolution: Convolution | null;
  /** The knobs that differ from the defaults, in the order of `Tuning`; `groupedBatch` as a list. */
  readonly tuning: Tuning;
  readonly debug: boolean;
}
