/** Complex doubles in arrays, two each: what is good enough for constants that are rounded to singles. */
import { NearestRoots } from '../nearest-roots.ts';
import type { Butterfly, Numbers, Sum } from './passes.ts';

/** Each part is the nearest double. */
export function rootPairs(n: number, count: number, exponent?: (i: number) => number): Float64Array {
  const roots = new Float64Array(2 * count);
  if (exponent) {
    const all = rootPairs(n, n);
    for (let i = 0; i < count; i++) {
      const k = 2 * exponent(i);
      roots[2 * i] = all[k]!;
      roots[2 * i + 1] = all[k + 1]!;
    }
    return roots;
  }
  const places = { re: 0, im: 1, stride: 2, block: Math.max(1, count), skip: 0 };
  new NearestRoots(n, count).fill(roots, { p: 0, step: 1, q: n, count, ...places });
  return roots;
}

const addComplex: Sum = (y, t, x, a, z, b) => {
  y[t] = x[a]! + z[b]!;
  y[t + 1] = x[a + 1]! + z[b + 1]!;
};

const subtractComplex: Sum = (y, t, x, a, z, b) => {
  y[t] = x[a]! - z[b]!;
  y[t + 1] = x[a + 1]! - z[b + 1]!;
};

export const PAIRS: Numbers = {
  words: 2,
  roots: rootPairs,
  butterfly: (radix) => (radix === 4 ? radix4Butterfly : radix === 2 ? radix2Butterfly : oddButterfly(radix)),
  add: addComplex,
  subtract: subtractComplex,
  inverses: (x, factor) => Float64Array.from({ length: x.length / 2 }, (_, k) => factor / x[2 * k + 1]!),
  scale: (y, t, factors, a) => {
    y[t]! *= factors[a]!;
    y[t + 1]! *= factors[a]!;
  },
};

/** The points of a butterfly, twiddled. */
let points = new Float64Array(32);

function twiddle(radix: number, from: Float64Array, at: number, step: number, roots: Float64Array, root: number): void {
  points[0] = from[at]!;
  points[1] = from[at + 1]!;
  for (let m = 1; m < radix; m++) {
    const [x, w] = [at + m * step, m * root];
    points[2 * m] = from[x]! * roots[w]! - from[x + 1]! * roots[w + 1]!;
    points[2 * m + 1] = from[x]! * roots[w + 1]! + from[x + 1]! * roots[w]!;
  }
}

const radix2Butterfly: Butterfly = (from, at, step, to, toAt, toStep, roots, root) => {
  twiddle(2, from, at, step, roots, root);
  addComplex(to, toAt, points, 0, points, 2);
  subtractComplex(to, toAt + toStep, points, 0, points, 2);
};

const radix4Butterfly: Butterfly = (from, at, step, to, toAt, toStep, roots, root) => {
  twiddle(4, from, at, step, roots, root);
  const x = points;
  const [sumRe, sumIm, re, im] = [x[0]! + x[4]!, x[1]! + x[5]!, x[0]! - x[4]!, x[1]! - x[5]!];
  const [otherRe, otherIm, crossRe, crossIm] = [x[2]! + x[6]!, x[3]! + x[7]!, x[2]! - x[6]!, x[3]! - x[7]!];
  to[toAt] = sumRe + otherRe;
  to[toAt + 1] = sumIm + otherIm;
  to[toAt + 2 * toStep] = sumRe - otherRe;
  to[toAt + 2 * toStep + 1] = sumIm - otherIm;
  to[toAt + toStep] = re + crossIm;
  to[toAt + toStep + 1] = im - crossRe;
  to[toAt + 3 * toStep] = re - crossIm;
  to[toAt + 3 * toStep + 1] = im + crossRe;
};

/** By definition, points m and p − m together. */
function oddButterfly(prime: number): Butterfly {
  const circle = rootPairs(prime, prime);
  if (points.length < 2 * prime) points = new Float64Array(2 * prime);
  return (from, at, step, to, toAt, toStep, roots, root) => {
    twiddle(prime, from, at, step, roots, root);
    let [sumRe, sumIm] = [points[0]!, points[1]!];
    for (let k = 1; 2 * k < prime; k++) {
      let [evenRe, evenIm, oddRe, oddIm] = [points[0]!, points[1]!, 0, 0];
      for (let m = 1, w = k; 2 * m < prime; m++, w = (w + k) % prime) {
        const [a, b] = [2 * m, 2 * (prime - m)];
        const [cos, sin] = [circle[2 * w]!, circle[2 * w + 1]!];
        evenRe += cos * (points[a]! + points[b]!);
        evenIm += cos * (points[a + 1]! + points[b + 1]!);
        oddRe += sin * (points[a]! - points[b]!);
        oddIm += sin * (points[a + 1]! - points[b + 1]!);
      }
      to[toAt + k * toStep] = evenRe - oddIm;
      to[toAt + k * toStep + 1] = evenIm + oddRe;
      to[toAt + (prime - k) * toStep] = evenRe + oddIm;
      to[toAt + (prime - k) * toStep + 1] = evenIm - oddRe;
      sumRe += points[2 * k]! + points[2 * (prime - k)]!;
      sumIm += points[2 * k + 1]! + points[2 * (prime - k) + 1]!;
    }
    to[toAt] = sumRe;
    to[toAt + 1] = sumIm;
  };
}
