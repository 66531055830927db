/**
 * Transforms of any kind along every axis by their definitions, in fixed point with 256 fractional bits: what double-doubles are
 * measured by. Only the roots of unity come from `src/numeric/exact.ts`; for short axes, because a sum has all terms.
 */

import type { Problem } from '../../src/index.ts';
import { cosTurn, type Exact, exact, FRACTION_BITS, sinTurn } from '../../src/numeric/exact.ts';
import { inverseOf, type RealTransform, sumsOf } from '../support/sums.ts';

/** Parts of a complex number, or a real and 0, as `Exact.fixed`. */
export type Fixed = readonly [re: bigint, im: bigint];

const SHIFT = BigInt(FRACTION_BITS);

/** Along one axis: out[k] = Σ term(n, k). */
type Line = (line: readonly Fixed[]) => Fixed[];

const known = new Map<string, readonly [cos: bigint, sin: bigint]>();

/** e^(2πi·p/q) */
function root(p: number, q: number): readonly [cos: bigint, sin: bigint] {
  const key = `${p % q}/${q}`;
  let value = known.get(key);
  if (!value) known.set(key, (value = [cosTurn(p % q, q).fixed, sinTurn(p % q, q).fixed]));
  return value;
}

function complexLine(count: number, sign: 1 | -1): Line {
  return (line) =>
    line.map((_, k) => {
      let [re, im] = [0n, 0n];
      line.forEach(([a, b], n) => {
        const [cos, sine] = root((n * k) % count, count);
        const sin = sign > 0 ? sine : -sine;
        re += a * cos - b * sin;
        im += a * sin + b * cos;
      });
      return [re >> SHIFT, im >> SHIFT];
    });
}

function sumsLine(kind: RealTransform, count: number): Line {
  const { length, point, bin, weight } = sumsOf(kind, count);
  const trig = (turn: number): bigint => {
    const [cosine, sine] = root(turn, length);
    return kind === 'dht' ? cosine! + sine! : kind.startsWith('dst') ? sine! : cosine!;
  };
  return (line) =>
    line.map((_, k) => {
      let sum = 0n;
      line.forEach(([a], n) => {
        sum += BigInt(weight(n)) * a * trig((point(n) * bin(k)) % length);
      });
      return [sum >> SHIFT, 0n];
    });
}

/** Reals from the first half of bins, whose conjugates are the others. */
function realLine(count: number): Line {
  const all = complexLine(count, 1);
  return (half) => {
    const bins = Array.from({ length: count }, (_, k): Fixed => {
      const own = 2 * k <= count;
      const [re, im] = half[own ? k : count - k]!;
      return [re, k === 0 || 2 * k === count ? 0n : own ? im : -im];
    });
    return all(bins).map(([re]) => [re, 0n]);
  };
}

/** @param count elements along the axis before; the line may have more or fewer afterwards. */
function along(values: readonly Fixed[], count: number, stride: number, line: Line): Fixed[] {
  const lines = values.length / count / stride;
  const results = Array.from({ length: lines * stride }, (_, at) => {
    const [outer, inner] = [Math.floor(at / stride), at % stride];
    return line(Array.from({ length: count }, (_, n) => values[inner + stride * (n + count * outer)]!));
  });
  const after = results[0]!.length;
  return Array.from({ length: lines * stride * after }, (_, at) => {
    const [inner, rest] = [at % stride, Math.floor(at / stride)];
    return results[inner + stride * Math.floor(rest / after)]![rest % after]!;
  });
}

/** The transform of a packed tensor, with its factor. */
export function fixedTransform(problem: Problem, direction: 'forward' | 'inverse', packed: readonly Fixed[]): Fixed[] {
  const { leftBatches, omit, size, transform } = problem;
  const forward = direction === 'forward';
  const real = transform[0] === 'r2c';
  let values = [...packed];
  const axes = size.map((n, axis) => ({ n, axis }));
  // Reals come first, or last.
  for (const { n, axis } of real && !forward ? axes.toReversed() : axes) {
    if (omit[axis]) continue;
    const kind = transform[axis]!;
    const bins = real && (!forward || axis > 0) ? Math.floor(size[0]! / 2) + 1 : size[0]!;
    const stride = axis === 0 ? leftBatches : size.slice(1, axis).reduce((a, b) => a * b, leftBatches * bins);
    if (kind === 'r2c' && axis === 0) {
      const half = complexLine(n, -1);
      const line = forward ? (all: readonly Fixed[]) => half(all).slice(0, Math.floor(n / 2) + 1) : realLine(n);
      values = along(values, forward ? n : bins, stride, line);
    } else if (kind === 'c2c' || kind === 'r2c') values = along(values, n, stride, complexLine(n, forward ? -1 : 1));
    else values = along(values, n, stride, sumsLine(forward ? kind : inverseOf(kind), n));
  }
  return values;
}

/** Numbers as words that add up to them. */
export function toFixed(...words: readonly number[]): bigint {
  return words.reduce((sum, word) => sum + exact(word).fixed, 0n);
}

/** As a double. */
export function fromFixed(fixed: bigint): number {
  const value: Exact = { fixed };
  return Number(value.fixed >> (SHIFT - 160n)) * 2 ** -160;
}
