/** Convolution and correlation of two images with boundaries, as `scipy.signal.convolve2d` and `correlate2d`. */

import {
  type ArrayInput,
  dtypeOf,
  elementCount,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
} from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import { type PreparedCall, PreparedCalls } from '../calls/prepared-calls.ts';
import type { ComplexNumber } from '../chirp-z/curve.ts';
import { type ConvolutionMode, type ConvolutionOptions, type Convolved, regionOf, reversed } from './convolve.ts';
import { type ConvolvedArrays, convolved, type PlannedConvolution, planOverlapSave } from './overlap-save.ts';

export interface Convolution2dOptions extends ConvolutionOptions {
  /**
   * Extension of the first image beyond its edges: the value `fillvalue` (`fill`, the default), the image repeated (`wrap`), or the image mirrored
   * (`symm`).
   */
  readonly boundary?: 'fill' | 'wrap' | 'symm' | undefined;
  /** The value of `fill`; default 0. */
  readonly fillvalue?: ComplexNumber | undefined;
}

/** The most elements of a kernel for which sums of products are faster than transforms; sums are also as exact as can be. */
const DIRECT = 64;

type NumberPair = readonly [number, number];

/**
 * Convolution of two images, out[i, j] = Σ y[k, l] · x[i − k, j − l], where x is extended beyond its edges as `boundary` says. Options, defaults and
 * results are those of `scipy.signal.convolve2d`. Small kernels are summed directly, large ones transformed.
 *
 * @param x real or complex, shape [rows, columns]; it must stay as it is until the promise resolves
 * @param y real or complex, shape [rows, columns]
 * @throws FftError (as a rejection) `wrong-length` for other numbers of axes, `invalid-argument` for options out of range or, with `valid`, two
 *   images neither of which holds the other, and the errors of `fftconvolve`
 */
export async function convolve2d<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: Convolution2dOptions = {},
): Promise<Convolved<X, Y>> {
  return (await images(calls.convolve2d.read([x, y], options))) as Convolved<X, Y>;
}

/**
 * Cross-correlation of two images, out[i, j] = Σ conj(y[k, l]) · x[i + k, j + l], from where y reaches into x with its last element. Options,
 * defaults and results are those of `scipy.signal.correlate2d`.
 * @throws FftError (as a rejection) as `convolve2d`
 */
export async function correlate2d<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: Convolution2dOptions = {},
): Promise<Convolved<X, Y>> {
  return (await images(calls.correlate2d.read([x, y], options))) as Convolved<X, Y>;
}

/** A prepared call. */
interface ImageJob {
  readonly correlates: boolean;
  /** Whether the arguments are exchanged: for `valid` the smaller image moves in the larger one. */
  readonly swapped: boolean;
  /** Lengths of the result. */
  readonly shape: NumberPair;
  readonly wide: WideImage;
  /** The plan of a convolution by transforms; undefined where the sums are computed directly. */
  readonly planned: PlannedConvolution | undefined;
}

