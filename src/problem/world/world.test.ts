import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { allBricks, randomSide, randomSize } from '../../../test/support/world.ts';
import { FftError } from '../errors.ts';
import {
  boxOfRank,
  normalizeWorldProblem,
  partOfPoint,
  startOfPart,
  volumeOf,
  type WorldProblemInput,
} from './index.ts';

const random = randomFor('problem/world');

function codesOf(input: object, ranks = 4): string[] {
  try {
    normalizeWorldProblem(input as WorldProblemInput, ranks);
    return [];
  } catch (error) {
    if (error instanceof FftError) return error.problems.map(({ code, path }) => `${code} ${path}`);
    throw error;
  }
}

describe('the normal form of a shared tensor', () => {
  it('cuts points into parts that differ by one point at most, and knows the part of each', () => {
    for (let round = 0; round < 50; round++) {
      const [points, parts] = [random.integer(1, 40), random.integer(1, 50)];
      const lengths = Array.from(
        { length: parts },
        (_, n) => startOfPart(points, parts, n + 1) - startOfPart(points, parts, n),
      );
      expect(lengths.reduce((a, b) => a + b)).toBe(points);
      expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(2);
      const point = random.integer(0, points - 1);
      const part = partOfPoint(points, parts, point);
      expect(startOfPart(points, parts, part)).toBeLessThanOrEqual(point);
      expect(startOfPart(points, parts, part + 1)).toBeGreaterThan(point);
    }
  });

  it('numbers ranks by the parts of the axes, the fastest axis first', () => {
    const { input } = normalizeWorldProblem({ size: [8, 6, 5], input: { split: [1, 2, 2] } }, 4);
    expect(input.sharing.by === 'grid' && boxOfRank(input.shape, input.sharing.grid, 1)).toEqual({
      from: [0, 3, 0, 0],
      to: [8, 6, 3, 1],
    });
    expect(input.sharing.by === 'grid' && boxOfRank(input.shape, input.sharing.grid, 2)).toEqual({
      from: [0, 0, 3, 0],
      to: [8, 3, 5, 1],
    });
  });

  it('holds every element once, however it is shared out', () => {
    for (let round = 0; round < 50; round++) {
      const [size, ranks] = [randomSize(random, 200), random.integer(1, 6)];
      const { input } = normalizeWorldProblem({ size, input: randomSide(random, [...size, 1], ranks) }, ranks);
      const held = allBricks(input, ranks).flat();
      expect(held.reduce((sum, brick) => sum + volumeOf(brick), 0)).toBe(size.reduce((a, b) => a * b));
    }
  });

  it.each([
    [
      'bricks that share elements',
      {
        bricks: [
          { from: [0, 0], to: [8, 5] },
          { from: [0, 4], to: [8, 8] },
        ],
      },
      'overlapping-bricks input.bricks',
    ],
    [
      'elements in no brick',
      {
        bricks: [
          { from: [0, 0], to: [8, 4] },
          { from: [0, 4], to: [7, 8] },
        ],
      },
      'incomplete-bricks input.bricks',
    ],
    [
      'more bricks than ranks',
      { bricks: Array.from({ length: 5 }, () => ({ from: [0, 0], to: [0, 0] })) },
      'invalid-field input.bricks[4]',
    ],
    ['a brick outside', { bricks: [{ from: [0, 0], to: [8, 9] }] }, 'invalid-field input.bricks[0]'],
    [
      'strides that put elements together',
      { bricks: [{ from: [0, 0], to: [8, 8], strides: [1, 4] }] },
      'overlapping-strides input.bricks[0].strides',
    ],
    ['too many boxes', { split: [4, 2] }, 'invalid-field input.split'],
    ['both', { split: 'slab', bricks: [{ from: [0, 0], to: [8, 8] }] }, 'invalid-field input'],
    ['a word', { split: 'pencil' }, 'invalid-field input.split'],
  ])('is refused for %s', (_, input, problem) => {
    expect(codesOf({ size: [8, 8], input })).toContain(problem);
  });

  it.each([
    [{ decomposition: [3, 2] }, 'invalid-field decomposition'],
    [{ chunks: 0 }, 'invalid-field chunks'],
    [{ wire: 'half', precision: 'double-double' }, 'unsupported-feature wire'],
    [{ output: 'anything' }, 'invalid-field output'],
    [{ decompositions: 'slab' }, 'unknown-field decompositions'],
    [{ size: [0, 4] }, 'invalid-size size[0]'],
  ])('is refused for %j', (more, problem) => {
    expect(codesOf({ size: [8, 8], ...more })).toContain(problem);
  });
});
