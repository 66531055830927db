/** Filters of second-order sections, as `scipy.signal.sosfilt` and `sosfilt_zi`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray, isComplex, type NumpyArray } from '../../numpy/arrays/array.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { sectionsOf } from '../arguments/coefficients.ts';
import { type Lines, linesAlong, newLines } from '../arguments/lines.ts';
import { newPlanes, presentPlanes, readPlanes, writePlanes } from '../arguments/planes.ts';
import { filterSections, refuseOverflow } from './filter-kernels.ts';
import { newStates, type States, statesOf } from './filter-states.ts';
import {
  type Filtered,
  type FilterOptions,
  type FilterState,
  type StatefulOptions,
  steadyState,
  type WithState,
} from './lfilter.ts';

/**
 * Filters along an axis by second-order sections, one after another, with `scipy.signal.sosfilt`'s meaning and results, in doubles. The
 * state begins at 0, and goes on from `zi` where that is given: streams are filtered chunk by chunk.
 *
 * @param sos shape [sections, 6], as `butter(…, { output: 'sos' })` gives it
 * @param x real or complex, of any shape. Single precision stays single
 * @param options `zi`: of the shape of x with 2 numbers along the axis (other axes may be 1), with an axis of sections in front
 * @returns y, or `{ y, zf }` where `zi` is given
 * @throws FftError `wrong-length` for another shape of sos or zi, `invalid-argument` for sections that are not normalised, or an output of
 *   finite samples that leaves the range of numbers, as of unstable filters; `unknown-field`, `invalid-size`, `wrong-array-type`,
 *   `detached-array`, `out-of-memory`
 */
export function sosfilt<X extends ArrayInput>(sos: ArrayInput, x: X, options: StatefulOptions): WithState<Filtered<X>>;
export function sosfilt<X extends ArrayInput>(
  sos: ArrayInput,
  x: X,
  options?: FilterOptions & { readonly zi?: undefined },
): Filtered<X>;
export function sosfilt(
  sos: ArrayInput,
  x: ArrayInput,
  options: FilterOptions & { zi?: ArrayInput | undefined } = {},
): unknown {
  const own = readOptions(options, { works: ['axis', 'zi'] }, 'sosfilt');
  const sections = sectionsOf(sos);
  const count = sections.length / 6;
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const given = own.zi === undefined ? undefined : asArray(own.zi);
  const complex = lines.complex || (given !== undefined && isComplex(given.dtype));
  const states = given ? statesOf(given, lines, 2, complex, count) : newStates(lines, 2, complex, count);
  const y = filterLinesBySections(sections, lines, states, complex);
  return given ? { y, zf: states.array } : y;
}

function filterLinesBySections(sections: Float64Array, lines: Lines, states: States, complex: boolean): NumpyArray {
  const result = newLines(lines, lines.n, complex);
  const [line, state] = [newPlanes(lines.n, complex), newPlanes(sections.length / 3, complex)];
  for (let l = 0; l < lines.count; l++) {
    readPlanes(lines, l, line);
    states.read(l, state);
    filterSections(sections, line.re, state.re);
    if (line.im) filterSections(sections, line.im, state.im!);
    if (!presentPlanes(state).every((part) => part.every(Number.isFinite))) refuseOverflow(lines, l, line);
    states.write(l, state);
    writePlanes(result, l, line);
  }
  return result.array;
}

/**
 * The state of second-order sections whose input has been 1 for ever, as `scipy.signal.sosfilt_zi`. Multiplied by the first sample it is the initial
 * state of a signal that has had that value before.
 *
 * @returns shape [sections, 2]
 * @throws FftError `invalid-argument` for a section with a pole at frequency 0, and the errors of `sosfilt` for sections
 */
export function sosfiltZi(sos: ArrayInput): FilterState {
  const data = steadySections(sectionsOf(sos));
  return { data, shape: [data.length / 2, 2], dtype: 'float64' };
}

export function steadySections(sections: Float64Array): NewFloat64Array {
  const states = new Float64Array(sections.length / 3);
  let level = 1;
  for (let section = 0; section < sections.length / 6; section++) {
    const b = sections.subarray(6 * section, 6 * section + 3);
    const a = sections.subarray(6 * section + 3, 6 * section + 6);
    states.set(
      steadyState(b, a).map((value) => value * level),
      2 * section,
    );
    level *= (b[0]! + b[1]! + b[2]!) / (a[0]! + a[1]! + a[2]!);
  }
  return states;
}
