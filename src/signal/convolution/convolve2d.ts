/** Convolution and correlation of two images with boundaries, as `scipy.signal.convolve2d` and `correlate2d`. */

import { readOptions } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import {
  type ArrayInput,
  asArray,
  dtypeOf,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
} from '../../numpy/array.ts';
import { checkLength } from '../../numpy/axes.ts';
import { checkDevice, sharedDevice } from '../../numpy/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import type { ComplexNumber } from '../chirp-z/curve.ts';
import { type ConvolutionMode, type ConvolutionOptions, type Convolved, regionOf, reversed } from './convolve.ts';
import { convolved } from './overlap-save.ts';

export interface Convolution2dOptions extends ConvolutionOptions {
  /** What the first image is beyond its edges: `fillvalue` (`fill`, the default), itself again (`wrap`), or mirrored (`symm`). */
  readonly boundary?: 'fill' | 'wrap' | 'symm' | undefined;
  /** The value of `fill`; default 0. */
  readonly fillvalue?: ComplexNumber | undefined;
}

/** Elements of a kernel up to which sums of products are faster than transforms, and as exact as can be. */
const DIRECT = 64;

type NumberPair = readonly [number, number];

/**
 * Convolution of two images, out[i, j] = Σ y[k, l] · x[i − k, j − l], x going on beyond its edges as `boundary` says. Options, defaults and results are
 * those of `scipy.signal.convolve2d`. Small kernels are summed, large ones transformed.
 *
 * @param x real or complex, with two axes; it must stay as it is until the promise resolves
 * @param y with two axes
 * @throws FftError (as a rejection) `wrong-length` for other numbers of axes, `invalid-argument` for options out of range or, with `valid`, two images
 *   neither of which holds the other, and those of `fftconvolve`
 */
export async function convolve2d<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: Convolution2dOptions = {},
): Promise<Convolved<X, Y>> {
  return (await images('convolve2d', asArray(x), asArray(y), options)) as Convolved<X, Y>;
}

/**
 * Cross-correlation of two images, out[i, j] = Σ conj(y[k, l]) · x[i + k, j + l], from where y reaches into x with its last element. Options, defaults and
 * results are those of `scipy.signal.correlate2d`.
 * @throws FftError (as a rejection) as `convolve2d`
 */
export async function correlate2d<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: Convolution2dOptions = {},
): Promise<Convolved<X, Y>> {
  return (await images('correlate2d', asArray(x), asArray(y), options)) as Convolved<X, Y>;
}

async function images(what: string, x: NumpyArray, y: NumpyArray, options: Convolution2dOptions): Promise<NumpyArray> {
  const own = readOptions(options, { works: ['mode', 'boundary', 'fillvalue', 'device'] }, what, 2);
  const device = checkDevice(own.device);
  const mode = checkWord<ConvolutionMode>('mode', own.mode ?? 'full', ['full', 'same', 'valid']);
  const boundary = checkWord('boundary', own.boundary ?? 'fill', ['fill', 'wrap', 'symm'] as const);
  for (const [path, { shape }] of [
    ['x', x],
    ['y', y],
  ] as const) {
    shape.forEach((length, d) => checkLength(length, `The length of axis ${d}`));
    if (shape.length === 2) continue;
    throw new FftError('wrong-length', `${path} has ${shape.length} axes; ${what} takes 2.`, { path });
  }
  const fill = readFill(own.fillvalue ?? 0);
  const correlates = what === 'correlate2d';
  const { shape } = regionOf(mode, x.shape, y.shape) as unknown as { shape: NumberPair };
  // Of `valid`, the larger image is the one that the smaller one moves in.
  const swapped = mode === 'valid' && y.shape.some((length, d) => length > x.shape[d]!);
  const [image, kernel] = swapped ? [y, x] : [x, y];
  const weights = correlates ? conjugateArray(kernel) : flipped(kernel);
  const offsets = kernel.shape.map((length) => {
    if (mode === 'valid') return 0;
    if (mode === 'full') return 1 - length;
    return correlates ? -Math.floor((length - 1) / 2) : -Math.ceil((length - 1) / 2);
  });
  const wide = extended(image, offsets as unknown as NumberPair, shape, kernel.shape, boundary, fill);
  const sum = await summed(wide, weights, shape, device);
  if (!swapped || !correlates) return sum;
  // The first image has moved over the second one: the other way round.
  return reversed(sum);
}

function readFill(given: ComplexNumber): NumberPair {
  const pair = typeof given === 'number' ? [given, 0] : [given?.re, given?.im];
  check('fillvalue', given, pair.every(Number.isFinite), 'a finite number, or its parts re and im');
  return pair as unknown as NumberPair;
}

