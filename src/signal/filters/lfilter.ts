/** Filters given by their coefficients, as `scipy.signal.lfilter` and `lfilter_zi`. */
import { readOptions } from '../../engine/arguments/options.ts';
import {
  type ArrayInput,
  asArray,
  type ComplexDtype,
  type DtypeOf,
  isComplex,
  type NumpyArray,
  type ShapeOf,
} from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check } from '../arguments/check.ts';
import { type Coefficients, coefficientsOf, type NumberList, realCoefficients } from '../arguments/coefficients.ts';
import { type Lines, linesAlong, newLines } from '../arguments/lines.ts';
import { newPlanes, type Planes, readPlanes, writePlanes } from '../arguments/planes.ts';
import { type Complex, divide, fromReal } from '../filter-design/complex-numbers.ts';
import { filterComplex, filterFir, filterPlane, refuseOverflow } from './filter-kernels.ts';
import { newStates, type States, statesOf } from './filter-states.ts';

export interface FilterOptions {
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

/** Options of a filter that continues where an earlier call has stopped. */
export interface StatefulOptions extends FilterOptions {
  readonly zi: ArrayInput;
}

/** State of a filter: as many numbers along the time axis as the filter remembers, and the signal's other axes. */
export type FilterState = NumpyArray<'float64' | 'complex128'>;

/** Python's `y, zf`. */
export interface WithState<Y extends NumpyArray> {
  readonly y: Y;
  /** State after the last sample, for `zi` of the call with the samples that follow. */
  readonly zf: FilterState;
}

type ListDtype<L extends NumberList> = L extends ArrayInput ? DtypeOf<L> : 'float64';

/** Output of a filter: it has the signal's shape and precision, and is complex where the signal or the filter is. */
export type Filtered<X extends ArrayInput, B extends NumberList = number, A extends NumberList = number> = NumpyArray<
  Extract<ListDtype<B> | ListDtype<A>, ComplexDtype> extends never
    ? DtypeOf<X>
    : DtypeOf<X> extends 'float32' | 'complex64'
      ? 'complex64'
      : 'complex128',
  ShapeOf<X>
>;

/**
 * Filters along an axis: a₀·y[n] = b₀·x[n] + b₁·x[n − 1] + … − a₁·y[n − 1] − …, with `scipy.signal.lfilter`'s meaning and results, in doubles. The
 * state is that of the transposed direct form II (A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing", section 6.3). It begins at 0,
 * or at `zi` if that is given, so that streams can be filtered chunk by chunk.
 *
 * @param b coefficients of the input, real or complex; or a single number
 * @param a coefficients of the output, a₀ not 0; 1 for a filter of finite impulse response
 * @param x real or complex, of any shape. Single precision stays single
 * @param options `axis`; `zi`: max(a.length, b.length) − 1 numbers along the axis, and the other axes of x (or 1)
 * @returns y, or `{ y, zf }` where `zi` is given
 * @throws FftError `invalid-argument` for an a₀ of 0, coefficients that are not finite, or an output that overflows from finite samples, as that of
 *   an unstable filter may; `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`
 */
export function lfilter<X extends ArrayInput, B extends NumberList, A extends NumberList>(
  b: B,
  a: A,
  x: X,
  options: StatefulOptions,
): WithState<Filtered<X, B, A>>;
export function lfilter<X extends ArrayInput, B extends NumberList, A extends NumberList>(
  b: B,
  a: A,
  x: X,
  options?: FilterOptions & { readonly zi?: undefined },
): Filtered<X, B, A>;
export function lfilter(
  b: NumberList,
  a: NumberList,
  x: ArrayInput,
  options: FilterOptions & { zi?: ArrayInput | undefined } = {},
): unknown {
  const own = readOptions(options, { works: ['axis', 'zi'] }, 'lfilter');
  const filter = readFilter(b, a);
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const given = own.zi === undefined ? undefined : asArray(own.zi);
  const complex = lines.complex || filter.b.im !== undefined || (given !== undefined && isComplex(given.dtype));
  const order = filter.b.re.length - 1;
  const states = given ? statesOf(given, lines, order, complex) : newStates(lines, order, complex);
  const y = filterLines(filter, lines, states, complex);
  return given ? { y, zf: states.array } : y;
}

/** Coefficients b and a of equal length, with a₀ = 1; either both or neither is complex. */
export interface DirectForm {
  readonly b: Coefficients;
  readonly a: Coefficients;
  /** Whether all coefficients after a₀ are 0. */
  readonly isFir: boolean;
}

/** @throws FftError `invalid-argument` for an a₀ of 0, and the errors of coefficients */
export function readFilter(b: NumberList, a: NumberList): DirectForm {
  const [numerator, denominator] = [coefficientsOf(b, 'b'), coefficientsOf(a, 'a')];
  const first: Complex = { re: denominator.re[0]!, im: denominator.im?.[0] ?? 0 };
  check('a', a, first.re !== 0 || first.im !== 0, 'numbers that do not begin with 0');
  const length = Math.max(numerator.re.length, denominator.re.length);
  const complex = numerator.im !== undefined || denominator.im !== undefined;
  const normalised = ({ re, im }: Coefficients): Coefficients => {
    const all = Array.from({ length }, (_, k) => {
      const value = { re: re[k] ?? 0, im: im?.[k] ?? 0 };
      return complex ? divide(value, first) : fromReal(value.re / first.re);
    });
    const part = (key: 're' | 'im') => Float64Array.from(all, (value) => value[key]);
    return { re: part('re'), im: complex ? part('im') : undefined };
  };
  const own = normalised(denominator);
  const isFir = [own.re, own.im].every((part) => !part || part.every((value, k) => k === 0 || value === 0));
  return { b: normalised(numerator), a: own, isFir };
}

function filterLines({ b, a, isFir }: DirectForm, lines: Lines, states: States, complex: boolean): NumpyArray {
  const result = newLines(lines, lines.n, complex);
  const [line, state] = [newPlanes(lines.n, complex), newPlanes(b.re.length - 1, complex)];
  for (let l = 0; l < lines.count; l++) {
    readPlanes(lines, l, line);
    states.read(l, state);
    if (b.im) filterComplex(b, a, line, state);
    else {
      const run = isFir ? filterFir : filterPlane;
      run(b.re, a.re, line.re, state.re);
      if (line.im) run(b.re, a.re, line.im, state.im!);
    }
    if (!areFinite(state)) refuseOverflow(lines, l, line);
    states.write(l, state);
    writePlanes(result, l, line);
  }
  return result.array;
}

function areFinite({ re, im }: Planes): boolean {
  return re.every(Number.isFinite) && (!im || im.every(Number.isFinite));
}

/**
 * The state of a filter whose input has been 1 for ever, as `scipy.signal.lfilter_zi`. Multiplied by the first sample it is the initial state of a
 * signal that has had that value before.
 *
 * @returns max(a.length, b.length) − 1 numbers
 * @throws FftError `invalid-argument` for an a₀ of 0, or for coefficients a with the sum 0, whose filter has no steady state; `wrong-array-type` for
 *   complex coefficients, `wrong-length`
 */
export function lfilterZi(b: NumberList, a: NumberList): NewFloat64Array {
  realCoefficients(b, 'b');
  realCoefficients(a, 'a');
  const { b: numerator, a: denominator } = readFilter(b, a);
  return steadyState(numerator.re, denominator.re);
}

/** @param a coefficients of the output, as many as b, normalised */
export function steadyState(b: Float64Array, a: Float64Array): NewFloat64Array {
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  const gain = sum(b) / sum(a);
  if (!Number.isFinite(gain)) {
    const message =
      'a has coefficients with the sum 0: the filter has a pole at frequency 0, and comes to no rest there.';
    throw new FftError('invalid-argument', message, { path: 'a' });
  }
  const zi = new Float64Array(b.length - 1);
  for (let k = b.length - 2, rest = 0; k >= 0; k--) zi[k] = rest += b[k + 1]! - gain * a[k + 1]!;
  return zi;
}
