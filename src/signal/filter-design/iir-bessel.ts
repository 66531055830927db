/**
 * Analog low-pass Bessel filters, whose group delay is maximally flat (W. E. Thomson, "Delay networks having maximally flat frequency
 * characteristics", Proceedings of the IEE 96 (1949)).
 */
import { ddAdd, ddMul, ddMulComplex } from '../../numeric/double-double/doubledouble.ts';
import {
  type Complex,
  complexTimes,
  conjugateOf,
  divide,
  fromReal,
  modulusOf,
  negative,
  plus,
  productOfAll,
  timesReal,
} from './complex-numbers.ts';
import type { Factored } from './iir-prototypes.ts';
import { aberth, productOfNegated } from './polynomials.ts';

/** The normalisation of the edge at 1: half the phase, a unit delay at 0, or −3 dB. */
export type BesselNorm = 'phase' | 'delay' | 'mag';

/** The Bessel filter of an order, with maximally flat group delay. */
export function besselThomson(order: number, norm: BesselNorm): Factored {
  if (order === 0) return { z: [], p: [], k: 1 };
  const poles = reverseBesselRoots(order);
  const last = productOfAll(poles.map(negative)).re;
  const scale = norm === 'delay' ? 1 : norm === 'phase' ? last ** (-1 / order) : 1 / halfPower(poles, last);
  const p = poles.map((pole) => timesReal(pole, scale));
  return { z: [], p, k: productOfNegated(p) };
}

/**
 * Roots of the reverse Bessel polynomial, θ_n(x) = (2n − 1) θ_{n−1}(x) + x² θ_{n−2}(x): they lie near an ellipse in the left half plane. There θ is a
 * small difference of large terms, 10^12 times as large for n = 25, so that it is computed in double-doubles; its slope need not be.
 */
function reverseBesselRoots(order: number): Complex[] {
  const [square, point, value, before] = [0, 0, 0, 0].map(() => new Float64Array(4)) as Four;
  const attraction = (x: Complex) => {
    point.set([x.re, 0, x.im, 0]);
    ddMulComplex(square, 0, point, 0, point, 0);
    before.set([1, 0, 0, 0]);
    ddAdd(value, 0, x.re, 0, 1, 0);
    value.set([x.im, 0], 2);
    let [slopeBefore, slope] = [fromReal(0), fromReal(1)];
    for (let n = 2; n <= order; n++) {
      const nearly = { re: before[0]!, im: before[2]! };
      const turn = plus(timesReal(complexTimes(x, nearly), 2), complexTimes(complexTimes(x, x), slopeBefore));
      [slopeBefore, slope] = [slope, plus(timesReal(slope, 2 * n - 1), turn)];
      ddMulComplex(before, 0, before, 0, square, 0);
      for (const part of [0, 2]) {
        const [hi, lo] = [value[part]!, value[part + 1]!];
        ddMul(value, part, hi, lo, 2 * n - 1, 0);
        ddAdd(value, part, value[part]!, value[part + 1]!, before[part]!, before[part + 1]!);
        before.set([hi, lo], part);
      }
    }
    return divide(slope, { re: value[0]!, im: value[2]! });
  };
  const starts = Array.from({ length: order }, (_, k) => {
    const angle = (Math.PI * (2 * k - order + 1)) / (2 * order);
    return { re: -0.9 * order * Math.cos(angle) - 0.1, im: 0.9 * order * Math.sin(angle) + 0.01 };
  });
  return paired(aberth(starts, attraction));
}

type Four = [Float64Array, Float64Array, Float64Array, Float64Array];

/** Roots of a real polynomial as exact conjugate pairs, which rounding has made inexact. */
function paired(roots: readonly Complex[]): Complex[] {
  const upper = [...roots].sort((a, b) => b.im - a.im).slice(0, Math.floor(roots.length / 2));
  const pairs = upper.flatMap((root) => [root, conjugateOf(root)]);
  if (roots.length % 2 === 0) return pairs;
  const alone = [...roots].sort((a, b) => Math.abs(a.im) - Math.abs(b.im))[0]!;
  return [fromReal(alone.re), ...pairs];
}

/** The frequency where the power is half, by bisection. */
function halfPower(poles: readonly Complex[], last: number): number {
  const powerAt = (w: number) => (last / modulusOf(productOfAll(poles.map((p) => ({ re: -p.re, im: w - p.im }))))) ** 2;
  let [low, high] = [0, 1];
  while (powerAt(high) > 0.5) high *= 2;
  for (let k = 0; k < 200; k++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (powerAt(middle) > 0.5) low = middle;
    else high = middle;
  }
  return high;
}
