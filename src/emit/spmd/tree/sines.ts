/**
 * Sines and cosines of at most a quarter of a half turn as polynomials, without a comparison.
 *
 * OpenCL's `sinpi` and `cospi` are exact enough, but PoCL implements them with comparisons, and choosing between a sine and a cosine takes
 * another comparison. LLVM packs comparisons that depend only on the thread into a vector of bits, also across a barrier. PoCL then keeps
 * that vector in memory for each thread, and LLVM (at least up to version 15) reads single bits of it as if each had a byte of its own
 * (`VectorCombine`, seen with PoCL 3.1 on LLVM 15): roots after the barrier have wrong signs. Code without comparisons avoids that.
 */
import type { ElementType } from '../../../ir/index.ts';
import * as exact from '../../../numeric/exact.ts';
import { binary, declareConstant, type Expression, name, type Statement } from './tree.ts';

/** The series is cut where the remaining terms are below an eighth of a unit in the last place. */
const REST: Readonly<Record<ElementType, number>> = { f32: 2 ** -27, f64: 2 ** -56 };

/** Sets `s` and `c` to the sine and the cosine of `x` half turns, |x| ≤ 1/4. */
export function polynomialSines(type: ElementType): Statement[] {
  const real = { type, pair: false };
  const [x, y] = [name('x'), name('y')];
  const number = (value: number): Expression => ({ op: 'real', value, type });
  const fma = (...of: Expression[]): Expression => ({ op: 'math', name: 'fma', type, of });
  const rounded = (value: exact.Exact) => (type === 'f32' ? exact.toSingle(value) : exact.toNumber(value));
  /** first + y · (the rest of a series). */
  const polynomial = (first: number, rest: readonly exact.Exact[]): Expression => {
    const [last, ...others] = [...rest].map((value) => number(rounded(value))).reverse() as [
      Expression,
      ...Expression[],
    ];
    return fma(
      y,
      others.reduce((sum, value) => fma(y, sum, value), last),
      number(first),
    );
  };
  const [, ...evens] = series(0, type);
  const [pi, ...odds] = series(1, type) as [exact.Exact, ...exact.Exact[]];
  const high = rounded(pi);
  const low = rounded(exact.sub(pi, exact.exact(high)));
  return [
    declareConstant('y', real, binary('*', x, x)),
    declareConstant('s', real, fma(x, number(high), binary('*', x, polynomial(low, odds)))),
    declareConstant('c', real, polynomial(1, evens)),
  ];
}

/** Coefficients of the Taylor series of cos πx (from 0) or sin πx (from 1), only the powers that occur. */
function series(from: 0 | 1, type: ElementType): exact.Exact[] {
  const square = exact.mul(exact.PI, exact.PI);
  const terms: exact.Exact[] = [];
  let term = from === 0 ? exact.ONE : exact.PI;
  for (let power = from; Math.abs(exact.toNumber(term)) * 0.25 ** power > REST[type]; power += 2) {
    terms.push(term);
    term = exact.neg(exact.div(exact.mul(term, square), exact.exact((power + 1) * (power + 2))));
  }
  return terms;
}
