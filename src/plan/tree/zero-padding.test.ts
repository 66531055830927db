/** Blocks of zeros: not read, whatever is there; not written, whatever was there; zero where they count. */
import { describe, expect, it } from 'vitest';
import { type BlocksSample, blocksSample, triedBlocks } from '../../../test/support/blocks.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { exhaustive, openWith } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import type { Device } from '../../engine/device.ts';
import type { DeviceProfile } from '../device/profile.ts';

const random = randomFor('plan/tree/zero-padding');
const tried = async (device: Device, one: BlocksSample, direction: 'forward' | 'inverse') => {
  const { what, error, allowed, damage } = await triedBlocks(device, one, direction, random);
  return error <= allowed ? damage : [...damage, `${what}: error ${error} is over ${allowed}`];
};

const sizes = [[16], [60], [17], [128], [1000], [16, 12], [30, 31], [8, 9, 10], [64, 48], [5, 1, 6]] as const;

describe('blocks of zeros', () => {
  it.each([
    ['on one side', false],
    ['on both sides', true],
  ] as const)('%s, as WebAssembly', async (_, both) => {
    const device = await openWith({}, 1);
    for (let round = 0; round < (exhaustive ? 400 : 20); round++) {
      const one = blocksSample(random, sizes, both);
      const problem = { ...one.problem, precision: random.pick(['single', 'double'] as const) };
      for (const direction of ['forward', 'inverse'] as const) {
        expect(await tried(device, { ...one, problem }, direction)).toEqual([]);
      }
    }
    device.close();
  });

  it('in several uploads', async () => {
    const device = await openWith({ sharedBytes: 4096 }, 1);
    for (let round = 0; round < (exhaustive ? 120 : 8); round++) {
      const one = blocksSample(random, [[1024], [2048], [4096], [512, 6], [6, 1000]], true);
      for (const direction of ['forward', 'inverse'] as const) expect(await tried(device, one, direction)).toEqual([]);
    }
    device.close();
  });

  it.each(['h200', 'webgpu-default', 'mi250x'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (let round = 0; round < (exhaustive ? 120 : 6); round++) {
      const one = blocksSample(random, sizes, true);
      for (const direction of ['forward', 'inverse'] as const) expect(await tried(device, one, direction)).toEqual([]);
    }
  });

  it('leave lines out of launches', async () => {
    const device = await openWith({}, 1);
    const half = { from: 32, to: 64 };
    const plan = await device.plan({
      size: [64, 64, 64],
      zeroPadding: { space: [half, half, half] },
      directions: 'forward',
    });
    const lines = plan.toJSON().directions[0]!.launches.map(({ batch }) => batch.reduce((a, b) => a * b, 1));
    expect(lines).toEqual([32 * 32, 64 * 32, 64 * 64]);
    device.close();
  });

  it.each([
    [{ space: [null] }, 'zeroPadding.space'],
    [{ space: [{ from: 4, to: 3 }, null] }, 'zeroPadding.space[0]'],
    [{ space: [{ from: 0, to: 8 }, null] }, 'zeroPadding.space[0]'],
    [{ frequency: [null, { from: 2, to: 9 }] }, 'zeroPadding.frequency[1]'],
    [{ frequency: [null, { from: -1, to: 2 }] }, 'zeroPadding.frequency[1].from'],
    [{ spatial: [null, null] }, 'zeroPadding.spatial'],
  ])('%j is refused', async (zeroPadding, path) => {
    const device = await openWith({}, 1);
    const error = await device.plan({ size: [8, 8], zeroPadding } as never).catch((reason) => reason);
    expect(error.problems[0].path).toBe(path);
    device.close();
  });
});
