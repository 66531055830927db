import { describe, expect, it } from 'vitest';
import { rational, toDoubleDouble } from '../../src/numeric/exact.ts';
import { relativeError } from '../support/accuracy.ts';
import { randomFor, uniform } from '../support/random.ts';
import { type ConvolutionShape, directConvolution, spectralConvolution } from './convolution.ts';
import { directBins, toWords } from './direct.ts';
import { elementsOf, type ReferenceProblem, type ReferenceResult, referenceTransform } from './transform.ts';

const random = randomFor('test/reference');

/**
 * Root mean square of (a.hi + a.lo) − (b.hi + b.lo) over all bins of a transform of n random numbers, in units of what
 * such a bin measures: a sampled bin may itself happen to be close to zero.
 */
function difference(a: ReferenceResult, b: ReferenceResult, n: number): number {
  const rest = a.hi.map((hi, i) => hi - (b.hi[i] as number) + ((a.lo[i] as number) - (b.lo[i] as number)));
  return Math.sqrt(rest.reduce((sum, x) => sum + x * x, 0) / (rest.length * (n / 3)));
}

/** The bins of a result. */
function binsOf(result: ReferenceResult, bins: readonly number[]): ReferenceResult {
  const take = (words: Float64Array): Float64Array =>
    Float64Array.from(bins.flatMap((k) => [...words.slice(2 * k, 2 * k + 2)]));
  return { hi: take(result.hi), lo: take(result.lo) };
}

/** What radix schemes over 2^22 points may lose against 2^-106, with room to spare. */
const LIMIT = 2 ** -102;

describe('direct sums', () => {
  it('know the transforms of an impulse and of a wave', () => {
    const impulse = new Float64Array(10);
    impulse[2] = 1;
    const { hi } = toWords(directBins(impulse, [0, 1, 2, 3, 4]));
    for (let k = 0; k < 5; k++) {
      expect(hi[2 * k]).toBeCloseTo(Math.cos((2 * Math.PI * k) / 5), 15);
      expect(hi[2 * k + 1]).toBeCloseTo(-Math.sin((2 * Math.PI * k) / 5), 15);
    }
    const wave = Float64Array.of(1, 0, 0, 1, -1, 0, 0, -1);
    expect([...toWords(directBins(wave, [0, 1, 2, 3])).hi]).toEqual([0, 0, 4, 0, 0, 0, 0, 0]);
    expect([...toWords(directBins(wave, [0, 1, 2, 3], 'inverse')).hi]).toEqual([0, 0, 0, 0, 0, 0, 4, 0]);
  });
});

describe('the reference transform', () => {
  it.each(['forward', 'inverse'] as const)('agrees with direct sums for every length to 100 (%s)', (direction) => {
    for (let n = 1; n <= 100; n++) {
      const x = uniform(random, 2 * n);
      const low = uniform(random, 2 * n).map((value, i) => (value * (x[i] as number)) / 2 ** 54);
      const bins = Array.from({ length: n }, (_, k) => k);
      const expected = toWords(directBins(x, bins, direction, low));
      const actual = referenceTransform({ size: [n], direction }, x, low);
      expect(difference(actual, expected, n), `length ${n}`).toBeLessThan(LIMIT);
    }
  });

  it.each([128, 243, 1000, 1024, 1009, 1331, 2048, 2197, 4096, 5040, 7 ** 4, 8192, 2 ** 14])(
    'agrees with direct sums at sampled bins (%i points)',
    (n) => {
      const x = uniform(random, 2 * n);
      const bins = Array.from({ length: 6 }, () => random.integer(0, n - 1));
      const actual = binsOf(referenceTransform({ size: [n] }, x), bins);
      expect(difference(actual, toWords(directBins(x, bins)), n)).toBeLessThan(LIMIT);
    },
  );

  it('reaches long lengths', () => {
    for (const n of [2 ** 18, 3 ** 11]) {
      const x = uniform(random, 2 * n);
      const bins = [random.integer(1, n - 1)];
      const actual = binsOf(referenceTransform({ size: [n] }, x), bins);
      expect(difference(actual, toWords(directBins(x, bins)), n)).toBeLessThan(LIMIT);
    }
  });

  it('returns to where it came from', () => {
    const n = 360;
    const x = uniform(random, 2 * n);
    const there = referenceTransform({ size: [n] }, x);
    const scale = toDoubleDouble(rational(1, n));
    const back = referenceTransform({ size: [n], direction: 'inverse', scale }, there.hi, there.lo);
    expect(difference(back, { hi: x, lo: new Float64Array(2 * n) }, 1)).toBeLessThan(LIMIT);
  });

  it('scales', () => {
    const x = uniform(random, 24);
    const plain = referenceTransform({ size: [12] }, x);
    const scaled = referenceTransform({ size: [12], scale: -0.25 }, x);
    // Adding zero makes −0 and 0 the same.
    expect(scaled.hi.map((value) => value + 0)).toEqual(plain.hi.map((value) => -0.25 * value + 0));
    expect(scaled.lo.map((value) => value + 0)).toEqual(plain.lo.map((value) => -0.25 * value + 0));
  });

  it.each<ReferenceProblem>([
    { size: [4, 3], leftBatches: 2, coordinates: 2, batches: 3 },
    { size: [5, 2, 3], batches: 2, direction: 'inverse' },
    { size: [3, 4, 2], omit: [false, true, false], leftBatches: 3 },
    { size: [2, 2, 3, 2], omit: [true, false, false, false], coordinates: 3 },
  ])('agrees in N dimensions with the sum over all indices (%j)', (problem) => {
    const x = uniform(random, 2 * elementsOf(problem));
    const actual = referenceTransform(problem, x);
    expect(relativeError(sumOverAllIndices(problem, x), actual.hi, actual.lo)).toBeLessThan(1e-14);
  });

  it('refuses data of another size', () => {
    expect(() => referenceTransform({ size: [4] }, new Float64Array(6))).toThrow(RangeError);
  });
});

