/** Medians over the neighbourhood of each element, as `scipy.signal.medfilt` and `medfilt2d`. */
import {
  type ArrayInput,
  asArray,
  elementCount,
  floatZeros,
  isSingle,
  type NumpyArray,
} from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger } from '../arguments/check.ts';
import { realArray } from '../arguments/coefficients.ts';
import type { Filtered } from './lfilter.ts';

/** The most elements of a window: its sorted values are moved one by one. */
const MOST_ELEMENTS = 2 ** 16;

/**
 * The median of the window around each element, as `scipy.signal.medfilt`; elements beyond the ends count as 0.
 *
 * @param volume real, of any shape. Single precision stays single; an element whose window contains a NaN becomes NaN
 * @param kernelSize odd lengths of the window: one for all axes, or one for each; default 3
 * @throws FftError `invalid-argument` for lengths that are not odd integers, `wrong-length` for another number of them than there are axes,
 *   `wrong-array-type` for complex arrays too, `detached-array`, `out-of-memory`
 */
export function medfilt<X extends ArrayInput>(volume: X, kernelSize: number | readonly number[] = 3): Filtered<X> {
  const array = realArray(volume, 'volume');
  const { shape } = array;
  const sizes = typeof kernelSize === 'number' ? shape.map(() => kernelSize) : kernelSize;
  check('kernelSize', kernelSize, Array.isArray(sizes), 'an odd integer, or a list of them');
  if (sizes.length !== shape.length || shape.length === 0) {
    const message = `kernelSize has ${sizes.length} lengths; the array has ${shape.length} axes, and needs at least one.`;
    throw new FftError('wrong-length', message, { path: 'kernelSize' });
  }
  for (const size of sizes) {
    checkInteger('kernelSize', size, 1, MOST_ELEMENTS);
    check('kernelSize', size, size % 2 === 1, 'odd integers');
  }
  check('kernelSize', sizes, elementCount(sizes) <= MOST_ELEMENTS, `at most ${MOST_ELEMENTS} elements in all`);
  return medians(array, sizes) as Filtered<X>;
}

/** The median filter of images, shape [rows, columns]. @throws FftError as `medfilt`, `wrong-length` for another number of axes */
export function medfilt2d<X extends ArrayInput>(
  input: X,
  kernelSize: number | readonly [number, number] = 3,
): Filtered<X> {
  const { shape } = asArray(input);
  if (shape.length === 2) return medfilt(input, kernelSize);
  throw new FftError('wrong-length', `input has ${shape.length} axes; medfilt2d takes 2.`, { path: 'input' });
}

/** Filters the lines of the last axis. A window moves by one column of elements at a time, which leave or enter the sorted values. */
function medians({ data, shape, dtype }: NumpyArray, sizes: readonly number[]): NumpyArray {
  const result = floatZeros(data.length, isSingle(dtype));
  const n = shape.at(-1)!;
  const [width, across] = [sizes.at(-1)!, sizes.slice(0, -1)];
  const lines = n === 0 ? 0 : data.length / n;
  for (let line = 0; line < lines; line++) {
    const rows = rowsAround(line, shape.slice(0, -1), across);
    const sorted = new SortedWindow(rows.length * width);
    const column = (k: number, each: (value: number) => void) => {
      for (const row of rows) each(row < 0 || k < 0 || k >= n ? 0 : data[row * n + k]!);
    };
    const half = (width - 1) / 2;
    for (let k = -half; k < half; k++) column(k, (value) => sorted.add(value));
    for (let k = 0; k < n; k++) {
      column(k + half, (value) => sorted.add(value));
      result[line * n + k] = sorted.median();
      column(k - half, (value) => sorted.remove(value));
    }
  }
  return { data: result, shape, dtype } as NumpyArray;
}

/** Lines of the last axis that the window around a line covers; −1 for lines beyond the ends. */
function rowsAround(line: number, shape: readonly number[], sizes: readonly number[]): number[] {
  let rows = [0];
  let [rest, stride] = [line, 1];
  for (let d = shape.length - 1; d >= 0; d--) {
    const at = rest % shape[d]!;
    rest = Math.floor(rest / shape[d]!);
    const half = (sizes[d]! - 1) / 2;
    const places = Array.from({ length: sizes[d]! }, (_, k) => at - half + k);
    const by = stride;
    rows = places.flatMap((place) =>
      rows.map((row) => (row < 0 || place < 0 || place >= shape[d]! ? -1 : row + place * by)),
    );
    stride *= shape[d]!;
  }
  return rows;
}

/** The sorted values of a window; NaN are counted separately. */
class SortedWindow {
  private readonly values: Float64Array;
  private count = 0;
  private missing = 0;

  constructor(most: number) {
    this.values = new Float64Array(most);
  }

  add(value: number): void {
    if (Number.isNaN(value)) {
      this.missing++;
      return;
    }
    const at = this.placeOf(value);
    this.values.copyWithin(at + 1, at, this.count++);
    this.values[at] = value;
  }

  remove(value: number): void {
    if (Number.isNaN(value)) {
      this.missing--;
      return;
    }
    const at = this.placeOf(value);
    this.values.copyWithin(at, at + 1, this.count--);
  }

  /** The median of an odd number of values. */
  median(): number {
    return this.missing > 0 ? Number.NaN : this.values[(this.count - 1) / 2]!;
  }

  /** The index of the first value that is not less than a given one. */
  private placeOf(value: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