function prepareImages(what: string, [x, y]: readonly NumpyArray[], own: Convolution2dOptions): ImageJob {
  const mode = checkWord<ConvolutionMode>('mode', own.mode ?? 'full', ['full', 'same', 'valid']);
  const boundary = checkWord('boundary', own.boundary ?? 'fill', ['fill', 'wrap', 'symm'] as const);
  for (const [path, { shape }] of Object.entries({ x: x!, y: y! })) {
    shape.forEach((length, d) => checkLength(length, `The length of axis ${d}`));
    if (shape.length === 2) continue;
    throw new FftError('wrong-length', `${path} has ${shape.length} axes; ${what} takes 2.`, { path });
  }
  const fill = readFill(own.fillvalue ?? 0);
  const correlates = what === 'correlate2d';
  const { shape } = regionOf(mode, x!.shape, y!.shape) as unknown as { shape: NumberPair };
  const swapped = mode === 'valid' && y!.shape.some((length, d) => length > x!.shape[d]!);
  const [image, kernel] = swapped ? [y!, x!] : [x!, y!];
  const offsets = kernel.shape.map((length) => {
    if (mode === 'valid') return 0;
    if (mode === 'full') return 1 - length;
    return correlates ? -Math.floor((length - 1) / 2) : -Math.ceil((length - 1) / 2);
  });
  const [rows, columns] = shape.map((length, d) =>
    Int32Array.from({ length: length + kernel.shape[d]! - 1 }, (_, k) =>
      placeIn(k + offsets[d]!, image.shape[d]!, boundary),
    ),
  ) as [Int32Array, Int32Array];
  const single = isSingle(image.dtype);
  const dtype = dtypeOf(isComplex(image.dtype) || (boundary === 'fill' && fill[1] !== 0), single);
  const job = { correlates, swapped, shape, wide: { rows, columns, fill, dtype } };
  const isDirect = elementCount(kernel.shape) <= DIRECT;
  return { ...job, planned: isDirect ? undefined : planOverlapSave(asConvolution(job, image, kernel)) };
}

/** Convolves the image with its extension; only the type of the image matters here. */
function asConvolution(
  { correlates, shape, wide }: Omit<ImageJob, 'planned'>,
  image: NumpyArray,
  kernel: NumpyArray,
): ConvolvedArrays {
  const { rows, columns, dtype } = wide;
  return {
    signal: { ...image, shape: [rows.length, columns.length], dtype } as NumpyArray,
    kernel: correlates ? reversed(kernel) : kernel,
    region: { origin: kernel.shape.map((length) => length - 1), shape: [...shape] },
    ...{ cut: { axis: 0, step: Number.POSITIVE_INFINITY }, correlates: false },
  };
}

const imageConvolution = (what: 'convolve2d' | 'correlate2d') =>
  /* @__PURE__ */ new PreparedCalls<Convolution2dOptions, ImageJob>({
    ...{ name: what, works: ['mode', 'boundary', 'fillvalue', 'device'], levels: 2 },
    prepare: (arrays, own) => prepareImages(what, arrays, own),
    bytesOf: ({ wide: { rows, columns } }) => 4 * (rows.length + columns.length),
  });
const calls = {
  convolve2d: /* @__PURE__ */ imageConvolution('convolve2d'),
  correlate2d: /* @__PURE__ */ imageConvolution('correlate2d'),
};

async function images({ arrays, job, device }: PreparedCall<ImageJob>): Promise<NumpyArray> {
  const [x, y] = arrays as [NumpyArray, NumpyArray];
  const { swapped, correlates, shape, planned } = job;
  const [given, kernel] = swapped ? [y, x] : [x, y];
  const image = extended(given, job.wide);
  const sum = planned
    ? await convolved(asConvolution(job, image, kernel), device ?? (await sharedDevice()), planned)
    : directly(image, correlates ? conjugateArray(kernel) : conjugateArray(reversed(kernel)), shape);
  // Where the first image moves over the second one, the result is reversed.
  return swapped && correlates ? reversed(sum) : sum;
}

function readFill(given: ComplexNumber): NumberPair {
  const pair = typeof given === 'number' ? [given, 0] : [given?.re, given?.im];
  check('fillvalue', given, pair.every(Number.isFinite), 'a finite number, or its parts re and im');
  return pair as unknown as NumberPair;
}

function conjugateArray({ data, shape, dtype }: NumpyArray): NumpyArray {
  if (!isComplex(dtype)) return { data, shape, dtype } as NumpyArray;
  return { data: data.map((value, k) => (k % 2 === 1 ? -value : value)), shape, dtype } as NumpyArray;
}

/** The extended image around the part that a kernel reaches: the source row and column at each position, −1 outside. */
interface WideImage {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly fill: NumberPair;
  readonly dtype: NumpyArray['dtype'];
}

