/**
 * Sums Σ x(j)·z^−j at points of the complex plane by their definition, in fixed point with 256 fractional bits: nothing is
 * shared with what is measured by them but constants of `src/numeric/exact.ts`.
 */
import { cosTurn, type Exact, exact, FRACTION_BITS, sinTurn, toNumber } from '../../src/numeric/exact.ts';

/** A complex number in fixed point. */
export interface Fixed {
  readonly re: bigint;
  readonly im: bigint;
}

const SHIFT = BigInt(FRACTION_BITS);

export function fixed(re: number, im: number): Fixed {
  return { re: exact(re).fixed, im: exact(im).fixed };
}

/** e^(2πi·p/q). */
export function turn(p: bigint, q: bigint): Fixed {
  return { re: cosTurn(p, q).fixed, im: sinTurn(p, q).fixed };
}

function times(a: Fixed, b: Fixed): Fixed {
  return { re: (a.re * b.re - a.im * b.im) >> SHIFT, im: (a.re * b.im + a.im * b.re) >> SHIFT };
}

function inverse({ re, im }: Fixed): Fixed {
  const size = re * re + im * im;
  return { re: (re << (2n * SHIFT)) / size, im: (-im << (2n * SHIFT)) / size };
}

/** 1/z(k) = w^k/a for k < m. */
export function inversePoints(m: number, w: Fixed, a: Fixed): Fixed[] {
  const points = [inverse(a)];
  while (points.length < m) points.push(times(points.at(-1)!, w));
  return points;
}

/** The sums at points, which are given by their inverses: pairs, each rounded once. @param x pairs */
export function sumsAt(x: ArrayLike<number>, points: readonly Fixed[]): Float64Array {
  const values = Array.from({ length: x.length / 2 }, (_, j) => fixed(x[2 * j]!, x[2 * j + 1]!));
  const rounded = (value: bigint): number => toNumber({ fixed: value } as Exact);
  return Float64Array.from(
    points.flatMap((point) => {
      // Horner's scheme.
      let sum: Fixed = { re: 0n, im: 0n };
      for (let j = values.length - 1; j >= 0; j--) {
        const product = times(sum, point);
        sum = { re: product.re + values[j]!.re, im: product.im + values[j]!.im };
      }
      return [rounded(sum.re), rounded(sum.im)];
    }),
  );
}
