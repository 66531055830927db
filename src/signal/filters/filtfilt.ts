/** Filters that run forwards and backwards, and so have no delay, as `scipy.signal.filtfilt` and `sosfiltfilt`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray, type NumpyArray } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { type Boundary, extend } from '../arguments/boundary.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { type NumberList, sectionsOf } from '../arguments/coefficients.ts';
import { linesAlong, newLines } from '../arguments/lines.ts';
import { newPlanes, presentPlanes, readPlanes, writePlanes } from '../arguments/planes.ts';
import { filterFir, filterPlane, filterSections } from './filter-kernels.ts';
import { type Filtered, readFilter, steadyState } from './lfilter.ts';
import { steadySections } from './sosfilt.ts';

export interface FiltfiltOptions {
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /**
   * Extension of the signal beyond its ends: mirrored with the opposite sign (`odd`, the default), mirrored (`even`), the end values (`constant`), or
   * none (null).
   */
  readonly padtype?: 'odd' | 'even' | 'constant' | null | undefined;
  /** Samples of the extension at each end, fewer than the signal has; default three times the number of the filter's coefficients. */
  readonly padlen?: number | undefined;
}

/**
 * Filters twice, forwards and then backwards: no phase, and the square of the gain. Both begin at rest at their first sample (`lfilterZi`).
 * Options, defaults and results are those of `scipy.signal.filtfilt` with its method `pad`.
 *
 * @param b coefficients as of `lfilter`, real ones
 * @param x real or complex, of any shape. Single precision stays single
 * @throws FftError `invalid-argument` for a filter that is unstable or has a pole at frequency 0, a signal that is no longer than `padlen`
 *   and for options out of range, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`, `detached-array`,
 *   `out-of-memory`
 */
export function filtfilt<X extends ArrayInput>(
  b: NumberList,
  a: NumberList,
  x: X,
  options: FiltfiltOptions = {},
): Filtered<X> {
  const own = readOptions(options, { works: ['axis', 'padtype', 'padlen'] }, 'filtfilt');
  const filter = readFilter(b, a);
  if (filter.b.im)
    throw new FftError('wrong-array-type', 'b or a is complex; filtfilt takes real ones.', { path: 'b' });
  const [numerator, denominator] = [filter.b.re, filter.a.re];
  refuseUnstable(isStable(denominator), 'a');
  const run = filter.isFir ? filterFir : filterPlane;
  const pass: RestingFilter = {
    zi: steadyState(numerator, denominator),
    run: (line, z) => run(numerator, denominator, line, z),
  };
  return bothWays(asArray(x), own, 3 * numerator.length, pass) as Filtered<X>;
}

/**
 * Filters forwards and backwards by second-order sections, as `scipy.signal.sosfiltfilt`.
 * @param sos shape [sections, 6]
 * @throws FftError as `filtfilt`, and for sections as `sosfilt`
 */
export function sosfiltfilt<X extends ArrayInput>(sos: ArrayInput, x: X, options: FiltfiltOptions = {}): Filtered<X> {
  const own = readOptions(options, { works: ['axis', 'padtype', 'padlen'] }, 'sosfiltfilt');
  return sectionsBothWays(sectionsOf(sos), asArray(x), own) as Filtered<X>;
}

/** @throws FftError as `sosfiltfilt` */
export function sectionsBothWays(sections: Float64Array, x: NumpyArray, own: FiltfiltOptions): NumpyArray {
  const count = sections.length / 6;
  const zerosAt = (place: number) =>
    Array.from({ length: count }, (_, k) => sections[6 * k + place]).filter((value) => value === 0).length;
  for (let k = 0; k < count; k++) refuseUnstable(isStable(sections.subarray(6 * k + 3, 6 * k + 6)), `sos[${k}]`);
  // The number of coefficients of the whole filter: sections of first order have fewer.
  const taps = 2 * count + 1 - Math.min(zerosAt(2), zerosAt(5));
  return bothWays(x, own, 3 * taps, {
    zi: steadySections(sections),
    run: (line, z) => filterSections(sections, line, z),
  });
}

/** A filter of one line, and its state at rest for a constant input of 1. */
interface RestingFilter {
  readonly zi: Float64Array;
  readonly run: (line: Float64Array, z: Float64Array) => void;
}

function refuseUnstable(stable: boolean, path: string): void {
  if (stable) return;
  const message = `The filter is unstable: ${path} has poles that are not inside of the unit circle. Of high orders take second-order sections (output: 'sos'), which rounding hurts less.`;
  throw new FftError('invalid-argument', message, { path });
}

function bothWays(x: NumpyArray, options: FiltfiltOptions, usual: number, pass: RestingFilter): NumpyArray {
  const lines = linesAlong(x, options.axis ?? -1);
  const { padtype = 'odd' } = options;
  checkWord('padtype', padtype, ['odd', 'even', 'constant', null]);
  const edge = padtype === null ? 0 : checkInteger('padlen', options.padlen ?? usual, 0);
  if (edge > 0) {
    check(
      'padlen',
      edge,
      edge < lines.n,
      `less samples than the ${lines.n} that the signal has along axis ${lines.axis}`,
    );
  }
  const result = newLines(lines, lines.n, lines.complex);
  const line = newPlanes(lines.n + 2 * edge, lines.complex);
  for (let l = 0; l < lines.count; l++) {
    readPlanes(lines, l, line, edge);
    for (const plane of presentPlanes(line)) {
      extend(plane, { from: edge, length: lines.n, edge, parts: 1 }, padtype as Boundary);
      for (let direction = 0; direction < 2; direction++) {
        pass.run(
          plane,
          pass.zi.map((value) => value * plane[0]!),
        );
        plane.reverse();
      }
    }
    writePlanes(result, l, line, edge);
  }
  return result.array;
}

/** The largest effect of rounded coefficients on the modulus of a pole on the unit circle. */
const TOLERANCE = 1e-9;

/**
 * Whether all roots of a polynomial lie inside of the unit circle, by the recursion of Schur and Cohn (A. V. Oppenheim and R. W. Schafer,
 * "Discrete-Time Signal Processing", section 6.6: the reflection coefficients of a lattice filter are less than 1). Roots on the
 * circle, up to rounding, are taken for roots inside of it.
 * @param a the highest power first, which is 1
 */
export function isStable(a: Float64Array): boolean {
  let order = a.length - 1;
  while (order > 0 && a[order] === 0) order--;
  const rest = a.slice(0, order + 1);
  for (; order > 0; order--) {
    const reflection = rest[order]!;
    if (!(Math.abs(reflection) < 1 + TOLERANCE)) return false;
    const by = 1 - reflection * reflection;
    // A reflection coefficient of modulus 1 means a root on the circle: the remaining coefficients have no accurate digits.
    if (by < TOLERANCE) return true;
    const before = rest.slice(0, order + 1);
    for (let k = 0; k < order; k++) rest[k] = (before[k]! - reflection * before[order - k]!) / by;
  }
  return true;
}
