/** Powers of the primes up to 13, as far as 2^22 points. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, lengthComplaints, openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/powers');
const LONGEST = 2 ** 22;
/** Above this the reference takes seconds, so that continuous integration takes one such length for each prime. */
const QUICK = 2 ** 18;

let device: Device;
beforeAll(async () => {
  device = await openWith({}, 2);
});
afterAll(() => device.close());

describe.each([2, 3, 5, 7, 11, 13])('powers of %i', (prime) => {
  const powers: number[] = [];
  for (let n = prime; n <= LONGEST; n *= prime) powers.push(n);
  const quick = powers.filter((n) => n <= QUICK);
  const long = powers.filter((n) => n > QUICK);
  const minutes = 60_000 * (exhaustive ? 30 : 3);

  it(
    `up to ${quick.at(-1)} are accurate`,
    async () => {
      for (const n of quick) expect(await lengthComplaints(device, [n], random, ['host'])).toEqual([]);
    },
    minutes,
  );

  const chosen = exhaustive ? long : [random.pick(long)];
  it.each(chosen)(
    '%i is accurate',
    async (n) => {
      expect(await lengthComplaints(device, [n], random, ['alloc'])).toEqual([]);
    },
    minutes,
  );
});
