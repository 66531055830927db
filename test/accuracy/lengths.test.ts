/** One-dimensional transforms: every smooth length up to 128, and a sample of the others and of the smooth ones up to 2^14. Short ones in both precisions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { tolerance } from '../support/accuracy.ts';
import { randomFor } from '../support/random.ts';
import { callModes, exhaustive, lengthComplaints, onePrecision, openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/lengths');
const LARGEST_PRIME = 13;
const isSmooth = (n: number): boolean => n === 1 || largestPrimeFactor(n) <= LARGEST_PRIME;
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

let device: Device;
beforeAll(async () => {
  device = await openWith({}, 1);
});
afterAll(() => device.close());

describe('lengths from 1 to 640', () => {
  it.each(from(0, 9).map((block) => [64 * block + 1, 64 * block + 64] as const))(
    'those from %i to %i are accurate, both ways',
    async (first, last) => {
      for (const n of from(first, last)) {
        // Of those that are longer, or convolved, a sample.
        const share = isSmooth(n) ? (n <= 128 ? 1 : 0.4) : 0.15;
        if (!exhaustive && random.unit() >= share) continue;
        const modes = exhaustive ? callModes : (['host', random.pick(callModes)] as const);
        const precision = n <= 64 && isSmooth(n) ? {} : onePrecision(random, device);
        expect(await lengthComplaints(device, [n], random, modes, precision)).toEqual([]);
      }
    },
  );
});

describe('lengths with large primes', () => {
  it.each([1009, 2053, 4093, 8191, 2 * 8209, 3 * 17 * 257, 65537, 100_003])('%i', async (n) => {
    expect(await lengthComplaints(device, [n], random, ['host'], onePrecision(random, device))).toEqual([]);
  });

  it('composites of primes from 17 to 127', async () => {
    const primes = from(17, 127).filter((n) => largestPrimeFactor(n) === n);
    const others = [2, 3, 4, 6, 8, 12, 16, 20, 30, 48, 64, 125];
    const all = primes.flatMap((prime) => [...others, ...primes.filter((n) => n <= prime)].map((n) => n * prime));
    for (const n of exhaustive ? all : from(1, 4).map(() => random.pick(all))) {
      expect(await lengthComplaints(device, [n], random, ['host'], onePrecision(random, device))).toEqual([]);
    }
  });

  it('of millions of points, whose chirps are tables of formulas', async () => {
    const n = 4_000_037;
    const plan = await device.plan({ size: [n], directions: 'forward' });
    // Few points, so that bins can be summed by definition.
    const points = from(1, 40).map(() => ({
      at: random.integer(0, n - 1),
      re: random.unit() - 0.5,
      im: random.unit(),
    }));
    const signal = new Float32Array(2 * n);
    for (const { at, re, im } of points) signal.set([re, im], 2 * at);
    const spectrum = await plan.forward(signal);
    let [wrong, all] = [0, 0];
    for (const k of [0, 1, n - 1, ...from(1, 500).map(() => random.integer(0, n - 1))]) {
      let [re, im] = [0, 0];
      for (const { at } of points) {
        const angle = (-2 * Math.PI * Number((BigInt(at) * BigInt(k)) % BigInt(n))) / n;
        const [x, y] = [signal[2 * at]!, signal[2 * at + 1]!];
        re += x * Math.cos(angle) - y * Math.sin(angle);
        im += x * Math.sin(angle) + y * Math.cos(angle);
      }
      wrong += (spectrum[2 * k]! - re) ** 2 + (spectrum[2 * k + 1]! - im) ** 2;
      all += re ** 2 + im ** 2;
    }
    expect(Math.sqrt(wrong / all)).toBeLessThan(5 * tolerance('single', n));
    plan.destroy();
  });
});

describe('smooth lengths from 641 to 16384', () => {
  const smooth = from(641, 2 ** 14).filter(isSmooth);
  const parts = 8;
  it.each(from(0, parts - 1))('sample %i is accurate', async (part) => {
    const mine = smooth.filter((_, i) => i % parts === part);
    const sample = exhaustive ? mine : from(1, 3).map(() => random.pick(mine));
    for (const n of sample) {
      const modes = ['host', random.pick(callModes)] as const;
      expect(await lengthComplaints(device, [n], random, modes, onePrecision(random, device))).toEqual([]);
    }
  });
});
