import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { seedFor } from '../../../test/support/random.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor, unorderedPosition } from '../../numeric/primes.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { capacityOf } from '../device/capacity.ts';
import type { DeviceProfile, PlannerTuning } from '../device/profile.ts';
import { type AxisPlace, axisNode } from '../schemes/four-step.ts';
import { passesOf } from '../tree/leaf.ts';
import { keepsPlaces, leavesOf } from '../tree/node.ts';
import { rankUploads, type UploadsQuestion } from './uploads.ts';

const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const smooth = Array.from({ length: 20_000 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);
const options = (name: string) => ({ seed: seedFor(`plan/uploads/${name}`) | 0, numRuns: 400 });

/** An axis that is as easy to split as can be: everything costs the same. */
const plain = (length: number, longest: number, tile: number): UploadsQuestion => ({
  title: 'axis 0',
  length,
  strided: false,
  capacity: { whole: longest, columns: longest },
  fusable: () => false,
  whole: () => 1,
  cost: () => 1,
  trip: 1,
  several: 0,
  ragged: 1,
  unbalanced: 0.05,
  tile,
  grain: tile,
});
const best = (question: UploadsQuestion) => rankUploads(question, 1)[0]!.value;

describe('splitting a length', () => {
  it('gives factors that fit, as few as there can be', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...smooth),
        fc.integer({ min: 13, max: 300 }),
        fc.constantFrom(2, 4, 16),
        (n, longest, tile) => {
          // Trips that cost more than anything else.
          const factors = best({ ...plain(n, longest, tile), cost: () => 100, trip: 100 });
          expect(product(factors)).toBe(n);
          expect(Math.min(...factors)).toBeGreaterThan(1);
          expect(Math.max(...factors)).toBeLessThanOrEqual(longest);
          // Fewer factors could not even hold the product.
          const fewest = Math.ceil(Math.log(n) / Math.log(longest) - 1e-9);
          expect(factors.length).toBeGreaterThanOrEqual(fewest);
          const pairs =
            factors.length > 2 &&
            Array.from({ length: longest }, (_, i) => i + 1).some((a) => n % a === 0 && n / a <= longest);
          expect(pairs).toBe(false);
        },
      ),
      options('split'),
    );
  });

  it('says where it cannot', () => {
    expect(() => best(plain(13 * 13, 12, 4))).toThrow(RangeError);
  });

  it('prefers equal factors and whole tiles, where all cost the same', () => {
    expect(best(plain(2 ** 20, 4096, 16))).toEqual([1024, 1024]);
    for (const factor of best(plain(2 ** 19, 4096, 16))) expect(factor % 16).toBe(0);
  });

  it('asks for the cost of the first of two, where it has one of its own', () => {
    const split = (length: number) =>
      best({
        ...plain(length, 4096, 16),
        cost: () => 100,
        first: (n) => 100 + Math.abs(Math.log2(n / 2000)),
        trip: 100,
      });
    expect([2 ** 17, 2 ** 20, 100_000].map(split)).toEqual([
      [2048, 64],
      [2048, 512],
      [2000, 50],
    ]);
    // Three stay equal.
    expect(split(2 ** 27)).toEqual([512, 512, 512]);
  });

  it('finds the cheapest of all ways, in order, whatever they cost', () => {
    const length = fc.constantFrom(...smooth.filter((n) => n < 5000));
    const requested = fc.record({
      length,
      longest: fc.integer({ min: 4, max: 400 }),
      seed: fc.integer(),
      most: fc.nat(12),
    });
    fc.assert(
      fc.property(requested, ({ length, longest, seed, most }) => {
        // Any prices will do, as long as an upload costs a trip at the least; the last one may go half of it.
        const lastTrip = seed % 2 === 0 ? 1 : 0.5;
        const trip = (last: boolean) => (last ? lastTrip : 1);
        const noise = (...of: number[]) =>
          (Math.imul(
            of.reduce((a, b) => Math.imul(a, 31) + b, seed),
            2654435761,
          ) >>>
            8) /
          2 ** 24;
        const question: UploadsQuestion = {
          ...plain(length, longest, 16),
          whole: () => 1 + 2 * noise(length),
          cost: (n, columns, last) => trip(last) + noise(n) + noise(n, columns, Number(last)),
          lastTrip,
          least: (n, last) => trip(last) + noise(n),
          ragged: 0,
        };
        const all: number[] = length <= longest ? [question.whole()] : [];
        const walk = (rest: number, factors: readonly number[], price: number, uploads: number): void => {
          const priced = (n: number, last: boolean) =>
            question.cost(n, length === rest && last ? 1 : last ? length / n : rest / n, last) +
            0.05 * Math.abs(Math.log2(n / length ** (1 / uploads)));
          if (factors.length === uploads - 1) {
            if (rest > 1 && rest <= longest) all.push(price + priced(rest, true));
            return;
          }
          for (let n = 2; n <= Math.min(rest, longest); n++)
            if (rest % n === 0) walk(rest / n, [...factors, n], price + priced(n, false), uploads);
        };
        let fewest = Number.POSITIVE_INFINITY;
        for (let uploads = 2; uploads <= Math.min(13, fewest + 1); uploads++) {
          const before = all.length;
          walk(length, [], 0, uploads);
          if (all.length > before) fewest = Math.min(fewest, uploads);
        }
        fc.pre(all.length > 0);
        const found = rankUploads(question, most + 1);
        const expected = all.sort((a, b) => a - b).slice(0, most + 1);
        expect(found.length).toBe(expected.length);
        found.forEach(({ price }, n) => expect(price).toBeCloseTo(expected[n]!, 6));
      }),
      options('cheapest'),
    );
  });
});

