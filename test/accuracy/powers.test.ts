/** Powers of the primes up to 13, as far as 2^22 points. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, lengthComplaints, onePrecision, openWith, someOf } from '../support/transforms.ts';

const random = randomFor('accuracy/powers');
const LONGEST = 2 ** 22;
/** Above this the reference takes seconds, so that continuous integration takes one such length of two and of two odd primes. */
const QUICK = 2 ** 18;
/** Up to here both precisions are cheap. */
const SHORT = 2 ** 10;

let device: Device;
beforeAll(async () => {
  device = await openWith({}, 2);
});
afterAll(() => device.close());

const primes = [2, 3, 5, 7, 11, 13];
const withLong = [2, ...someOf(random, primes.slice(1), 2)];

describe.each(primes)('powers of %i', (prime) => {
  const powers: number[] = [];
  for (let n = prime; n <= LONGEST; n *= prime) powers.push(n);
  const quick = powers.filter((n) => n <= QUICK);
  const long = powers.filter((n) => n > QUICK);
  const minutes = 60_000 * (exhaustive ? 30 : 3);

  it(
    `up to ${quick.at(-1)} are accurate`,
    async () => {
      for (const n of quick) {
        const precision = n <= SHORT ? {} : onePrecision(random, device);
        expect(await lengthComplaints(device, [n], random, ['host'], precision)).toEqual([]);
      }
    },
    minutes,
  );

  const chosen = exhaustive ? long : [random.pick(long)];
  it.each(withLong.includes(prime) ? chosen : [])(
    '%i is accurate',
    async (n) => {
      expect(await lengthComplaints(device, [n], random, ['alloc'])).toEqual([]);
    },
    minutes,
  );
});
