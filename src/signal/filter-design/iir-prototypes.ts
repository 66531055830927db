/**
 * Analog low-pass prototypes with their edge at 1 radian per second, as zeros, poles and a gain.
 *
 * Sources: S. Butterworth, "On the theory of filter amplifiers", Experimental Wireless 7 (1930); T. W. Parks and C. S. Burrus, "Digital Filter
 * Design" (1987), chapter 7, for both types of Chebyshev filter; S. J. Orfanidis, "Lecture notes on elliptic filter design" (2006).
 */
import { type Complex, conjugateOf, divide, fromReal } from './complex-numbers.ts';
import { completeIntegral, inverseSc, jacobi, modulusOfDegree } from './elliptic.ts';
import { productOfNegated } from './polynomials.ts';

/** Zeros z, poles p and gain k of k · Π(x − z) / Π(x − p). */
export interface Factored {
  readonly z: readonly Complex[];
  readonly p: readonly Complex[];
  readonly k: number;
}

const { asinh, cos, cosh, PI, sin, sinh, sqrt } = Math;

/** The squared ripple ε² = 10^(dB/10) − 1 of a loss in decibels: the lost power as a fraction of the remaining power. */
const excessOf = (decibels: number) => Math.expm1((Math.LN10 / 10) * decibels);

/** The angles of poles, −(N − 1), −(N − 3) … N − 1, in units of π/2N. */
const steps = (order: number) => Array.from({ length: order }, (_, k) => 2 * k - order + 1);

const prototypeGain = (z: readonly Complex[], p: readonly Complex[]) => productOfNegated(p) / productOfNegated(z);

/** The Butterworth prototype: maximally flat. */
export function butterworth(order: number): Factored {
  const p = steps(order).map((m) => {
    const angle = (PI * m) / (2 * order);
    return { re: -cos(angle), im: m === 0 ? 0 : -sin(angle) };
  });
  return { z: [], p, k: 1 };
}

/** The Chebyshev prototype of type I: ripples of `rp` decibels up to the edge. */
export function chebyshev1(order: number, rp: number): Factored {
  const epsilon = sqrt(excessOf(rp));
  if (order === 0) return { z: [], p: [], k: 10 ** (-rp / 20) };
  const mu = asinh(1 / epsilon) / order;
  const p = steps(order).map((m) => {
    const theta = (PI * m) / (2 * order);
    return { re: -sinh(mu) * cos(theta), im: -cosh(mu) * sin(theta) };
  });
  const k = productOfNegated(p);
  return { z: [], p, k: order % 2 === 0 ? k / sqrt(1 + epsilon * epsilon) : k };
}

/** The Chebyshev prototype of type II: ripples from the edge on, `rs` decibels down. */
export function chebyshev2(order: number, rs: number): Factored {
  const mu = asinh(sqrt(excessOf(rs))) / order;
  const z = steps(order)
    .filter((m) => m !== 0)
    .map((m) => ({ re: 0, im: 1 / sin((PI * m) / (2 * order)) }));
  const p = steps(order).map((m) => {
    const theta = (PI * m) / (2 * order);
    return divide(fromReal(1), { re: -sinh(mu) * cos(theta), im: -cosh(mu) * sin(theta) });
  });
  return { z, p, k: prototypeGain(z, p) };
}

/** The elliptic prototype: ripples in both bands, and the steepest transition of its order. */
export function cauer(order: number, rp: number, rs: number): Factored {
  if (order === 0) return { z: [], p: [], k: 10 ** (-rp / 20) };
  const square = excessOf(rp);
  const epsilon = sqrt(square);
  if (order === 1) return { z: [], p: [fromReal(-1 / epsilon)], k: 1 / epsilon };
  const k1 = sqrt(square / excessOf(rs));
  const { k: modulusOfIt, complement } = modulusOfDegree(order, k1);
  const whole = completeIntegral(complement);
  const v0 = (whole * inverseSc(1 / epsilon, k1)) / (order * completeIntegral(Math.sqrt((1 - k1) * (1 + k1))));
  const across = jacobi(v0, modulusOfIt);
  const [z, p]: [Complex[], Complex[]] = [[], []];
  for (let j = 1 - (order % 2); j < order; j += 2) {
    const { sn, cn, dn } = jacobi((j * whole) / order, complement);
    const by = 1 - (dn * across.sn) ** 2;
    const pole = { re: (-cn * dn * across.sn * across.cn) / by, im: (-sn * across.dn) / by };
    if (j === 0) p.push(fromReal(pole.re));
    else {
      const zero = { re: 0, im: 1 / (modulusOfIt * sn) };
      z.push(zero, conjugateOf(zero));
      p.push(pole, conjugateOf(pole));
    }
  }
  const k = prototypeGain(z, p);
  return { z, p, k: order % 2 === 0 ? k / sqrt(1 + square) : k };
}
