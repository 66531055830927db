/** Errors of smooth lengths beside what they are, not beside what is promised: whoever rounds more often than before is seen. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Device, openDevice } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { referenceTransform } from '../reference/transform.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import { randomFor, uniform } from '../support/random.ts';

const random = randomFor('accuracy/tight');
/** Of 1.2·u·√(1 + log2 N): 0.47 were measured up to 24 points, 0.66 up to 2^20 (powers of 5 in single). */
const SHORT = { most: 24, part: 0.55 };
const PART = 0.75;
/** Numbers in a set, so that chance is a few hundredths. */
const NUMBERS = 4096;

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

const smooth = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((n) => largestPrimeFactor(n) <= 13);

async function errorOf(length: number, precision: 'single' | 'double', transform: 'c2c' | 'r2c'): Promise<number> {
  const batches = Math.ceil(NUMBERS / length);
  const drawn = uniform(random, (transform === 'c2c' ? 2 : 1) * length * batches, precision);
  const complex =
    transform === 'c2c'
      ? drawn
      : Float64Array.from({ length: 2 * drawn.length }, (_, i) => (i % 2 ? 0 : drawn[i / 2]!));
  const { hi, lo } = referenceTransform({ size: [length], batches }, complex);
  const kept = transform === 'c2c' ? 2 * length : 2 * (Math.floor(length / 2) + 1);
  const those = (values: Float64Array) => values.filter((_, i) => i % (2 * length) < kept);
  const plan = await device.plan({ size: [length], batches, precision, transform, directions: 'forward' });
  const data = precision === 'single' ? Float32Array.from(drawn) : drawn;
  const result = (await (plan.forward as (input: object) => Promise<unknown>).call(plan, data)) as Float64Array;
  plan.destroy();
  return relativeError(result, those(hi), those(lo));
}

it.each(['single', 'double'] as const)('errors stay what they are in %s', async (precision) => {
  const few = smooth(8, SHORT.most);
  const lengths = [
    ...[1, 2, 3, 4].map(() => random.pick(few)),
    ...[100, 4000, 60_000].map((n) => random.pick(smooth(n, 1.1 * n))),
  ];
  const over: string[] = [];
  for (const length of lengths) {
    for (const transform of ['c2c', 'r2c'] as const) {
      const part = (await errorOf(length, precision, transform)) / tolerance(precision, length);
      const most = length <= SHORT.most ? SHORT.part : PART;
      if (!(part <= most)) over.push(`${length} ${transform}: ${part.toFixed(2)} of what is allowed, not ${most}`);
    }
  }
  expect(over).toEqual([]);
});
