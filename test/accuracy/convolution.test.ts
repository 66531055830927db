import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { convolutionProblem, triedConvolution } from '../support/convolution.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';

const random = randomFor('accuracy/convolution');
let device: Device;
let small: Device;

beforeAll(async () => {
  device = await openWith({}, 2);
  small = await openWith({ sharedBytes: 4096 }, 1);
});
afterAll(() => {
  device.close();
  small.close();
});

describe('convolutions', () => {
  it('of any problem are direct sums, and touch nothing else', async () => {
    for (let n = 0; n < (exhaustive ? 1500 : 60); n++) {
      const on = n % 2 === 0 ? device : small;
      const problem = convolutionProblem(random, precisionsOf(on));
      const { what, error, allowed, damage } = await triedConvolution(on, problem, random);
      expect(damage, what).toEqual([]);
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
  });
});