describe('two uploads of which the first reorders', () => {
  const { profile } = namedProfiles['wasm-cpu'];
  const planned = (problem: ProblemInput, tuning: PlannerTuning = {}) =>
    planDirection(normalizeProblem(problem), 'forward', { ...profile, tuning }, false);

  it('need no memory but the output, where the second works in place', () => {
    for (const size of [[2 ** 17], [2 ** 20], [10 ** 6], [4, 2 ** 18].reverse()]) {
      const { assignment } = planned({ size, batches: 2 });
      expect(assignment.temps).toBe(0);
      const [first, second] = assignment.steps;
      expect([first!.output.buffer, first!.inPlace, second!.inPlace]).toEqual(['output', false, true]);
      expect([keepsPlaces(first!.leaf), keepsPlaces(second!.leaf)]).toEqual([false, true]);
    }
  });

  it('are sooner two where one would leave the other threads without a share of a single transform', () => {
    const uploads = (
      problem: ProblemInput,
      multiprocessors: number,
      bytes: number = profile.calibration.launch.bytes,
    ) => {
      const launch = { ...profile.calibration.launch, bytes };
      const own = { ...profile, multiprocessors, calibration: { ...profile.calibration, launch } };
      return planDirection(normalizeProblem(problem), 'forward', own, false).launches.length;
    };
    for (const [length, precision] of [
      [40000, 'single'],
      [2 ** 15, 'single'],
      [2 ** 14, 'double'],
    ] as const) {
      for (const placement of ['out-of-place', 'in-place'] as const) {
        const problem = { size: [length], precision, placement };
        expect(uploads(problem, 1)).toBe(1);
        expect(uploads(problem, 8)).toBe(2);
        // As many transforms as threads leave none of them idle, and a short one is not worth it.
        expect(uploads({ ...problem, batches: 8 }, 8)).toBe(1);
        expect(uploads({ ...problem, size: [1024] }, 8)).toBe(1);
        // What it takes to start a launch decides.
        expect(uploads(problem, 8, 2 ** 30)).toBe(1);
        expect(uploads(problem, 2, 2 ** 10)).toBe(2);
      }
    }
  });

  it('are one where a single transform that works in place needs no second array', () => {
    const uploads = (problem: ProblemInput, change: Partial<DeviceProfile> = {}) =>
      planDirection(normalizeProblem(problem), 'forward', { ...profile, ...change }, false).launches.length;
    const { room } = capacityOf('single', profile);
    expect(uploads({ size: [2 * room] })).toBe(1);
    expect(uploads({ size: [room], precision: 'double' })).toBe(1);
    expect(uploads({ size: [2 * room], placement: 'in-place' })).toBe(1);
    expect(uploads({ size: [1.5 * room] })).toBe(1);
    // Longer ones, batches, planes, strides, and lengths or memory that passes go through from array to array.
    expect(uploads({ size: [4 * room] })).toBe(2);
    expect(uploads({ size: [2 * room], batches: 2 })).toBe(2);
    expect(uploads({ size: [2 * room], layout: 'planar' })).toBe(2);
    expect(uploads({ size: [2 * room], strides: { input: [1, 2, 4 * room] } })).toBe(2);
    expect(uploads({ size: [5 ** 7] })).toBe(2);
    expect(uploads({ size: [2 * room] }, { sharedFormat: 'planes' })).toBe(2);
    // A vector of one number is as well off across transforms.
    expect(uploads({ size: [room], precision: 'double' }, { lockstepBytes: 8 })).toBe(2);
  });

  it('have a long first one, as far as there is some of it for every thread, where it can turn its tile', () => {
    const lengths = (size: number, multiprocessors = 1) =>
      planDirection(normalizeProblem({ size: [size] }), 'forward', { ...profile, multiprocessors }, false).launches.map(
        ({ leaf }) => [...leaf.lengths, passesOf(leaf)[0]!.lanesAlong.output],
      );
    expect(lengths(2 ** 18)).toEqual([
      [4096, 'axis'],
      [64, 'batch'],
    ]);
    expect(lengths(2 ** 20)).toEqual([
      [4096, 'axis'],
      [256, 'batch'],
    ]);
    expect(lengths(2 ** 17, 16)[0]![0]).toBeLessThanOrEqual(512);
    expect(lengths(5 ** 8)).toEqual([
      [625, 'batch'],
      [625, 'batch'],
    ]);
  });

  it('go there and back in place, where a cache holds both buffers', () => {
    for (const [length, first] of [
      [2 ** 18, true],
      [2 ** 20, false],
    ] as const) {
      const { assignment } = planned({ size: [length], placement: 'in-place' });
      expect(assignment.temps).toBe(1);
      expect(assignment.steps.map(({ leaf }) => keepsPlaces(leaf))).toEqual([!first, first]);
    }
  });

  it('leave unordered transforms and three uploads as they are', () => {
    const size = [2 ** 18];
    for (const plan of [planned({ size, unordered: true }), planned({ size }, { uploadSwitch: { three: 2 ** 18 } })]) {
      const [first] = plan.assignment.steps;
      expect(first!.leaf.axis.output.stride).toBe(first!.leaf.axis.input.stride);
    }
  });
});

