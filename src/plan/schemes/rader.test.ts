import { describe, expect, it } from 'vitest';
import { blocksSample, triedBlocks } from '../../../test/support/blocks.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { triedStorage } from '../../../test/support/stored.ts';
import { complaints, openWith } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import type { Device } from '../../engine/device.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from '../device/profile.ts';

const random = randomFor('plan/schemes/rader');
const never = [2, 13] as const;
/** Nothing but the one way, where it is one. */
const ways = {
  multiplied: { rader: { multiply: [2, 2 ** 20], convolve: never } },
  convolved: { rader: { multiply: never, convolve: [2, 2 ** 22] } },
} as const;
type DirectionScale = keyof typeof ways;

const lengths: Readonly<Record<DirectionScale, () => number>> = {
  multiplied: () => random.pick([17, 19, 23, 29, 31]) * random.pick([1, 2, 3, 4, 8, 12, 17, 35]),
  convolved: () => random.pick([17, 19, 29, 31, 41, 43, 61, 101, 127, 151, 211, 257]),
};

/** Axes of such lengths alone, among others, strided, in batches of either kind, planar, in place, with blocks of zeros. */
function problems(way: DirectionScale): ProblemInput[] {
  const n = lengths[way]();
  const m = random.pick([17, 19, 29, 31]);
  return [
    { size: [n] },
    { size: [n], batches: random.integer(2, 40), placement: 'in-place' },
    { size: [n], leftBatches: random.integer(2, 20), placement: 'in-place' },
    { size: [n, random.pick([1, 4, 12])], batches: 2 },
    { size: [random.pick([4, 5, 16]), n], placement: 'in-place' },
    { size: [m, n], layout: 'planar', scale: { forward: 0.5, inverse: 3 } },
    { size: [n], layout: { input: 'planar', output: 'interleaved' }, scale: { forward: 0.5, inverse: 3 } },
    {
      size: [n],
      batches: 3,
      strides: { input: [1, 2, 2 * n + 1], output: [1, 3, 3 * n + 2] },
      offsets: { input: 5, output: 1 },
    },
    { size: [3, n, 2], omit: [false, false, true], coordinates: 2 },
  ];
}

/** Blocks of zeros, and numbers that are halves in memory. */
async function otherComplaints(device: Device, way: DirectionScale): Promise<readonly string[]> {
  const found: string[] = [];
  const tuning = ways[way];
  const said = ({ what, error, allowed, damage }: Awaited<ReturnType<typeof triedBlocks>>) =>
    found.push(...damage, ...(error > allowed ? [`${what}: error ${error} is over ${allowed}`] : []));
  for (const direction of ['forward', 'inverse'] as const) {
    const one = blocksSample(random, [[lengths[way]()], [5, lengths[way]()]], true);
    said(await triedBlocks(device, { ...one, problem: { ...one.problem, tuning } }, direction, random));
    const n = lengths[way]();
    for (const layout of ['interleaved', 'planar'] as const) {
      const asked: ProblemInput = { size: [n], batches: 3, edgeStorage: 'half', layout, tuning };
      said(await triedStorage(device, asked, direction, random));
    }
  }
  return found;
}

describe.each(['multiplied', 'convolved'] as const)('primes %s', (way) => {
  it.each(['single', 'double'] as const)('as WebAssembly, in %s precision', async (precision) => {
    const device = await openWith({}, 1);
    for (const problem of problems(way)) {
      const asked: ProblemInput = { ...problem, precision, tuning: ways[way], debug: true };
      expect(await complaints(device, asked, random, ['host', 'alloc'])).toEqual([]);
    }
    expect(await otherComplaints(device, way)).toEqual([]);
    device.close();
  });

  it.each(['h200', 'webgpu-default', 'm2'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (const problem of problems(way)) {
      const asked: ProblemInput = { ...problem, tuning: ways[way], debug: true };
      expect(await complaints(device, asked, random, ['host'])).toEqual([]);
    }
    expect(await otherComplaints(device, way)).toEqual([]);
  });
});
