/** Convolutions over some axes of two arrays: along the other axes the arrays are matched element by element, and lengths of 1 are repeated. */
import type { Device } from '../../engine/index.ts';
import { elementCount, floatZeros, isComplex, isSingle, type NumpyArray } from '../../numpy/arrays/array.ts';
import { resolveDistinctAxes } from '../../numpy/calls/axes.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import type { Floats } from '../arguments/floats.ts';
import { type ConvolvedArrays, convolved, type Region } from './overlap-save.ts';

/** The convolution of two slices, which span the convolved axes; shapes are those of the first slices. */
export interface AxesConvolution {
  readonly x: NumpyArray;
  readonly y: NumpyArray;
  /** @param how which of x and y is the signal, and how it is cut into blocks */
  readonly convolved: (how: Omit<ConvolvedArrays, 'region'>, region: Region, device: Device) => Promise<NumpyArray>;
}

/** An array whose convolved axes have been moved behind the others. */
interface Sliced {
  readonly array: NumpyArray;
  /** Lengths of the axes that are not convolved. */
  readonly outer: readonly number[];
  /** Lengths of the convolved axes. */
  readonly shape: readonly number[];
}

/** @throws FftError `invalid-argument` for axes that do not exist, no axes, or lengths that do not match */
export function overAxes(x: NumpyArray, y: NumpyArray, given: readonly number[]): AxesConvolution {
  const axes = resolveDistinctAxes(given, x.shape.length);
  if (axes.length === 0) {
    throw new FftError('invalid-argument', 'axes is []; at least one axis is convolved over.', { path: 'axes' });
  }
  const others = x.shape.map((_, d) => d).filter((d) => !axes.includes(d));
  const differing = others.find((d) => x.shape[d] !== y.shape[d] && x.shape[d] !== 1 && y.shape[d] !== 1);
  if (differing !== undefined) {
    const shapes = `[${excerpt(x.shape.join(', '))}] and [${excerpt(y.shape.join(', '))}]`;
    const message = `The shapes ${shapes} differ along axis ${differing}, which is not convolved over: lengths there are equal, or one is 1.`;
    throw new FftError('invalid-argument', message, { path: 'axes' });
  }
  const order = [...others, ...axes];
  const [a, b] = [slicedAs(x, order, others.length), slicedAs(y, order, others.length)];
  const outer = a.outer.map((length, d) => Math.max(length, b.outer[d]!));
  const [first, second] = [sliceOf(a, 0), sliceOf(b, 0)];
  return {
    ...{ x: first, y: second },
    convolved: async (how, region, device) => {
      const swapped = how.signal === second;
      const data = await convolveSlices(swapped ? [b, a] : [a, b], outer, how, region, device);
      const shape = [...outer, ...region.shape];
      const result = { data, shape, dtype: commonDtype(x, y) } as NumpyArray;
      return permuteAxes(
        result,
        shape.map((_, d) => order.indexOf(d)),
      );
    },
  };
}

function commonDtype(x: NumpyArray, y: NumpyArray): NumpyArray['dtype'] {
  const single = isSingle(x.dtype) && isSingle(y.dtype);
  if (isComplex(x.dtype) || isComplex(y.dtype)) return single ? 'complex64' : 'complex128';
  return single ? 'float32' : 'float64';
}

function slicedAs(array: NumpyArray, order: readonly number[], outer: number): Sliced {
  const moved = permuteAxes(array, order);
  return { array: moved, outer: moved.shape.slice(0, outer), shape: moved.shape.slice(outer) };
}

function sliceOf({ array, shape }: Sliced, slice: number): NumpyArray {
  const numbers = elementCount(shape) * (isComplex(array.dtype) ? 2 : 1);
  const data = array.data.subarray(slice * numbers, (slice + 1) * numbers);
  return { data, shape, dtype: array.dtype } as NumpyArray;
}

/**
 * Convolves each slice of the kernel with all signal slices that it is matched with: in one call where each is matched with one.
 * @returns the results, one after another
 */
