/**
 * The points of a chirp z-transform: m points z(k) = a·w^−k on a spiral of the complex plane. Both numbers are kept unrounded, with angles as exact
 * fractions of a turn, so that the first rounding is that of the tables.
 */

import {
  type ComplexDd,
  complexDd,
  complexDdPowers,
  inverseComplexDd,
  rootComplexDd,
  roundComplexDds,
  squarePowers,
  turnComplexDd,
} from '../../numeric/double-double/complex-dd-powers.ts';
import { divideFractions, type Fraction, fraction, subtractFractions } from '../../numeric/exact.ts';
import { allocated, type ComplexArray } from '../../numpy/arrays/array.ts';
import { FftError, show } from '../../problem/errors.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';

/** A complex number: a real one, or its parts. */
export type ComplexNumber = number | { readonly re: number; readonly im: number };

/** A complex number other than 0, or e^(2πi·p/q) with p and q in decimal digits. It is plain data, which keys are made of. */
export type CurveFactor = { readonly re: number; readonly im: number } | { readonly p: string; readonly q: string };

export interface Curve {
  /** The ratio w between a point and the next: z(k) / z(k + 1). */
  readonly w: CurveFactor;
  /** The first point, a. */
  readonly a: CurveFactor;
}

/** Names of the options below. */
export interface CurveOptions {
  /** The ratio between a point and the next, not 0; default e^(−2πi/m), which is once around the circle. */
  readonly w?: ComplexNumber | undefined;
  /** The first point, not 0; default 1. */
  readonly a?: ComplexNumber | undefined;
}

export interface ZoomOptions {
  /** Sampling rate, positive, in the unit of the frequencies. Default 2, so that 1 is the Nyquist frequency. */
  readonly fs?: number | undefined;
  /** Whether the last point is the end of the range itself; default false, as in a discrete Fourier transform. */
  readonly endpoint?: boolean | undefined;
}

/** A range of frequencies, its end last; a single number is the end of a range that begins at 0. */
export type FrequencyRange = number | readonly [from: number, to: number];

/** @throws FftError `invalid-argument` */
export function curveOf(m: number, { w, a }: CurveOptions): Curve {
  return {
    w: w === undefined ? { p: '-1', q: String(m) } : readComplexNumber(w, 'w'),
    a: a === undefined ? { re: 1, im: 0 } : readComplexNumber(a, 'a'),
  };
}

/** m points on the unit circle, over a range of frequencies. @throws FftError `invalid-argument` */
export function zoomCurve(m: number, range: FrequencyRange, { fs = 2, endpoint = false }: ZoomOptions): Curve {
  if (!isFiniteNumber(fs) || fs <= 0) throw curveError('fs', fs, 'a positive number, the samples a second');
  if (typeof endpoint !== 'boolean') throw curveError('endpoint', endpoint, 'true or false');
  const [from, to] = readFrequencyRange(range, fs);
  const rate = fraction(fs);
  const width = divideFractions(subtractFractions(fraction(to), fraction(from)), rate);
  // A single point has no distance to a next one.
  const steps = Math.max(1, endpoint ? m - 1 : m);
  return {
    w: turnFactor({ p: -width.p, q: width.q * BigInt(steps) }),
    a: turnFactor(divideFractions(fraction(from), rate)),
  };
}

function readFrequencyRange(given: FrequencyRange, fs: number): [from: number, to: number] {
  const range: unknown = snapshot(given, 'The range of frequencies', { code: 'invalid-argument', depth: 1 });
  const list: unknown[] = Array.isArray(range) ? range : [0, range];
  const accepted = 'one frequency, or [from, to] with from < to';
  if (list.length !== 2 || !list.every(isFiniteNumber)) throw curveError('fn', range, accepted);
  const [from, to] = list as [number, number];
  if (from >= to) throw curveError('fn', range, accepted);
  if (Math.abs(from) > fs || Math.abs(to) > fs) {
    throw curveError('fn', range, `frequencies from ${-fs} to ${fs}: the rate (fs) is ${fs} samples a second`);
  }
  return [from, to];
}

function readComplexNumber(given: ComplexNumber, path: string): CurveFactor {
  const value: unknown = snapshot(given, path, { code: 'invalid-argument', depth: 1 });
  const { re, im }: { re?: unknown; im?: unknown } = isRecord(value) ? value : { re: value, im: 0 };
  if (isFiniteNumber(re) && isFiniteNumber(im) && (re !== 0 || im !== 0)) return { re, im };
  const found = isRecord(value) ? `{ re: ${show(re)}, im: ${show(im)} }` : show(value);
  throw curveError(path, value, 'a finite number other than 0, real or { re, im }', found);
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function curveError(path: string, value: unknown, accepted: string, found = show(value)): FftError {
  return new FftError('invalid-argument', `${path} is ${found}; it takes ${accepted}.`, { path });
}

function turnFactor({ p, q }: Fraction): CurveFactor {
  return { p: String(p), q: String(q) };
}

function complexDdOf(factor: CurveFactor): ComplexDd {
  return 'p' in factor ? turnComplexDd(BigInt(factor.p), BigInt(factor.q)) : complexDd(factor.re, factor.im);
}

/** One of the two square roots. */
function squareRootOf(factor: CurveFactor): ComplexDd {
  return 'p' in factor ? turnComplexDd(BigInt(factor.p), 2n * BigInt(factor.q)) : rootComplexDd(complexDdOf(factor));
}

/** The binary logarithm of a factor's modulus: the number of doublings in it. */
export function doublings(factor: CurveFactor): number {
  return 'p' in factor ? 0 : Math.log2(Math.hypot(factor.re, factor.im));
}

/** The powers that the tables of a chirp z-transform need, in double-double. */
export interface ChirpPowers {
  /** a^−j for j < n. */
  readonly starts: Float64Array;
  /** w^(j²/2) and w^(−j²/2) for j < n and j < m. */
  readonly chirp: Float64Array;
  readonly inverse: Float64Array;
}

export function chirpPowers({ w, a }: Curve, n: number, m: number): ChirpPowers {
  const root = squareRootOf(w);
  const most = Math.max(n, m);
  return {
    starts: complexDdPowers(inverseComplexDd(complexDdOf(a)), n),
    chirp: squarePowers(root, most),
    inverse: squarePowers(inverseComplexDd(root), most),
  };
}

/** The m points themselves, as interleaved complex doubles. @throws FftError `out-of-memory` */
export function pointArray({ w, a }: Curve, m: number): ComplexArray<'complex128'> {
  const data = allocated(4 * m, () =>
    roundComplexDds(complexDdPowers(inverseComplexDd(complexDdOf(w)), m, complexDdOf(a))),
  );
  return { data, shape: [m], dtype: 'complex128' };
}
