/** The lines of an array along one axis. */
import { elementCount, floatZeros, isComplex, isSingle, type NumpyArray } from '../../numpy/arrays/array.ts';
import { checkLength, resolveAxis } from '../../numpy/calls/axes.ts';
import type { Floats } from './floats.ts';

/** Lines of `n` elements each: line l begins at ⌊l / inner⌋ · n · inner + l mod inner, and its elements lie `inner` apart. */
export interface Lines {
  readonly array: NumpyArray;
  readonly axis: number;
  readonly n: number;
  readonly inner: number;
  readonly count: number;
  readonly complex: boolean;
  readonly precision: 'single' | 'double';
}

/** The geometry of lines, without the array. */
export type LineGeometry = Omit<Lines, 'array'>;

export function geometryOf({ axis, n, inner, count, complex, precision }: Lines): LineGeometry {
  return { axis, n, inner, count, complex, precision };
}

/** The lines of an array whose geometry is known. All fields are named, as spreading them would take as long as a transform of 64 points. */
export function linesOfArray({ axis, n, inner, count, complex, precision }: LineGeometry, array: NumpyArray): Lines {
  return { array, axis, n, inner, count, complex, precision };
}

/** The lines along an axis. @throws FftError `invalid-argument` for an axis that does not exist, `invalid-size` for one without elements */
export function linesAlong(array: NumpyArray, axis: number, path = 'axis'): Lines {
  const { shape, dtype } = array;
  const resolved = resolveAxis(axis, shape.length, path);
  const n = checkLength(shape[resolved]!, `The length of axis ${resolved}`);
  return {
    ...{ array, axis: resolved, n, inner: elementCount(shape.slice(resolved + 1)), count: elementCount(shape) / n },
    ...{ complex: isComplex(dtype), precision: isSingle(dtype) ? 'single' : 'double' },
  };
}

/**
 * A new array of the lines' shape, with another length along their axis.
 * @param values its numbers, where they are there already; default: zeros
 * @throws FftError `out-of-memory`
 */
export function newLines(like: Lines, n: number, complex: boolean, values?: Floats): Lines {
  const { array, axis, inner, count, precision } = like;
  const shape = array.shape.map((length, d) => (d === axis ? n : length));
  const single = precision === 'single';
  const data = values ?? floatZeros(elementCount(shape) * (complex ? 2 : 1), single);
  const dtype = complex ? (single ? 'complex64' : 'complex128') : single ? 'float32' : 'float64';
  return { array: { data, shape, dtype } as NumpyArray, axis, n, inner, count, complex, precision };
}

/** The first element of a line. */
export function startOf({ n, inner }: Pick<Lines, 'n' | 'inner'>, line: number): number {
  return Math.floor(line / inner) * inner * n + (line % inner);
}

/**
 * Copies the first elements of a line to `target`; complex numbers are interleaved.
 * @param at first number in `target`
 * @param length elements to copy; default the whole line
 */
export function readLine(lines: Lines, line: number, target: Floats, at = 0, length = lines.n): void {
  const { inner, complex, array } = lines;
  const { data } = array;
  const parts = complex ? 2 : 1;
  const start = startOf(lines, line) * parts;
  if (inner === 1) {
    const isWhole = start === 0 && length * parts === data.length;
    target.set(isWhole ? data : data.subarray(start, start + length * parts), at);
    return;
  }
  for (let k = 0; k < length; k++) {
    for (let part = 0; part < parts; part++) target[at + k * parts + part] = data[start + k * inner * parts + part]!;
  }
}

/**
 * Copies a real or complex line as numbers of `parts` parts: reals become complex numbers where two parts are wanted.
 * @param at first element in `target`
 */
export function readLineAs(
  lines: Lines,
  line: number,
  target: Floats,
  { at, length, parts }: { readonly at: number; readonly length: number; readonly parts: 1 | 2 },
): void {
  if (lines.complex || parts === 1) return readLine(lines, line, target, at * parts, length);
  const { inner, array } = lines;
  const { data } = array;
  const start = startOf(lines, line);
  for (let k = 0; k < length; k++) {
    target[2 * (at + k)] = data[start + k * inner]!;
    target[2 * (at + k) + 1] = 0;
  }
}

/** Copies numbers from `source` into a whole line. */
export function writeLine(lines: Lines, line: number, source: Floats, at = 0): void {
  const { inner, complex, array, n } = lines;
  const { data } = array;
  const parts = complex ? 2 : 1;
  const start = startOf(lines, line) * parts;
  if (inner === 1) {
    data.set(source.subarray(at, at + n * parts), start);
    return;
  }
  for (let k = 0; k < n; k++) {
    for (let part = 0; part < parts; part++) data[start + k * inner * parts + part] = source[at + k * parts + part]!;
  }
}
