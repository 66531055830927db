/**
 * Transformations of an analog low-pass prototype with its edge at 1 to other bands and edges, and to a digital filter: each zero and pole is mapped
 * by itself (L. R. Rabiner and B. Gold, "Theory and Application of Digital Signal Processing" (1975), chapter 4).
 */
import {
  type Complex,
  complexTimes,
  divide,
  fromReal,
  minus,
  plus,
  productOfAll,
  squareRoot,
  timesReal,
} from './complex-numbers.ts';
import type { Factored } from './iir-prototypes.ts';
import { productOfNegated } from './polynomials.ts';

/** The number of zeros at infinity: poles less finite zeros. */
const atInfinity = ({ z, p }: Factored) => p.length - z.length;
const several = (count: number, value: Complex) => Array.from({ length: count }, () => value);

/** Low-pass to low-pass: s → s/w */
export function toLowPass(filter: Factored, w: number): Factored {
  const move = (root: Complex) => timesReal(root, w);
  return { z: filter.z.map(move), p: filter.p.map(move), k: filter.k * w ** atInfinity(filter) };
}

/** Low-pass to high-pass: s → w/s */
export function toHighPass(filter: Factored, w: number): Factored {
  const move = (root: Complex) => divide(fromReal(w), root);
  const k = (filter.k * productOfNegated(filter.z)) / productOfNegated(filter.p);
  return { z: [...filter.z.map(move), ...several(atInfinity(filter), fromReal(0))], p: filter.p.map(move), k };
}

/** Low-pass to band-pass: s → (s² + w²)/(s · width) */
export function toBandPass(filter: Factored, w: number, width: number): Factored {
  const move = (roots: readonly Complex[]) =>
    around(
      roots.map((root) => timesReal(root, width / 2)),
      w,
    );
  const z = [...move(filter.z), ...several(atInfinity(filter), fromReal(0))];
  return { z, p: move(filter.p), k: filter.k * width ** atInfinity(filter) };
}

/** Low-pass to band-stop: s → s · width/(s² + w²) */
export function toBandStop(filter: Factored, w: number, width: number): Factored {
  const move = (roots: readonly Complex[]) =>
    around(
      roots.map((root) => divide(fromReal(width / 2), root)),
      w,
    );
  const [above, below] = [
    { re: 0, im: w },
    { re: 0, im: -w },
  ];
  const count = atInfinity(filter);
  const k = (filter.k * productOfNegated(filter.z)) / productOfNegated(filter.p);
  return { z: [...move(filter.z), ...several(count, above), ...several(count, below)], p: move(filter.p), k };
}

/** The two roots that each root r becomes: r ± √(r² − w²). */
function around(roots: readonly Complex[], w: number): Complex[] {
  const distances = roots.map((root) => squareRoot(minus(complexTimes(root, root), fromReal(w * w))));
  return [...roots.map((root, k) => plus(root, distances[k]!)), ...roots.map((root, k) => minus(root, distances[k]!))];
}

/** The bilinear transform, analog to digital: s → 2 fs (x − 1)/(x + 1) */
export function toDigital(filter: Factored, fs: number): Factored {
  const rate = fromReal(2 * fs);
  const move = (root: Complex) => divide(plus(rate, root), minus(rate, root));
  const distanceOf = (roots: readonly Complex[]) => productOfAll(roots.map((root) => minus(rate, root)));
  const k = filter.k * divide(distanceOf(filter.z), distanceOf(filter.p)).re;
  return { z: [...filter.z.map(move), ...several(atInfinity(filter), fromReal(-1))], p: filter.p.map(move), k };
}