/** The other way round, as a kernel that is correlated with stands for one that is convolved with. */
function flipped(kernel: NumpyArray): NumpyArray {
  return conjugateArray(reversed(kernel));
}

function conjugateArray({ data, shape, dtype }: NumpyArray): NumpyArray {
  if (!isComplex(dtype)) return { data, shape, dtype } as NumpyArray;
  return { data: data.map((value, k) => (k % 2 === 1 ? -value : value)), shape, dtype } as NumpyArray;
}

/** An image with all that a kernel reaches around a part of it. */
function extended(
  { data, shape, dtype }: NumpyArray,
  offsets: NumberPair,
  out: NumberPair,
  kernel: readonly number[],
  boundary: 'fill' | 'wrap' | 'symm',
  fill: NumberPair,
): NumpyArray {
  const single = isSingle(dtype);
  const complex = isComplex(dtype) || (boundary === 'fill' && fill[1] !== 0);
  const [height, width] = out.map((length, d) => length + kernel[d]! - 1) as unknown as [number, number];
  const [rows, columns] = [height, width].map((length, d) =>
    Array.from({ length }, (_, k) => placeIn(k + offsets[d]!, shape[d]!, boundary)),
  ) as [number[], number[]];
  const parts = complex ? 2 : 1;
  const own = isComplex(dtype) ? 2 : 1;
  const result = floatZeros(height * width * parts, single);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const isInside = rows[row]! >= 0 && columns[column]! >= 0;
      const from = own * (rows[row]! * shape[1]! + columns[column]!);
      for (let part = 0; part < parts; part++) {
        const inner = part < own ? data[from + part]! : 0;
        result[parts * (row * width + column) + part] = isInside ? inner : fill[part]!;
      }
    }
  }
  return { data: result, shape: [height, width], dtype: dtypeOf(complex, single) } as NumpyArray;
}

/** Which element stands at an index, beyond the ends too; −1 where there is none. */
function placeIn(index: number, length: number, boundary: 'fill' | 'wrap' | 'symm'): number {
  if (index >= 0 && index < length) return index;
  if (boundary === 'fill') return -1;
  const period = boundary === 'wrap' ? length : 2 * length;
  const place = index - period * Math.floor(index / period);
  return place < length ? place : period - 1 - place;
}

/** Σ weights[k, l] · wide[i + k, j + l]. */
async function summed(
  wide: NumpyArray,
  weights: NumpyArray,
  out: NumberPair,
  device: Device | undefined,
): Promise<NumpyArray> {
  const [rows, columns] = weights.shape as NumberPair;
  if (rows * columns <= DIRECT) return directly(wide, weights, out);
  const region = { origin: [rows - 1, columns - 1], shape: [...out] };
  const cut = { axis: 0, step: Number.POSITIVE_INFINITY };
  const kernel = flipped(weights);
  return convolved({ signal: wide, kernel, region, cut, correlates: false }, device ?? (await sharedDevice()));
}

function directly(wide: NumpyArray, weights: NumpyArray, out: NumberPair): NumpyArray {
  const single = isSingle(wide.dtype) && isSingle(weights.dtype);
  const [image, kernel] = [partPlanes(wide), partPlanes(weights)];
  const parts = Math.max(image.length, kernel.length);
  const sums = Array.from({ length: parts }, () => floatZeros(out[0] * out[1], false));
  for (const [p, plane] of image.entries()) {
    for (const [q, factors] of kernel.entries()) {
      const signed = p === 1 && q === 1 ? factors.map((value) => -value) : factors;
      addProducts({ data: plane, shape: wide.shape }, { data: signed, shape: weights.shape }, sums[p ^ q]!, out);
    }
  }
  const data = floatZeros(out[0] * out[1] * parts, single);
  sums.forEach((sum, part) => {
    for (let k = 0; k < sum.length; k++) data[k * parts + part] = sum[k]!;
  });
  return { data, shape: [...out], dtype: dtypeOf(parts === 2, single) } as NumpyArray;
}

/** Real parts, and imaginary ones where there are any. */
function partPlanes({ data, dtype }: NumpyArray): Floats[] {
  if (!isComplex(dtype)) return [data];
  return [0, 1].map((part) => data.filter((_, k) => k % 2 === part));
}

interface Plane {
  readonly data: Floats;
  readonly shape: readonly number[];
}

/** Products with each weight, row by row. */
function addProducts(wide: Plane, weights: Plane, sum: Floats, [height, width]: NumberPair): void {
  const columns = weights.shape[1]!;
  for (let i = 0; i < height; i++) {
    for (const [k, weight] of weights.data.entries()) {
      const from = (i + Math.floor(k / columns)) * wide.shape[1]! + (k % columns);
      const to = i * width;
      for (let j = 0; j < width; j++) sum[to + j]! += weight * wide.data[from + j]!;
    }
  }
}
