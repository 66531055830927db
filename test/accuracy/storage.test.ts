/** Numbers that are stored narrower than they are computed with: at the edges, between launches, or both. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { fromHalf, toHalf } from '../support/halves.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { randomFor } from '../support/random.ts';
import { storageProblems, triedStorage } from '../support/stored.ts';
import { openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/storage');
const tried = async (device: Device, problem: ProblemInput, direction: 'forward' | 'inverse') => {
  const { what, error, allowed } = await triedStorage(device, { ...problem, debug: true }, direction, random);
  return error <= allowed ? [] : [`${what}: error ${error} is over ${allowed}`];
};

describe('as WebAssembly', () => {
  let device: Device;
  let split: Device;
  beforeAll(async () => {
    device = await openWith({}, 1);
    split = await openWith({ sharedBytes: 4096 }, 1);
  });
  afterAll(() => {
    device.close();
    split.close();
  });

  it.each(storageProblems.map((problem) => [JSON.stringify(problem), problem] as const))('%s', async (_, problem) => {
    for (const direction of ['forward', 'inverse'] as const)
      expect(await tried(device, problem, direction)).toEqual([]);
  });

  it('in several uploads', async () => {
    for (const precision of ['half', 'single'] as const) {
      for (const size of [[1024], [2000]]) {
        const problem = { size, precision, edgeStorage: 'half' } as const;
        expect(await tried(split, problem, 'forward')).toEqual([]);
      }
    }
  });

  it('memory of a device is what its plans store', async () => {
    const plan = await device.plan({ size: [16], edgeStorage: 'half' });
    expect(plan.input.bytes).toBe(64);
    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    (input.array as unknown as Uint16Array).fill(0)[0] = toHalf(1);
    plan.forwardSync(input, output);
    expect(Array.from(output.array as unknown as Uint16Array, fromHalf)).toEqual(
      Array.from({ length: 32 }, (_, n) => 1 - (n % 2)),
    );
  });

  it('overflows to infinity, and keeps subnormals', async () => {
    const plan = await device.plan({ size: [4], edgeStorage: 'half', scale: { forward: 1, inverse: 2 ** -20 } });
    const large = Uint16Array.from([60000, 0, 60000, 0, 0, 0, 0, 0], toHalf);
    expect(fromHalf((await plan.forward(large))[0]!)).toBe(Number.POSITIVE_INFINITY);
    const one = Uint16Array.from([1, 0, 0, 0, 0, 0, 0, 0], toHalf);
    expect(fromHalf((await plan.inverse(one))[0]!)).toBe(2 ** -20);
  });

  it('wider than what is computed is refused', async () => {
    for (const problem of [{ edgeStorage: 'double' }, { storage: 'double-double' }] as const) {
      const error = await device.plan({ size: [8], ...problem } as never).catch((reason) => reason);
      expect(error.code).toBe('unsupported-feature');
    }
  });
});

it.each(['h200', 'webgpu-default'] as const)('interpreted for %s', async (name) => {
  const { profile } = namedProfiles[name];
  const device = openInterpreted(profile as DeviceProfile);
  for (const problem of storageProblems) {
    if (problem.precision === 'double' && name !== 'h200') continue;
    expect(await tried(device, problem, 'forward')).toEqual([]);
  }
});
