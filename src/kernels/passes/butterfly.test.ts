import { describe, expect, it } from 'vitest';
import { PUBLISHED } from '../../../test/support/codelets.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { numberOf } from '../../../test/support/values.ts';
import { countOperations, Expressions, type Real } from '../../ir/real.ts';
import { dft } from './butterfly.ts';

const random = randomFor('kernels/butterfly');
const array = { name: 'x', space: 'global', type: 'f64' } as const;

function derive(n: number, convolved?: readonly number[]): { outputs: Real[]; x: Expressions } {
  const x = new Expressions();
  const values = Array.from({ length: n }, (_, i) => ({ re: x.load(array, 2 * i), im: x.load(array, 2 * i + 1) }));
  return { outputs: dft(x, values, convolved).flatMap(({ re, im }) => [re, im]), x };
}

describe('derived butterflies', () => {
  it.each(Object.keys(PUBLISHED).map(Number))('radix %i needs no more operations than FFTW’s codelet', (n) => {
    const [additions, multiplications] = PUBLISHED[n]!;
    const counts = countOperations(derive(n).outputs);
    expect(counts.additions).toBeLessThanOrEqual(additions);
    expect(counts.multiplications).toBeLessThanOrEqual(multiplications);
  });

  const transformed = (n: number, convolved?: readonly number[]) => {
    const input = uniform(random, 2 * n);
    const { outputs } = derive(n, convolved);
    const known = new Map<Real, number>();
    const value = (node: Real) => numberOf(node, ({ index }) => input[index.constant]!, known);
    for (let k = 0; k < n; k++) {
      let re = 0;
      let im = 0;
      for (let m = 0; m < n; m++) {
        const angle = (-2 * Math.PI * ((m * k) % n)) / n;
        re += input[2 * m]! * Math.cos(angle) - input[2 * m + 1]! * Math.sin(angle);
        im += input[2 * m]! * Math.sin(angle) + input[2 * m + 1]! * Math.cos(angle);
      }
      expect(value(outputs[2 * k]!)).toBeCloseTo(re, 11);
      expect(value(outputs[2 * k + 1]!)).toBeCloseTo(im, 11);
    }
  };

  it.each([...Array.from({ length: 32 }, (_, i) => i + 1), 49, 64])('length %i is the transform', (n) => {
    transformed(n);
  });

  it.each([5, 7, 11, 17, 19, 31, 43, 59, 127])('length %i by convolution is the transform', (n) => {
    transformed(n, [n]);
    transformed(n, [29, n]);
  });
});
