/** Frequency responses of digital filters, as `scipy.signal.freqz` and `sosfreqz`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, type ComplexArray, floatZeros } from '../../numpy/arrays/array.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import {
  type Coefficients,
  coefficientsOf,
  type NumberList,
  realCoefficients,
  sectionsOf,
} from '../arguments/coefficients.ts';
import { type Complex, complexTimes, divide, fromReal } from './complex-numbers.ts';

export interface FreqzOptions {
  /** Frequencies: their number, evenly spaced from 0 on, or a list of them in the unit of `fs`; default 512. */
  readonly worN?: number | ArrayInput | undefined;
  /** Whether frequencies cover the whole circle rather than half of it, up to the Nyquist frequency; default false. */
  readonly whole?: boolean | undefined;
  /** Sampling rate; default 2π, so that frequencies are radians per sample. */
  readonly fs?: number | undefined;
  /** Whether the last frequency is the Nyquist frequency itself; default false. */
  readonly includeNyquist?: boolean | undefined;
}

/** Python's `w, h`. */
export interface FrequencyResponse {
  /** Frequencies, in the unit of `fs`. */
  readonly w: NewFloat64Array;
  /** The complex response at each frequency. */
  readonly h: ComplexArray<'complex128', readonly [number]>;
}

const WORKS = ['worN', 'whole', 'fs', 'includeNyquist'];

/**
 * The frequency response b(z)/a(z) of a digital filter, with z on the unit circle.
 *
 * @param b coefficients of the numerator, from delay 0 on; real or complex
 * @param a coefficients of the denominator; default 1
 * @throws FftError `invalid-argument` for options out of range, an a of zeros, numbers that are not finite, `unknown-field`, `wrong-array-type`,
 *   `wrong-length`, `out-of-memory`
 */
export function freqz(b: NumberList, a: NumberList = 1, options: FreqzOptions = {}): FrequencyResponse {
  const [numerator, denominator] = [coefficientsOf(b, 'b'), coefficientsOf(a, 'a')];
  const isZero = ({ re, im }: Coefficients) => re.every((value, k) => value === 0 && (im?.[k] ?? 0) === 0);
  check('a', a, !isZero(denominator), 'numbers that are not all 0');
  return responseOf([{ numerator, denominator }], options, 'freqz');
}

/** The frequency response of second-order sections. @throws FftError as `freqz` */
export function sosfreqz(sos: ArrayInput, options: FreqzOptions = {}): FrequencyResponse {
  const sections = sectionsOf(sos);
  const part = (at: number) => ({ re: sections.subarray(at, at + 3), im: undefined });
  const starts = Array.from({ length: sections.length / 6 }, (_, k) => 6 * k);
  const factors = starts.map((at) => ({ numerator: part(at), denominator: part(at + 3) }));
  return responseOf(factors, options, 'sosfreqz');
}

interface ResponseFactor {
  readonly numerator: Coefficients;
  readonly denominator: Coefficients;
}

/** The product of rational functions in 1/z, on the unit circle. */
function responseOf(factors: readonly ResponseFactor[], options: FreqzOptions, what: string): FrequencyResponse {
  const { w, angles } = responseFrequencies(readOptions(options, { works: WORKS }, what));
  const data = floatZeros(2 * w.length, false) as NewFloat64Array;
  for (let k = 0; k < w.length; k++) {
    const back = { re: Math.cos(angles[k]!), im: -Math.sin(angles[k]!) };
    const value = factors.reduce(
      (product, { numerator, denominator }) =>
        complexTimes(product, divide(polynomialAt(numerator, back), polynomialAt(denominator, back))),
      fromReal(1),
    );
    data[2 * k] = value.re;
    data[2 * k + 1] = value.im;
  }
  return { w, h: { data, shape: [w.length], dtype: 'complex128' } };
}

/** Frequencies in the unit of `fs`, and in radians per sample. */
function responseFrequencies({ worN = 512, whole = false, includeNyquist = false, ...own }: FreqzOptions) {
  const fs = checkPositive('fs', own.fs ?? 2 * Math.PI);
  checkWord('whole', whole, [true, false]);
  checkWord('includeNyquist', includeNyquist, [true, false]);
  if (typeof worN !== 'number') {
    const w = realCoefficients(worN, 'worN') as NewFloat64Array;
    return { w, angles: w.map((frequency) => (2 * Math.PI * frequency) / fs) };
  }
  const w = floatZeros(checkInteger('worN', worN, 1), false) as NewFloat64Array;
  const angles = floatZeros(worN, false);
  const [intervals, end] = [includeNyquist && !whole ? Math.max(1, worN - 1) : worN, whole ? 1 : 0.5];
  for (let k = 0; k < worN; k++) {
    w[k] = (fs * end * k) / intervals;
    angles[k] = (2 * Math.PI * end * k) / intervals;
  }
  return { w, angles };
}

/** The value of a polynomial by Horner's scheme, from the last coefficient on. */
function polynomialAt({ re, im }: Coefficients, x: Complex): Complex {
  let [sumRe, sumIm] = [0, 0];
  for (let k = re.length - 1; k >= 0; k--) {
    [sumRe, sumIm] = [sumRe * x.re - sumIm * x.im + re[k]!, sumRe * x.im + sumIm * x.re + (im ? im[k]! : 0)];
  }
  return { re: sumRe, im: sumIm };
}
