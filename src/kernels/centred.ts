/**
 * Passes whose digits are counted from the middle: the twiddles of two points of a butterfly are conjugate then, so that they
 * share one, and sums and differences of the points are multiplied instead of the points (Kamar and Elcherif, “Conjugate pair
 * fast Fourier transform”, 1989).
 *
 * A pass of radix r after passes of product s combines r blocks, which begin at points N/(r·s) apart: the digits of a point's
 * number, whose powers of a root are the twiddles. Where digits begin at −c instead of 0, all points lie c·N/(r·s) places
 * later. So the first pass reads element n of what the others take for the signal at n − shift, in a signal that goes
 * round; nothing else changes.
 */

import type { Complex, Expressions, IndexLike, TableBuilder } from '../ir/index.ts';
import { primeFromPairs } from './butterfly.ts';
import type { Exponents, Signs } from './root-matrix.ts';
import { passRoots } from './twiddles.ts';
import type { VectorLeaf } from './vector-leaf.ts';

interface CentredButterfly {
  /** How many digits are below zero. */
  readonly below: number;
  /** Outputs that it leaves negative. */
  readonly negative: readonly number[];
  /** Exponents p of the roots e^{−2πi·p/(r·s)} that a butterfly needs. */
  readonly roots: (stride: number) => readonly Exponents[];
  /** Transforms points in the order of their digits. */
  readonly butterfly: (x: Expressions, points: readonly Complex[], roots: readonly Complex[]) => Complex[];
}

const THREE: CentredButterfly = {
  below: 1,
  negative: [],
  roots: (stride) => [0, -stride].map((first) => [first, -1]),
  butterfly: three,
};

const FOUR: CentredButterfly = {
  below: 2,
  negative: [1, 2],
  roots: () => [-1, -2].map((step) => [0, step]),
  butterfly: four,
};

/**
 * An odd prime: points m and −m share a root, so that there are half as many to load. The operations are as many as with twiddles;
 * of radix 5 sums before differences (emit/wasm/multiply-adds.ts) spare two.
 */
function prime(radix: number): CentredButterfly {
  const below = (radix - 1) / 2;
  return {
    below,
    negative: [],
    roots: () => Array.from({ length: below }, (_, n): Exponents => [0, -1 - n]),
    butterfly(x, points, roots) {
      const at = (m: number) => points[below + (m > below ? m - radix : m)]!;
      const root = (m: number) => (m > below ? conjugate(x, roots[radix - m - 1]!) : roots[m - 1]!);
      return primeFromPairs(x, radix, points[below]!, (m) => {
        const sum = x.cadd(at(m), at(radix - m));
        const difference = x.csub(at(m), at(radix - m));
        x.together(sum, difference);
        return [rotatedSum(x, sum, difference, root(m)), rotatedSum(x, difference, sum, root(m))];
      });
    },
  };
}

function conjugate(x: Expressions, { re, im }: Complex): Complex {
  return { re, im: x.neg(im) };
}

/** Radices for which it pays: 11 and 13 have too many values at hand. */
const SCHEMES: ReadonlyMap<number, CentredButterfly> = new Map([
  [3, THREE],
  [4, FOUR],
  [5, prime(5)],
  [7, prime(7)],
]);

/** How many digits of a radix would be below zero; 0 where it does not pay. */
export function belowZero(radix: number): number {
  return SCHEMES.get(radix)?.below ?? 0;
}

/** The butterflies of a centred pass: their points, in the order in which they lie in memory, transformed. */
export function centredPass(
  tables: TableBuilder,
  leaf: VectorLeaf,
  radix: number,
  stride: number,
  aligned: boolean,
): (x: Expressions, points: readonly Complex[], i: IndexLike) => Complex[] {
  const { roots, butterfly } = SCHEMES.get(radix)!;
  const runs = roots(stride);
  const root = passRoots(tables, leaf, { key: `centred${radix}x${stride}`, radix, stride, runs }, aligned);
  return (x, points, i) =>
    butterfly(
      x,
      points,
      runs.map((_, run) => root(x, i, run)),
    );
}

/**
 * What centred passes leave negative: of every block the same elements, because a pass makes all outputs of a butterfly negative
 * whose points are. So only the last one has to change signs back.
 * @param centred their radices by their strides, the first one first.
 */
export function signsOf(centred: ReadonlyMap<number, number>): Signs | undefined {
  const passes = [...centred].filter(([, radix]) => SCHEMES.get(radix)!.negative.length > 0);
  if (passes.length === 0) return undefined;
  let pattern = new Uint8Array(1);
  for (const [stride, radix] of passes) {
    const { negative } = SCHEMES.get(radix)!;
    const before = pattern;
    pattern = new Uint8Array(stride * radix);
    for (let k = 0; k < radix; k++) {
      const flips = negative.includes(k) ? 1 : 0;
      for (let i = 0; i < stride; i++) pattern[k * stride + i] = before[i % before.length]! ^ flips;
    }
  }
  return { key: passes.join(';'), pattern };
}

/** w̄·b + w·d, from the sum of b and d and b − d. */
function rotatedSum(x: Expressions, sum: Complex, difference: Complex, w: Complex): Complex {
  return x.cadd(x.cscale(sum, w.re), x.quarter(x.cscale(difference, w.im)));
}

/**
 * X[k] = a + w̄ₖ·b + wₖ·d with a root for each k, the third of which is the negative of the other two. With multiply-adds 20
 * operations, a good half of them additions, which suits processors that add beside them; where sums come first
 * (emit/wasm/multiply-adds.ts) 18. With twiddles there would be 20, most of them multiply-adds.
 */
function three(x: Expressions, [d, a, b]: readonly Complex[], [first, second]: readonly Complex[]): Complex[] {
  const sum = x.cadd(b!, d!);
  const difference = x.csub(b!, d!);
  const zeroth = rotatedSum(x, sum, difference, first!);
  x.together(zeroth);
  const other = rotatedSum(x, sum, difference, second!);
  return [x.cadd(a!, zeroth), x.cadd(a!, other), x.csub(x.csub(a!, zeroth), other)];
}

/**
 * Two roots to load instead of three. Outputs 1 and 2 are negative: of t + v and v − t, where v is a sum of products, multiply-adds
 * make s = t + v and s − 2t, with which all takes 22 of them and of additions instead of 24 (emit/wasm/multiply-adds.ts);
 * t − v would take more.
 */
function four(x: Expressions, [c, d, a, b]: readonly Complex[], [w, square]: readonly Complex[]): Complex[] {
  const opposite = x.cmul(c!, square!);
  x.together(opposite);
  const sum = x.cadd(b!, d!);
  const difference = x.csub(b!, d!);
  const along = rotatedSum(x, sum, difference, w!);
  // i·(w̄·b − w·d)
  const across = x.csub(x.cscale(sum, w!.im), x.quarter(x.cscale(difference, w!.re)));
  x.together(along, across);
  const even = x.cadd(a!, opposite);
  const odd = x.csub(opposite, a!);
  return [x.cadd(even, along), x.cadd(odd, across), x.csub(along, even), x.csub(across, odd)];
}
