/** Lines of an array as doubles, with real and imaginary parts in separate arrays: the form that filters run over. */
import { floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { type Lines, newLines, startOf } from './lines.ts';

/** One line as doubles. */
export interface Planes {
  readonly re: Float64Array;
  /** Imaginary parts; undefined for real lines. */
  readonly im: Float64Array | undefined;
}

/** @throws FftError `out-of-memory` */
export function newPlanes(length: number, complex: boolean): Planes {
  const plane = () => floatZeros(length, false) as Float64Array;
  return { re: plane(), im: complex ? plane() : undefined };
}

/** The one or two arrays of a line: its real part, and its imaginary part where it has one. */
export function presentPlanes({ re, im }: Planes): readonly Float64Array[] {
  return im ? [re, im] : [re];
}

/** Copies a line into planes, from an offset on; imaginary parts of real lines are 0. */
export function readPlanes(lines: Lines, line: number, { re, im }: Planes, at = 0): void {
  const { data } = lines.array;
  const { n, inner, complex } = lines;
  const start = startOf(lines, line);
  if (!complex) {
    if (inner === 1) re.set(data.subarray(start, start + n), at);
    else for (let k = 0; k < n; k++) re[at + k] = data[start + k * inner]!;
    im?.fill(0, at, at + n);
    return;
  }
  for (let k = 0; k < n; k++) {
    re[at + k] = data[2 * (start + k * inner)]!;
    im![at + k] = data[2 * (start + k * inner) + 1]!;
  }
}

/** Copies planes back into a line. */
export function writePlanes(lines: Lines, line: number, { re, im }: Planes, at = 0): void {
  const { data } = lines.array;
  const { n, inner, complex } = lines;
  const start = startOf(lines, line);
  if (!complex) {
    if (inner === 1) data.set(re.subarray(at, at + n), start);
    else for (let k = 0; k < n; k++) data[start + k * inner] = re[at + k]!;
    return;
  }
  for (let k = 0; k < n; k++) {
    data[2 * (start + k * inner)] = re[at + k]!;
    data[2 * (start + k * inner) + 1] = im![at + k]!;
  }
}

/**
 * Changes each line separately, as doubles.
 * @param n length of the lines of the result
 * @param change writes `n` samples of one plane of `target`
 */
export function eachPlane(
  lines: Lines,
  n: number,
  change: (source: Float64Array, target: Float64Array) => void,
): NumpyArray {
  const result = newLines(lines, n, lines.complex);
  const [source, target] = [newPlanes(lines.n, lines.complex), newPlanes(n, lines.complex)];
  for (let line = 0; line < lines.count; line++) {
    readPlanes(lines, line, source);
    change(source.re, target.re);
    if (source.im) change(source.im, target.im!);
    writePlanes(result, line, target);
  }
  return result.array;
}
