import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { findCollision } from './overlap.ts';

/** Every location of a small tensor, one by one. */
function collidesByEnumeration(counts: readonly number[], strides: readonly number[]): boolean {
  let locations = [0];
  counts.forEach((count, d) => {
    locations = locations.flatMap((start) => Array.from({ length: count }, (_, k) => start + k * strides[d]!));
  });
  return new Set(locations).size < locations.length;
}

function expectSharedLocation(counts: readonly number[], strides: readonly number[]): void {
  const collision = findCollision(counts, strides);
  if (collision === undefined || collision === 'undecided') throw new Error(`no pair found: ${collision}`);
  const { first, second } = collision;
  const locate = (index: readonly number[]) => index.reduce((sum, k, d) => sum + BigInt(k) * BigInt(strides[d]!), 0n);
  expect(first).not.toEqual(second);
  expect(locate(first)).toBe(locate(second));
  counts.forEach((count, d) => {
    for (const index of [first[d]!, second[d]!]) expect(index >= 0 && index < count).toBe(true);
  });
}

describe('findCollision', () => {
  it('accepts packed, padded and interleaving tensors', () => {
    expect(findCollision([3, 4, 5], [1, 3, 12])).toBeUndefined();
    expect(findCollision([3, 4, 5], [20, 5, 1])).toBeUndefined();
    expect(findCollision([1, 1], [7, 7])).toBeUndefined();
    expect(findCollision([2, 2], [2, 3])).toBeUndefined();
    expect(findCollision([2, 3, 2], [2, 3, 1000])).toBeUndefined();
    expect(findCollision([3, 2], [4, 6])).toBeUndefined();
  });

  it('names two elements of one location', () => {
    expectSharedLocation([4, 3], [2, 3]);
    expectSharedLocation([16, 2], [1, 1]);
    expectSharedLocation([5, 7, 3], [3, 3, 100]);
    expectSharedLocation([8, 8, 8], [1, 8, 63]);
  });

  it('agrees with enumeration on random small tensors and proves what it finds', () => {
    let collisions = 0;
    const dimension = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -9, max: 40 }));
    fc.assert(
      fc.property(fc.array(dimension, { minLength: 1, maxLength: 5 }), (dimensions) => {
        const counts = dimensions.map(([count]) => count);
        const strides = dimensions.map(([, stride]) => stride);
        if (collidesByEnumeration(counts, strides)) {
          collisions++;
          expectSharedLocation(counts, strides);
        } else expect(findCollision(counts, strides)).toBeUndefined();
      }),
      { seed: seedFor('problem/overlap/small') | 0, numRuns: 2000 },
    );
    expect(collisions).toBeGreaterThan(300);
  });

  it('agrees with enumeration where long dimensions are nearly incommensurable', () => {
    let collisions = 0;
    const dimension = fc.tuple(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 50, max: 500 }));
    fc.assert(
      fc.property(fc.array(dimension, { minLength: 2, maxLength: 3 }), (dimensions) => {
        const counts = dimensions.map(([count]) => count);
        const strides = dimensions.map(([, stride]) => stride);
        if (collidesByEnumeration(counts, strides)) {
          collisions++;
          expectSharedLocation(counts, strides);
        } else expect(findCollision(counts, strides)).toBeUndefined();
      }),
      { seed: seedFor('problem/overlap/long') | 0, numRuns: 500 },
    );
    expect(collisions).toBeGreaterThan(50);
  });

  it('decides giant tensors without enumerating them', () => {
    const prime = 1_000_003;
    expect(findCollision([prime - 1, prime - 10], [prime, prime - 1])).toBeUndefined();
    expectSharedLocation([prime, prime + 1], [prime, prime - 1]);
    expect(findCollision([2 ** 20, 2 ** 20], [2 ** 21, 2 ** 20 + 1])).toEqual(undefined);
    expectSharedLocation([1000, 1000, 1000], [1, 999, 1_000_000]);
    expectSharedLocation([32, 32, 32, 32, 32, 32], [1, 32, 1024, 32768, 2 ** 20, 2 ** 24]);
  });

  it('solves pairs whose products leave the exact integers', () => {
    const [a, b] = [94_906_267, 94_906_249];
    expectSharedLocation([a, b + 10, 2], [b, a, a * 3 - b * 2]);
    expect(findCollision([b, a], [a, b])).toBeUndefined();
  });

  it('gives up rather than hang, and says so', () => {
    const counts = [8001, 8009, 8011, 8017, 3];
    const strides = [999_999_000_001, 1_000_000_000_039, 1_000_003_000_061, 1_000_009_000_063, 7];
    // 3 · 8000^4 elements do not fit into 4·10^16 places, but which of them meet is hard to find.
    expect(findCollision(counts, strides)).toBe('undecided');
  });
});
