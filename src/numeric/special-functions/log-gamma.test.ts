/** The gamma function of complex numbers, by values that are known and the equations that it solves. */
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { type ComplexPoint, isPoleOfGamma, logGamma } from './log-gamma.ts';

const random = randomFor('numeric/log-gamma');
const between = (low: number, high: number) => low + (high - low) * random.unit();

/** Of a difference of logarithms, whose imaginary part may be off by a multiple of 2π. */
function distance({ re, im }: ComplexPoint): number {
  return Math.hypot(re, im - 2 * Math.PI * Math.round(im / (2 * Math.PI)));
}

/** Numbers near the poles, between them, and far away. */
const points = Array.from(
  { length: 300 },
  (_, k): ComplexPoint => ({ re: between(-15, 15), im: between(-1, 1) * 10 ** ((k % 5) - 2) }),
);

describe('the logarithm of the gamma function', () => {
  it('has the values that are known on the real axis', () => {
    let factorial = 1;
    for (let n = 1; n < 25; factorial *= n++) {
      expect(distance({ re: logGamma({ re: n, im: 0 }).re - Math.log(factorial), im: 0 })).toBeLessThan(3e-14);
    }
    // Γ(½ − n) = (−2)ⁿ √π / (2n − 1)!!
    let value = Math.sqrt(Math.PI);
    for (let n = 0; n < 10; value *= -2 / (2 * n++ + 1)) {
      const { re, im } = logGamma({ re: 0.5 - n, im: 0 });
      const found = { re: re - Math.log(Math.abs(value)), im: im - (value < 0 ? Math.PI : 0) };
      expect(distance(found)).toBeLessThan(3e-14);
    }
  });

  it('has the modulus that is known half way between integers', () => {
    for (let trial = 0; trial < 50; trial++) {
      const im = between(0, 200);
      // |Γ(½ + iy)|² = π / cosh πy
      const wanted = (Math.log(2 * Math.PI) - Math.PI * im - Math.log1p(Math.exp(-2 * Math.PI * im))) / 2;
      expect(Math.abs(logGamma({ re: 0.5, im }).re - wanted)).toBeLessThan(1e-14 * (3 + im));
    }
  });

  it('solves the duplication formula, which is not used to compute it', () => {
    for (const { re, im } of points) {
      const [z, half, twice] = [
        logGamma({ re, im }),
        logGamma({ re: re + 0.5, im }),
        logGamma({ re: 2 * re, im: 2 * im }),
      ];
      // Γ(z) Γ(z + ½) = 2^(1 − 2z) √π Γ(2z)
      const left = { re: z.re + half.re, im: z.im + half.im };
      const right = {
        re: (1 - 2 * re) * Math.LN2 + Math.log(Math.PI) / 2 + twice.re,
        im: -2 * im * Math.LN2 + twice.im,
      };
      // The angles are of the size of y ln y.
      const most = 1e-13 * (1 + (Math.abs(im) * Math.log1p(Math.abs(im))) / 10);
      expect(distance({ re: left.re - right.re, im: left.im - right.im }), `${re} + ${im}i`).toBeLessThan(most);
    }
  });

  it('takes the conjugate to the conjugate, and knows its poles', () => {
    for (const { re, im } of points) {
      const [above, below] = [logGamma({ re, im }), logGamma({ re, im: -im })];
      expect(below).toEqual({ re: above.re, im: -above.im });
    }
    for (const re of [0, -1, -20]) expect(isPoleOfGamma({ re, im: 0 })).toBe(true);
    for (const [re, im] of [
      [1, 0],
      [-0.5, 0],
      [-1, 1e-300],
    ] as const)
      expect(isPoleOfGamma({ re, im })).toBe(false);
  });
});
