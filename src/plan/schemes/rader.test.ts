import { describe, expect, it } from 'vitest';
import type { Tried } from '../../../test/support/accuracy.ts';
import { blocksSample, triedBlocks } from '../../../test/support/blocks.ts';
import { triedComplex } from '../../../test/support/complex.ts';
import { triedConvolution } from '../../../test/support/convolution.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { triedReal } from '../../../test/support/real.ts';
import { triedStorage } from '../../../test/support/stored.ts';
import { triedSums } from '../../../test/support/sums.ts';
import { complaints, openWith, someOf } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import type { Device } from '../../engine/device.ts';
import { openProfile } from '../../engine/open-profile.ts';
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
  multiplied: () =>
    random.pick([
      random.pick([17, 19, 23, 29, 31]) * random.pick([1, 2, 3, 4, 8, 12, 17, 35]),
      random.pick([131, 139, 199]) * random.pick([1, 2, 3, 4]),
    ]),
  convolved: () =>
    random.pick([
      random.pick([17, 19, 29, 31, 41, 43, 61, 101, 127, 151, 211, 257]),
      random.pick([131, 137, 151]) * random.pick([2, 3, 4, 5, 8, 17]),
    ]),
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
      const requested: ProblemInput = { size: [n], batches: 3, edgeStorage: 'half', layout, tuning };
      said(await triedStorage(device, requested, direction, random));
    }
  }
  return found;
}

/** Lengths with a prime over 127, of which passes are made in several steps: none of them is convolved as a whole. */
const kinds: readonly ProblemInput[] = [
  { size: [2 * 131 * 2], transform: 'r2c' },
  { size: [3 * 131], transform: 'r2c', batches: 2 },
  { size: [2 * 137], transform: 'dct2' },
  { size: [2 * 131 + 1], transform: 'dct1' },
  { size: [4 * 131], transform: 'dct4' },
  { size: [4 * 131], convolution: {} },
  { size: [2 * 131, 3], transform: 'r2c', convolution: {} },
  { size: [131 * 137] },
  { size: [8 * 131], tuning: { uploadSwitch: { two: 512 } } },
];

function tried(device: Device, problem: ProblemInput): Promise<Tried> {
  if (problem.convolution) return triedConvolution(device, problem, random);
  if (problem.transform === 'r2c') return triedReal(device, problem, random.pick(['forward', 'inverse']), random);
  if (problem.transform) return triedSums(device, problem, random.pick(['forward', 'inverse']), random);
  return triedComplex(device, problem, random.pick(['forward', 'inverse']), random);
}

describe('a prime over 127 inside of a length', () => {
  it.each(['multiply', 'convolve'] as const)('is a pass of every kind of transform, by %s', async (way) => {
    const rader = { multiply: [14, 16], convolve: [14, 16], [way]: [14, 2 ** 20] } as const;
    const devices = [await openWith({}, 1), openInterpreted(namedProfiles.h200.profile as DeviceProfile)];
    const first = random.integer(0, 1);
    for (const [n, kind] of kinds.entries()) {
      const problem: ProblemInput = { ...kind, tuning: { ...kind.tuning, rader }, debug: true };
      const { what, error, allowed, damage } = await tried(devices[(n + first) % 2]!, problem);
      expect(damage, what).toEqual([]);
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
    devices[0]!.close();
  });

  it('is one upload on a GPU, and costs less there than a convolution of twice as many points', async () => {
    const device = await openProfile('h200');
    for (const size of [262, 8072, 131 * 137]) {
      const price = async (tuning: ProblemInput['tuning']) => {
        const plan = await device.plan({ size: [size], batches: 1000, directions: 'forward', tuning });
        return plan.toJSON();
      };
      const [own, padded] = [await price({}), await price({ rader: { multiply: [14, 16], convolve: [14, 16] } })];
      expect(own.directions[0]!.launches).toHaveLength(1);
      expect(own.directions[0]!.launches[0]!.steps).toContainEqual(
        expect.objectContaining({ rader: expect.arrayContaining([expect.objectContaining({ by: 'convolution' })]) }),
      );
      expect(own.candidates.list[0]!.price).toBeLessThan(padded.candidates.list[0]!.price);
    }
  });

  it('primes up to 13 are multiplied in steps where a range asks for more than them', async () => {
    const device = await openProfile('h200');
    const steps = async (multiply: readonly [number, number]) =>
      (await device.plan({ size: [2 * 3 * 11 * 11], directions: 'forward', tuning: { rader: { multiply } } }))
        .toJSON()
        .directions[0]!.launches[0]!.steps.flatMap((step) => (step.do === 'passes' ? (step.rader ?? []) : []))
        .map(({ prime }) => prime);
    expect(await steps([11, 41])).toEqual([11]);
    expect((await steps([2, 41])).sort((a, b) => a - b)).toEqual([3, 11]);
    expect(await steps([2, 13])).toEqual([]);
  });

  it('sums over primes are written where shared memory holds one half of the numbers at a time', async () => {
    const device = await openProfile('arc');
    const tuning = { registerBoost: 2, rader: { multiply: [3, 41], convolve: [14, 16] } } as const;
    const { kernels } = await device.plan({ size: [37 * 11 * 8], batches: 100, directions: 'forward', tuning });
    expect(kernels[0]!.source).toContain('for (');
  });
});

describe.each(['multiplied', 'convolved'] as const)('primes %s', (way) => {
  it.each(['single', 'double'] as const)('as WebAssembly, in %s precision', async (precision) => {
    const device = await openWith({}, 1);
    for (const problem of someOf(random, problems(way), 5)) {
      const requested: ProblemInput = { ...problem, precision, tuning: ways[way], debug: true };
      expect(await complaints(device, requested, random, ['host', 'alloc'])).toEqual([]);
    }
    expect(await otherComplaints(device, way)).toEqual([]);
    device.close();
  });

  it.each(['h200', 'webgpu-default', 'm2'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (const problem of someOf(random, problems(way), 5)) {
      const requested: ProblemInput = { ...problem, tuning: ways[way], debug: true };
      expect(await complaints(device, requested, random, ['host'])).toEqual([]);
    }
    expect(await otherComplaints(device, way)).toEqual([]);
  });
});
