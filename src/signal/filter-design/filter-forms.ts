/**
 * The three forms of a filter, and conversions between them, as `scipy.signal.zpk2tf`, `zpk2sos`, `tf2zpk`, `tf2sos`, `sos2tf` and `sos2zpk`:
 * polynomials b(x)/a(x) with the highest power first (`ba`), zeros, poles and a gain (`zpk`), second-order sections (`sos`).
 */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray, type ComplexArray, type NumpyArray } from '../../numpy/arrays/array.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkWord } from '../arguments/check.ts';
import { coefficientsOf, type NumberList, realCoefficients, sectionsOf } from '../arguments/coefficients.ts';
import { type Complex, fromReal } from './complex-numbers.ts';
import type { Factored } from './iir-prototypes.ts';
import { type SectionPairing, sectionsOfRoots } from './iir-sections.ts';
import { polynomialOf, rootsOf } from './polynomials.ts';

export type FilterOutput = 'ba' | 'zpk' | 'sos';
export const outputsOf: readonly FilterOutput[] = ['ba', 'zpk', 'sos'];

/** Coefficients of b(x)/a(x), where x is z for a digital filter and s for an analog one: the highest power first, as `lfilter` takes them. */
export interface TransferFunction {
  readonly b: NewFloat64Array;
  readonly a: NewFloat64Array;
}

/** Zeros z, poles p and gain k of k · Π(x − z)/Π(x − p). */
export interface ZerosPolesGain {
  readonly z: ComplexArray<'complex128', readonly [number]>;
  readonly p: ComplexArray<'complex128', readonly [number]>;
  readonly k: number;
}

/** Second-order sections, shape [sections, 6]: a row b0, b1, b2, 1, a1, a2 for each section. */
export type Sections = NumpyArray<'float64', readonly [number, number]>;

export type FilterResult<Output extends FilterOutput> = {
  readonly ba: TransferFunction;
  readonly zpk: ZerosPolesGain;
  readonly sos: Sections;
}[Output];

export function filterResult(filter: Factored, output: FilterOutput, analog: boolean): FilterResult<FilterOutput> {
  if (output === 'ba') return polynomialsOf(filter);
  if (output === 'sos') return asSections(sectionsOfRoots(filter, analog ? 'minimal' : 'nearest', analog));
  return { z: rootArray(filter.z), p: rootArray(filter.p), k: filter.k };
}

function polynomialsOf({ z, p, k }: Factored): TransferFunction {
  const reals = (roots: readonly Complex[]) => Float64Array.from(polynomialOf(roots), ({ re }) => re);
  return { b: reals(z).map((value) => value * k) as NewFloat64Array, a: reals(p) as NewFloat64Array };
}

function asSections(data: Float64Array): Sections {
  return { data: data as NewFloat64Array, shape: [data.length / 6, 6], dtype: 'float64' };
}

function rootArray(roots: readonly Complex[]): ZerosPolesGain['z'] {
  const data = Float64Array.from(roots.flatMap(({ re, im }) => [re, im])) as NewFloat64Array;
  return { data, shape: [roots.length], dtype: 'complex128' };
}

/**
 * Polynomials from zeros, poles and a gain. Roots have to come in conjugate pairs, so that the coefficients are real.
 * @throws FftError `invalid-argument`, `wrong-array-type`, `wrong-length`, as `zpk2sos`
 */
export function zpk2tf(z: ArrayInput, p: ArrayInput, k: number): TransferFunction {
  return polynomialsOf(readRoots(z, p, k));
}

/**
 * Second-order sections from zeros, poles and a gain; sections with poles near the unit circle come last.
 * @param z zeros, complex ones in conjugate pairs; as many as poles or fewer, an empty array for none
 * @throws FftError `invalid-argument` for roots that are not finite or lack their conjugates, `wrong-array-type`, `wrong-length`
 */
export function zpk2sos(
  z: ArrayInput,
  p: ArrayInput,
  k: number,
  options: { readonly pairing?: 'nearest' | 'keep_odd' } = {},
): Sections {
  const { pairing = 'nearest' } = readOptions(options, { works: ['pairing'] }, 'zpk2sos');
  checkWord<SectionPairing>('pairing', pairing, ['nearest', 'keep_odd']);
  return asSections(sectionsOfRoots(readRoots(z, p, k), pairing));
}

function readRoots(z: ArrayInput, p: ArrayInput, k: number): Factored {
  check('k', k, Number.isFinite(k), 'a finite number');
  return { z: readPairs(z, 'z'), p: readPairs(p, 'p'), k };
}

/** Roots, after a check that each has its conjugate. */
function readPairs(given: ArrayInput, path: string): Complex[] {
  if (asArray(given).data.length === 0) return [];
  const { re, im } = coefficientsOf(given, path);
  const roots = Array.from(re, (value, k) => ({ re: value, im: im?.[k] ?? 0 }));
  const tolerance = 100 * 2 ** -52;
  const isFar = (a: Complex, b: Complex) => Math.hypot(a.re - b.re, a.im - b.im) > tolerance * Math.hypot(a.re, a.im);
  const above = roots.filter((root) => root.im > tolerance * Math.hypot(root.re, root.im));
  const below = roots.filter((root) => root.im < -tolerance * Math.hypot(root.re, root.im));
  for (const root of above) {
    const twin = below.findIndex((other) => !isFar(root, { re: other.re, im: -other.im }));
    check(path, given, twin >= 0, `complex numbers in conjugate pairs, which ${root.re} + ${root.im}i lacks`);
    below.splice(twin, 1);
  }
  check(path, given, below.length === 0, 'complex numbers in conjugate pairs');
  return roots;
}

