import { describe, expect, it } from 'vitest';
import { PUBLISHED } from '../../test/support/codelets.ts';
import { countOperations, Expressions, type Real } from '../ir/real.ts';
import * as exact from '../numeric/exact.ts';
import { dft } from './butterfly.ts';

const array = { name: 'x', space: 'global', type: 'f64' } as const;

function derive(n: number): { outputs: Real[]; x: Expressions } {
  const x = new Expressions();
  const values = Array.from({ length: n }, (_, i) => ({ re: x.load(array, 2 * i), im: x.load(array, 2 * i + 1) }));
  return { outputs: dft(x, values).flatMap(({ re, im }) => [re, im]), x };
}

function evaluate(value: Real, at: readonly number[], known = new Map<Real, number>()): number {
  const cached = known.get(value);
  if (cached !== undefined) return cached;
  const of = (node: Real) => evaluate(node, at, known);
  let result: number;
  if (value.op === 'const') result = exact.toNumber(value.value);
  else if (value.op === 'load') result = at[value.index.constant]!;
  else if (value.op === 'conj' || value.op === 'swap') throw new RangeError(`${value.op} needs a neighbour`);
  else if (value.op === 'neg') result = -of(value.a);
  else if (value.op === 'add') result = of(value.a) + of(value.b);
  else if (value.op === 'sub') result = of(value.a) - of(value.b);
  else result = of(value.a) * of(value.b);
  known.set(value, result);
  return result;
}

describe('derived butterflies', () => {
  it.each(Object.keys(PUBLISHED).map(Number))('radix %i needs no more operations than FFTW’s codelet', (n) => {
    const [additions, multiplications] = PUBLISHED[n]!;
    const counts = countOperations(derive(n).outputs);
    expect(counts.additions).toBeLessThanOrEqual(additions);
    expect(counts.multiplications).toBeLessThanOrEqual(multiplications);
  });

  it.each([...Array.from({ length: 32 }, (_, i) => i + 1), 49, 64])('length %i is the transform', (n) => {
    const input = Array.from({ length: 2 * n }, () => Math.random() * 2 - 1);
    const { outputs } = derive(n);
    for (let k = 0; k < n; k++) {
      let re = 0;
      let im = 0;
      for (let m = 0; m < n; m++) {
        const angle = (-2 * Math.PI * ((m * k) % n)) / n;
        re += input[2 * m]! * Math.cos(angle) - input[2 * m + 1]! * Math.sin(angle);
        im += input[2 * m]! * Math.sin(angle) + input[2 * m + 1]! * Math.cos(angle);
      }
      expect(evaluate(outputs[2 * k]!, input)).toBeCloseTo(re, 11);
      expect(evaluate(outputs[2 * k + 1]!, input)).toBeCloseTo(im, 11);
    }
  });
});
