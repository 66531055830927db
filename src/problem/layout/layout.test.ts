import { describe, expect, it } from 'vitest';
import { powerFactor, scaleProduct } from '../../numeric/scale-factor.ts';
import { normalizeProblem, resolveProblem } from '../normalize/normalize.ts';
import type { ProblemInput } from '../problem.ts';
import {
  defaultStrides,
  elementBytes,
  elementKind,
  logicalLength,
  realRowLength,
  scaleFactors,
  type TensorFacts,
  tensorShape,
  tensorSpan,
} from './layout.ts';

const facts: TensorFacts = {
  size: [5, 6],
  transform: ['c2c', 'c2c'],
  leftBatches: 4,
  coordinates: 2,
  batches: 7,
  placement: 'out-of-place',
};
const real: TensorFacts = { ...facts, transform: ['r2c', 'c2c'], coordinates: 1 };

describe('default strides', () => {
  it('are packed in the order left, axes, coordinate, batch', () => {
    expect(defaultStrides(facts, 'input')).toEqual([1, 4, 20, 120, 240]);
    expect(defaultStrides(facts, 'output')).toEqual([1, 4, 20, 120, 240]);
  });

  it('of real data out of place have N reals and ⌊N/2⌋ + 1 complex numbers along the first axis', () => {
    expect(defaultStrides(real, 'input')).toEqual([1, 4, 20, 120, 120]);
    expect(defaultStrides(real, 'output')).toEqual([1, 4, 12, 72, 72]);
  });

  it('of real data in place have room for 2(⌊N/2⌋ + 1) reals along the first axis', () => {
    const inPlace: TensorFacts = { ...real, placement: 'in-place' };
    expect(defaultStrides(inPlace, 'input')).toEqual([1, 4, 24, 144, 144]);
    expect(defaultStrides(inPlace, 'output')).toEqual([1, 4, 12, 72, 72]);
    expect(realRowLength(8, 'in-place')).toBe(10);
    expect(realRowLength(8, 'out-of-place')).toBe(8);
  });
});

describe('shapes, spans and bytes', () => {
  it('shorten the first axis of the complex side of a real transform', () => {
    expect(tensorShape(real, 'input')).toEqual([4, 5, 6, 1, 7]);
    expect(tensorShape(real, 'output')).toEqual([4, 3, 6, 1, 7]);
    expect([elementKind(real, 'input'), elementKind(real, 'output')]).toEqual(['real', 'complex']);
    expect(elementKind({ transform: ['dct2'] }, 'output')).toBe('real');
  });

  it('count the offset and every stride', () => {
    const problem = normalizeProblem({
      size: [4, 3],
      batches: 2,
      strides: { input: [1, 2, 10, 50] },
      offsets: { input: 7 },
    });
    expect(tensorSpan(problem, 'input')).toBe(7 + 3 * 2 + 2 * 10 + 50 + 1);
    expect(tensorSpan(problem, 'output')).toBe(24);
  });

  it('measure elements as they are stored', () => {
    expect(elementBytes(normalizeProblem({ size: [4] }), 'input')).toBe(8);
    expect(elementBytes(normalizeProblem({ size: [4], precision: 'double' }), 'output')).toBe(16);
    const half = resolveProblem({ size: [4], transform: 'r2c', precision: 'half' });
    expect([elementBytes(half, 'input'), elementBytes(half, 'output')]).toEqual([2, 4]);
    expect(elementBytes(resolveProblem({ size: [4], precision: 'double-double' }), 'input')).toBe(32);
  });
});

describe('scaleFactors', () => {
  const factorsOf = (input: ProblemInput) => {
    const problem = normalizeProblem(input);
    return [scaleFactors(problem, 'forward'), scaleFactors(problem, 'inverse')];
  };

  it('are the scale of the direction, and divide a normalised inverse by the transformed points', () => {
    const scale = { forward: 0.5, inverse: 3 };
    const plain = { size: [4, 5, 6], scale };
    expect(factorsOf(plain)).toEqual([
      { input: 1, output: 0.5 },
      { input: 1, output: 3 },
    ]);
    const normal = factorsOf({ ...plain, omit: [false, true, false], normalize: true });
    expect(normal[1]).toEqual({ input: 1, output: scaleProduct(3, powerFactor(24, -1)) });
  });

  it('are normal numbers where their product is none', () => {
    const [forward, inverse] = factorsOf({
      size: [48],
      scale: { forward: -3e-39, inverse: 2 ** -121 },
      normalize: true,
    });
    expect(forward).toEqual({ input: 2 ** -64, output: -3e-39 * 2 ** 64 });
    expect(inverse).toEqual({ input: 2 ** -63, output: scaleProduct(2 ** -58, powerFactor(48, -1)) });
    const double = factorsOf({
      size: [48],
      scale: { forward: Number.MIN_VALUE, inverse: 2 ** -1020 },
      normalize: true,
      precision: 'double',
    });
    expect(double).toEqual([
      { input: 2 ** -537, output: 2 ** -537 },
      { input: 2 ** -513, output: scaleProduct(2 ** -507, powerFactor(48, -1)) },
    ]);
    // 0 has no exponent, and less than the square of the least normal number makes zeros of everything.
    expect(factorsOf({ size: [48], scale: { forward: 0, inverse: 1e-300 } })).toEqual([
      { input: 1, output: 0 },
      { input: 2 ** -126, output: 1e-300 * 2 ** 126 },
    ]);
  });

  it('uses the logical lengths of real-to-real transforms', () => {
    expect(logicalLength('dct1', 9)).toBe(16);
    expect(logicalLength('dst1', 9)).toBe(20);
    expect(logicalLength('dct2', 9)).toBe(18);
    expect(logicalLength('r2c', 9)).toBe(9);
  });
});