/**
 * Zeros, poles and gain from two polynomials. Roots of polynomials of high order are as accurate as the coefficients determine them, which may not be
 * very accurate.
 * @throws FftError `invalid-argument` for an a that is 0 or begins with 0, `wrong-array-type`, `wrong-length`
 */
export function tf2zpk(b: NumberList, a: NumberList): ZerosPolesGain {
  return filterResult(zerosAndPoles(b, a), 'zpk', false) as ZerosPolesGain;
}

/** Second-order sections from two polynomials. @throws FftError as `tf2zpk` */
export function tf2sos(b: NumberList, a: NumberList): Sections {
  return filterResult(zerosAndPoles(b, a), 'sos', false) as Sections;
}

function zerosAndPoles(b: NumberList, a: NumberList): Factored {
  const [numerator, denominator] = [realCoefficients(b, 'b'), realCoefficients(a, 'a')];
  check('a', a, denominator[0] !== 0, 'numbers that do not begin with 0');
  const first = numerator.findIndex((value) => value !== 0);
  if (first < 0) return { z: [], p: realRoots(denominator), k: 0 };
  // Leading coefficients of 0 stand for zeros at infinity.
  return {
    z: realRoots(numerator.subarray(first)),
    p: realRoots(denominator),
    k: numerator[first]! / denominator[0]!,
  };
}

/** Roots of a real polynomial, in exact pairs. */
function realRoots(coefficients: Float64Array): Complex[] {
  let count = coefficients.length;
  while (count > 1 && coefficients[count - 1] === 0) count--;
  const zeros = Array.from({ length: coefficients.length - count }, () => fromReal(0));
  if (count === 3) return [...quadraticRoots(coefficients[0]!, coefficients[1]!, coefficients[2]!), ...zeros];
  const found = rootsOf(Array.from(coefficients.subarray(0, count), fromReal));
  return [...pairedRoots(found), ...zeros];
}

/** Roots of a real polynomial, after moving rounded roots to exact conjugate pairs and real numbers. */
function pairedRoots(found: readonly Complex[]): Complex[] {
  const bySize = [...found].sort((a, b) => Math.abs(a.im) - Math.abs(b.im));
  const above = bySize.filter(({ re, im }) => im > 1e-12 * Math.hypot(re, im));
  const below = bySize.filter(({ re, im }) => im < -1e-12 * Math.hypot(re, im));
  const rest = bySize.filter((root) => !above.includes(root) && !below.includes(root));
  // A root without a conjugate on the other side of the axis belongs on the axis.
  while (above.length > below.length) rest.push(above.shift()!);
  while (below.length > above.length) rest.push(below.shift()!);
  const pairs = above.flatMap((root) => {
    const distance = (other: Complex) => Math.hypot(root.re - other.re, root.im + other.im);
    const twin = below.reduce((best, other) => (distance(other) < distance(best) ? other : best));
    below.splice(below.indexOf(twin), 1);
    const [re, im] = [(root.re + twin.re) / 2, (root.im - twin.im) / 2];
    return [
      { re, im },
      { re, im: -im },
    ];
  });
  return [...pairs, ...rest.map(({ re }) => fromReal(re))];
}

/** Both roots of a quadratic, without a difference of nearly equal numbers. */
export function quadraticRoots(a: number, b: number, c: number): Complex[] {
  const discriminant = b * b - 4 * a * c;
  if (discriminant < 0) {
    const [re, im] = [-b / (2 * a), Math.sqrt(-discriminant) / (2 * Math.abs(a))];
    return [
      { re, im },
      { re, im: -im },
    ];
  }
  const sum = -(b + (b < 0 ? -1 : 1) * Math.sqrt(discriminant)) / 2;
  return sum === 0 ? [fromReal(0), fromReal(0)] : [fromReal(sum / a), fromReal(c / sum)];
}

/** Polynomials from second-order sections: the products of the sections' polynomials. @throws FftError as `sosfilt` */
export function sos2tf(sos: ArrayInput): TransferFunction {
  const sections = sectionsOf(sos);
  let [b, a] = [Float64Array.of(1), Float64Array.of(1)];
  for (let at = 0; at < sections.length; at += 6) {
    b = multiplyPolynomials(b, sections.subarray(at, at + 3));
    a = multiplyPolynomials(a, sections.subarray(at + 3, at + 6));
  }
  return { b: b as NewFloat64Array, a: a as NewFloat64Array };
}

function multiplyPolynomials(x: Float64Array, y: Float64Array): Float64Array<ArrayBuffer> {
  const result = new Float64Array(x.length + y.length - 1);
  x.forEach((value, j) => {
    y.forEach((other, k) => {
      result[j + k]! += value * other;
    });
  });
  return result;
}

/** Zeros, poles and gain from second-order sections, two zeros and two poles for each section. @throws FftError as `sosfilt` */
export function sos2zpk(sos: ArrayInput): ZerosPolesGain {
  const sections = sectionsOf(sos);
  const [z, p]: [Complex[], Complex[]] = [[], []];
  let k = 1;
  for (let at = 0; at < sections.length; at += 6) {
    const [b0, b1, b2, , a1, a2] = sections.subarray(at, at + 6) as unknown as number[];
    k *= b0!;
    // A section without b0 has its roots at 0, where its delay puts them.
    z.push(
      ...(b0 === 0 ? [fromReal(b1 === 0 ? 0 : -b2! / b1!), fromReal(0)] : quadraticRoots(1, b1! / b0!, b2! / b0!)),
    );
    p.push(...quadraticRoots(1, a1!, a2!));
  }
  return filterResult({ z, p, k }, 'zpk', false) as ZerosPolesGain;
}
