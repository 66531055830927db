import { describe, expect, it } from 'vitest';
import { relativeError, tolerance } from './accuracy.ts';
import { changedOutside, isPoisoned, poison, snapshot } from './poison.ts';
import { randomFor, randomFrom, uniform } from './random.ts';
import {
  arraysOf,
  elementIndices,
  gather,
  hostData,
  type LayoutProblem,
  ownedIndices,
  scatter,
  spanOf,
} from './strided.ts';

describe('random data', () => {
  it('repeats from a seed and differs between seeds', () => {
    const draw = (seed: number): number[] => Array.from({ length: 5 }, randomFrom(seed).bits);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('is uniform in [−1, 1)', () => {
    const count = 20000;
    const values = uniform(randomFor('support/random'), count);
    const moment = (power: number): number => values.reduce((sum, x) => sum + x ** power, 0) / count;
    expect(values.every((x) => x >= -1 && x < 1)).toBe(true);
    // Six standard deviations each.
    expect(Math.abs(moment(1))).toBeLessThan(6 / Math.sqrt(3 * count));
    expect(Math.abs(moment(2) - 1 / 3)).toBeLessThan(6 * Math.sqrt(4 / 45 / count));
    const singles = uniform(randomFor('support/random'), 100, 'single');
    expect(singles.every((x) => Math.fround(x) === x)).toBe(true);
  });

  it('draws every integer of a range and nothing else', () => {
    const random = randomFor('support/integers');
    const seen = new Set(Array.from({ length: 400 }, () => random.integer(-2, 3)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
  });
});

describe('accuracy', () => {
  it('measures the relative L2 error', () => {
    expect(relativeError([3, 4], [3, 4])).toBe(0);
    expect(relativeError([3, 4.05], [3, 4])).toBeCloseTo(0.01, 14);
    expect(relativeError([3e-200, 4.05e-200], [3e-200, 4e-200])).toBeCloseTo(0.01, 14);
    expect(relativeError([3e200, 4.05e200], [3e200, 4e200])).toBeCloseTo(0.01, 14);
  });

  it('sees low-order words', () => {
    expect(relativeError([1], [1], [2 ** -60])).toBe(2 ** -60);
    expect(relativeError([1], [1], [0])).toBe(0);
  });

  it('never takes NaN or infinity for small', () => {
    expect(relativeError([Number.NaN, 4], [3, 4])).toBe(Number.POSITIVE_INFINITY);
    expect(relativeError([Number.POSITIVE_INFINITY, 4], [3, 4])).toBe(Number.POSITIVE_INFINITY);
    expect(relativeError(poison(new Float64Array(1)), [0])).toBe(Number.POSITIVE_INFINITY);
    expect(relativeError([1], [0])).toBe(Number.POSITIVE_INFINITY);
    expect(relativeError([0], [0])).toBe(0);
    expect(() => relativeError([1], [1, 2])).toThrow(RangeError);
    expect(() => relativeError([1], [Number.NaN])).toThrow(RangeError);
  });

  it('allows what the design allows', () => {
    expect(tolerance('single', 1)).toBe(1.2 * 2 ** -24);
    expect(tolerance('double', 8, 5)).toBeCloseTo(12 * 2 ** -53, 20);
  });
});

describe('poison', () => {
  it('is NaN, and is recognised by its bits alone', () => {
    for (const array of [new Float32Array(4), new Float64Array(4)]) {
      poison(array);
      expect(array.every(Number.isNaN)).toBe(true);
      array[1] = 1;
      array[2] = Number.NaN;
      expect([0, 1, 2, 3].map((i) => isPoisoned(array, i))).toEqual([true, false, false, true]);
    }
  });

  it('fills odd views too, and only them', () => {
    const bytes = new Uint8Array(16);
    const view = poison(new Uint16Array(bytes.buffer, 2, 3));
    expect([0, 1, 2].every((i) => isPoisoned(view, i))).toBe(true);
    expect([bytes[1], bytes[8]]).toEqual([0, 0]);
  });

  it('tells which elements changed without leave', () => {
    const array = poison(new Float64Array(6));
    const before = snapshot(array);
    expect(changedOutside(array, before)).toEqual([]);
    array[2] = 5;
    array[4] = Number.NaN;
    expect(changedOutside(array, before)).toEqual([2, 4]);
    expect(changedOutside(array, before, (i) => i === 2)).toEqual([4]);
    expect(changedOutside(array, before, undefined, 1)).toEqual([2]);
  });
});

describe('strided host data', () => {
  const problem: LayoutProblem = {
    size: [3, 2],
    leftBatches: 2,
    coordinates: 2,
    batches: 2,
    layout: { input: 'interleaved', output: 'planar' },
    strides: { input: [1, 3, 11, 40, 100], output: [64, 1, 4, 9, 20] },
    offsets: { input: 5, output: 0 },
  };
  const elements = 48;

  it('places every element by its strides', () => {
    const indices = elementIndices(problem, 'input');
    let packed = 0;
    for (let batch = 0; batch < 2; batch++) {
      for (let coordinate = 0; coordinate < 2; coordinate++) {
        for (let y = 0; y < 2; y++) {
          for (let x = 0; x < 3; x++) {
            for (let left = 0; left < 2; left++) {
              expect(indices[packed++]).toBe(5 + left + 3 * x + 11 * y + 40 * coordinate + 100 * batch);
            }
          }
        }
      }
    }
    expect(packed).toBe(elements);
    expect(spanOf(problem, 'input')).toBe(Math.max(...indices) + 1);
    expect(() => elementIndices({ ...problem, size: [3] }, 'input')).toThrow(RangeError);
  });

  it.each(['single', 'double'] as const)('brings a tensor in and out without touching gaps (%s)', (precision) => {
    const tensor = uniform(randomFor('support/strided'), 2 * elements, precision);
    for (const side of ['input', 'output'] as const) {
      const data = hostData(problem, side, precision, 3);
      const before = arraysOf(data).map(snapshot);
      scatter(problem, side, tensor, data);
      expect(gather(problem, side, data)).toEqual(tensor);
      arraysOf(data).forEach((array, i) => {
        const mine = ownedIndices(problem, side);
        expect(changedOutside(array, before[i] as Uint8Array, mine)).toEqual([]);
        const written = Array.from(array).filter((x) => !Number.isNaN(x)).length;
        expect(written).toBe(side === 'input' ? 2 * elements : elements);
      });
    }
  });
});
