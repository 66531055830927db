import { expect, it } from 'vitest';
import { butterflyOperations, RADICES } from '../../src/plan/group/butterflies.ts';
import { fewestAdditions, fewestOperations } from './arithmetic.ts';

const sum = (n: number) => {
  const { additions, multiplications } = fewestOperations(n);
  return additions + multiplications;
};

it('the cheapest passes over a radix are one butterfly', () => {
  for (const radix of RADICES) expect([radix, sum(radix)]).toEqual([radix, butterflyOperations(radix)]);
});

it('passes after the first have a twiddle on all inputs of a butterfly but one', () => {
  expect(sum(25)).toBe(2 * 5 * 44 + 5 * 4 * 6);
  expect(sum(125)).toBe(3 * 25 * 44 + 2 * 25 * 4 * 6);
});

it('passes over powers of two add at least as much as split radix', () => {
  for (let m = 1; m <= 20; m++) {
    const { additions } = fewestOperations(2 ** m);
    expect(additions).toBeGreaterThanOrEqual(fewestAdditions(2 ** m));
    expect(additions).toBeLessThan(1.2 * fewestAdditions(2 ** m));
  }
});