function extended({ data, shape, dtype }: NumpyArray, { rows, columns, fill, dtype: wide }: WideImage): NumpyArray {
  const [parts, own] = [isComplex(wide) ? 2 : 1, isComplex(dtype) ? 2 : 1];
  const [height, width, length] = [rows.length, columns.length, shape[1]!];
  const result = floatZeros(height * width * parts, isSingle(wide));
  // Adjacent columns of the image are copied together.
  const begin = parts === own ? Math.max(0, columns.indexOf(0)) : 0;
  let end = begin;
  if (parts === own) while (end < width && columns[end] === columns[begin]! + end - begin && columns[end]! >= 0) end++;
  const one = (row: number, column: number, to: number) => {
    const isInside = row >= 0 && column >= 0;
    const from = own * (row * length + column);
    for (let part = 0; part < parts; part++) {
      const inner = part < own ? data[from + part]! : 0;
      result[to + part] = isInside ? inner : fill[part]!;
    }
  };
  for (let i = 0; i < height; i++) {
    const row = rows[i]!;
    const to = i * width * parts;
    const isCopied = row >= 0 && end > begin;
    if (isCopied) {
      const from = own * (row * length + columns[begin]!);
      result.set(data.subarray(from, from + own * (end - begin)), to + own * begin);
    }
    for (let j = 0; j < width; j++) if (!isCopied || j < begin || j >= end) one(row, columns[j]!, to + j * parts);
  }
  return { data: result, shape: [height, width], dtype: wide } as NumpyArray;
}

/** The element at an index, also beyond the ends; −1 where there is none. */
function placeIn(index: number, length: number, boundary: 'fill' | 'wrap' | 'symm'): number {
  if (index >= 0 && index < length) return index;
  if (boundary === 'fill') return -1;
  const period = boundary === 'wrap' ? length : 2 * length;
  const place = index - period * Math.floor(index / period);
  return place < length ? place : period - 1 - place;
}

/** Σ weights[k, l] · wide[i + k, j + l]. */
function directly(wide: NumpyArray, weights: NumpyArray, out: NumberPair): NumpyArray {
  const single = isSingle(wide.dtype) && isSingle(weights.dtype);
  const [image, kernel] = [partPlanes(wide), partPlanes(weights)];
  const parts = Math.max(image.length, kernel.length);
  const sums = Array.from({ length: parts }, () => floatZeros(out[0] * out[1], false));
  for (const [p, plane] of image.entries()) {
    for (const [q, factors] of kernel.entries()) {
      const signed = p === 1 && q === 1 ? factors.map((value) => -value) : factors;
      addWeightedRows({ data: plane, shape: wide.shape }, { data: signed, shape: weights.shape }, sums[p ^ q]!, out);
    }
  }
  const data = floatZeros(out[0] * out[1] * parts, single);
  sums.forEach((sum, part) => {
    for (let k = 0; k < sum.length; k++) data[k * parts + part] = sum[k]!;
  });
  return { data, shape: [...out], dtype: dtypeOf(parts === 2, single) } as NumpyArray;
}

/** Real parts, and imaginary parts where there are any. */
function partPlanes({ data, dtype }: NumpyArray): Floats[] {
  if (!isComplex(dtype)) return [data];
  return [0, 1].map((part) => data.filter((_, k) => k % 2 === part));
}

interface Plane {
  readonly data: Floats;
  readonly shape: readonly number[];
}

/** Products with each weight, row by row. */
function addWeightedRows(wide: Plane, weights: Plane, sum: Floats, [height, width]: NumberPair): void {
  const [columns, step] = [weights.shape[1]!, wide.shape[1]!];
  const { data } = wide;
  const factors = weights.data;
  for (let i = 0; i < height; i++) {
    const to = i * width;
    for (let k = 0; k < factors.length; k++) {
      const weight = factors[k]!;
      const from = (i + Math.floor(k / columns)) * step + (k % columns);
      for (let j = 0; j < width; j++) sum[to + j]! += weight * data[from + j]!;
    }
  }
}