/** The definition of an N-dimensional transform, in doubles: one sum over all indices of one transform per output. */
function sumOverAllIndices(problem: ReferenceProblem, x: Float64Array): Float64Array {
  const { size, omit = [], leftBatches = 1, coordinates = 1, batches = 1, direction = 'forward' } = problem;
  const counts = [leftBatches, ...size, coordinates * batches];
  const transformed = [false, ...size.map((_, axis) => !omit[axis]), false];
  const digits = (index: number): number[] => {
    let rest = index;
    return counts.map((count) => {
      const digit = rest % count;
      rest = Math.floor(rest / count);
      return digit;
    });
  };
  const places = Array.from({ length: x.length / 2 }, (_, i) => digits(i));
  const result = new Float64Array(x.length);
  places.forEach((k, to) => {
    places.forEach((j, from) => {
      if (!counts.every((_, d) => transformed[d] || k[d] === j[d])) return;
      const turns = counts.reduce(
        (sum, count, d) => sum + (transformed[d] ? ((k[d] as number) * (j[d] as number)) / count : 0),
        0,
      );
      const angle = (direction === 'forward' ? -2 : 2) * Math.PI * turns;
      const [re, im] = [x[2 * from] as number, x[2 * from + 1] as number];
      result[2 * to] = (result[2 * to] as number) + re * Math.cos(angle) - im * Math.sin(angle);
      result[2 * to + 1] = (result[2 * to + 1] as number) + re * Math.sin(angle) + im * Math.cos(angle);
    });
  });
  return result;
}

describe('convolutions by transforms', () => {
  it.each<ConvolutionShape>([
    { size: [12], leftBatches: 2, batches: 3, kernels: 2 },
    { size: [5, 6], coordinates: 2, matrix: 2, conjugate: 'signal' },
    { size: [7], coordinates: 2, batches: 3, kernels: 'per-both' },
    { size: [4, 3, 2], omit: [false, true, false], coordinates: 3, matrix: 3, symmetric: true, conjugate: 'kernel' },
  ])('are direct sums: %j', (shape) => {
    const { size, leftBatches = 1, coordinates = 1, batches = 1, matrix = 1, symmetric } = shape;
    const kernels = shape.kernels === 'per-both' ? coordinates * batches : Number(shape.kernels ?? 1);
    const points = size.reduce((a, b) => a * b, 1);
    const x = uniform(random, 2 * points * leftBatches * coordinates * batches);
    const h = uniform(random, 2 * points * kernels * (symmetric ? 6 : matrix * matrix));
    const [a, b] = [directConvolution(shape, x, h), spectralConvolution(shape, x, h)];
    expect(difference(a, b, points)).toBeLessThan(2 ** -96);
  });
});