async function convolveSlices(
  [signal, kernel]: readonly [Sliced, Sliced],
  outer: readonly number[],
  how: Omit<ConvolvedArrays, 'region'>,
  region: Region,
  device: Device,
): Promise<Floats> {
  const single = isSingle(signal.array.dtype) && isSingle(kernel.array.dtype);
  const parts = isComplex(signal.array.dtype) || isComplex(kernel.array.dtype) ? 2 : 1;
  const numbers = elementCount(region.shape) * parts;
  const data = floatZeros(elementCount(outer) * numbers, single);
  // For each kernel slice, the positions of its results and of its signal slices.
  const meetings = new Map<number, number[]>();
  for (let place = 0; place < elementCount(outer); place++) {
    const own = broadcastPlace(place, outer, kernel.outer);
    const places = meetings.get(own);
    if (places) places.push(place);
    else meetings.set(own, [place]);
  }
  if (meetings.size > 1 && meetings.size === elementCount(outer)) {
    const places = [...Array(meetings.size).keys()];
    const stacked = (array: Sliced) =>
      stackedSlices(
        array,
        places.map((place) => broadcastPlace(place, outer, array.outer)),
      );
    const pairs = { signal: stacked(signal), kernel: stacked(kernel) };
    const one = { ...how, ...pairs, slices: places.length, ownKernels: true, region };
    return (await convolved(one, device)).data as Floats;
  }
  for (const [own, places] of meetings) {
    const stacked = stackedSlices(
      signal,
      places.map((place) => broadcastPlace(place, outer, signal.outer)),
    );
    const slices = { ...how, signal: stacked, kernel: sliceOf(kernel, own), slices: places.length, region };
    const results = await convolved(slices, device);
    for (const [k, place] of places.entries()) {
      data.set(results.data.subarray(k * numbers, (k + 1) * numbers), place * numbers);
    }
  }
  return data;
}

/** Slices one after another, with the shape of a single slice. */
function stackedSlices(signal: Sliced, slices: readonly number[]): NumpyArray {
  if (slices.length === 1) return sliceOf(signal, slices[0]!);
  const first = sliceOf(signal, slices[0]!);
  const data = floatZeros(first.data.length * slices.length, isSingle(first.dtype));
  for (const [k, slice] of slices.entries()) data.set(sliceOf(signal, slice).data, k * first.data.length);
  return { ...first, data } as NumpyArray;
}

/** An index among slices as an index in an array that is repeated along axes of length 1. */
function broadcastPlace(place: number, outer: readonly number[], own: readonly number[]): number {
  let [rest, at, stride] = [place, 0, 1];
  for (let d = outer.length - 1; d >= 0; d--) {
    if (own[d] !== 1) at += (rest % outer[d]!) * stride;
    rest = Math.floor(rest / outer[d]!);
    stride *= own[d]!;
  }
  return at;
}

/** The same array with its axes permuted: axis d of the result is axis order[d]. */
function permuteAxes(array: NumpyArray, order: readonly number[]): NumpyArray {
  if (order.every((axis, d) => axis === d)) return array;
  const { data, shape, dtype } = array;
  const parts = isComplex(dtype) ? 2 : 1;
  const strides = shape.map((_, d) => elementCount(shape.slice(d + 1)));
  const lengths = order.map((axis) => shape[axis]!);
  const steps = order.map((axis) => strides[axis]!);
  const result = floatZeros(data.length, isSingle(dtype));
  const index = lengths.map(() => 0);
  for (let to = 0, from = 0; to < data.length; to += parts) {
    for (let part = 0; part < parts; part++) result[to + part] = data[from * parts + part]!;
    for (let d = lengths.length - 1; d >= 0; d--) {
      from += steps[d]!;
      if (++index[d]! < lengths[d]!) break;
      from -= lengths[d]! * steps[d]!;
      index[d] = 0;
    }
  }
  return { data: result, shape: lengths, dtype } as NumpyArray;
}
