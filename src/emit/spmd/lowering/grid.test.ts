import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../../test/support/random.ts';
import { grid, groupsOf } from './grid.ts';

const random = randomFor('emit/grid');

describe('grid', () => {
  it('is one dimension where that holds all', () => {
    expect(grid(1, 1)).toEqual({ dimensions: [1, 1, 1], launches: 1 });
    expect(grid(2 ** 31 - 1, 2 ** 31 - 1)).toEqual({ dimensions: [2 ** 31 - 1, 1, 1], launches: 1 });
    expect(grid(12, 12)).toEqual({ dimensions: [12, 1, 1], launches: 1 });
  });

  it('folds over dimensions, then over launches', () => {
    expect(grid(24, 12)).toEqual({ dimensions: [12, 2, 1], launches: 1 });
    expect(grid(27, 3)).toEqual({ dimensions: [3, 3, 3], launches: 1 });
    // 26 = 2·13, but 13 fit in no two dimensions of 3.
    expect(grid(26, 3)).toEqual({ dimensions: [3, 3, 3], launches: 1 });
    expect(grid(28, 3)).toMatchObject({ launches: 2 });
    expect(grid(5, 1)).toEqual({ dimensions: [1, 1, 1], launches: 5 });
  });

  it('has as many launches as were asked for, where there are groups for them', () => {
    expect(grid(12, 100, 4)).toEqual({ dimensions: [3, 1, 1], launches: 4 });
    expect(grid(3, 100, 8)).toEqual({ dimensions: [1, 1, 1], launches: 3 });
  });

  it('has room for all groups, and no launch without work', () => {
    for (let round = 0; round < 2000; round++) {
      const most = random.pick([1, 2, 3, 7, 64, 65535, 2 ** 22 - 1, 2 ** 31 - 1]);
      const groups = Math.min(random.integer(1, 10 ** random.integer(1, 9)), 1000 * most ** 3);
      const least = random.pick([1, 1, 2, 5]);
      const found = grid(groups, most, least);
      const { dimensions, launches } = found;
      const each = groupsOf(found);
      expect(launches * each).toBeGreaterThanOrEqual(groups);
      expect((launches - 1) * each).toBeLessThan(groups);
      expect(dimensions[0]).toBeLessThanOrEqual(most);
      for (const behind of dimensions.slice(1)) expect(behind).toBeLessThanOrEqual(Math.min(most, 65535));
    }
  });

  it('refuses what takes too many launches', () => {
    expect(() => grid(2 ** 20, 2)).toThrow(/131072 launches/);
    expect(() => grid(1, 0)).toThrow(/room for one group/);
  });
});