describe('unordered places', () => {
  it('are a permutation', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }), (factors) => {
        const n = product(factors);
        const places = Array.from({ length: n }, (_, k) => unorderedPosition(k, factors));
        expect([...places].sort((a, b) => a - b)).toEqual(places.map((_, k) => k));
      }),
      options('places'),
    );
  });

  it('transpose a matrix of two uploads, and leave one upload alone', () => {
    expect(Array.from({ length: 6 }, (_, k) => unorderedPosition(k, [2, 3]))).toEqual([0, 3, 1, 4, 2, 5]);
    expect(Array.from({ length: 6 }, (_, k) => unorderedPosition(k, [6]))).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('the leaves of an axis', () => {
  const requested = fc.record({
    length: fc.constantFrom(...smooth.filter((n) => n < 4000)),
    longest: fc.integer({ min: 13, max: 200 }),
    order: fc.constantFrom('natural' as const, 'left' as const, 'restored' as const),
    others: fc.array(fc.integer({ min: 2, max: 5 }), { maxLength: 2 }),
  });

  it('read and write every element once, and only twiddle between uploads', () => {
    fc.assert(
      fc.property(requested, ({ length, longest, order, others }) => {
        const place: AxisPlace = {
          dimension: 1,
          length,
          others: others.map((count, d) => ({
            count,
            input: { dimension: 2 + d, stride: 1 },
            output: { dimension: 2 + d, stride: 1 },
          })),
          title: 'axis 0',
          tensor: [1, length, ...others],
          reorderFirst: false,
          order,
        };
        const leaves = leavesOf(
          axisNode(place, best({ ...plain(length, longest, 4), grain: 2, trip: 100, cost: () => 100 })),
        );
        expect(leaves.length === 1).toBe(length <= longest);
        leaves.forEach((leaf, n) => {
          expect(product([leaf.axis.count, ...leaf.batch.map(({ count }) => count)])).toBe(length * product(others));
          const own = [leaf.axis, ...leaf.batch].filter(({ input }) => input.dimension === 1);
          for (const side of ['input', 'output'] as const) {
            let places = [0];
            for (const dimension of own) {
              places = places.flatMap((at) =>
                Array.from({ length: dimension.count }, (_, i) => at + i * dimension[side].stride),
              );
            }
            expect(new Set(places).size).toBe(length);
            expect(Math.max(...places)).toBe(length - 1);
          }
          const edge = order === 'restored' ? 0 : leaves.length - 1;
          expect(leaf.twiddle === undefined).toBe(n === edge || leaves.length === 1);
          if (leaf.twiddle) expect(leaf.twiddle.on).toBe(order === 'restored' ? 'input' : 'output');
        });
      }),
      options('leaves'),
    );
  });
});
