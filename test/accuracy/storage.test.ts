/** Numbers that are stored narrower than they are computed with: at the edges, between launches, or both. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/profile.ts';
import { referenceTransform } from '../reference/transform.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import { fromHalf, toHalf } from '../support/halves.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { randomFor, uniform } from '../support/random.ts';
import { openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/storage');
type Stored = 'half' | 'single' | 'double';

/** An array of what a problem stores, and what it stands for. */
function stored(values: Float64Array, storage: Stored): Uint16Array | Float32Array | Float64Array {
  if (storage === 'half') return Uint16Array.from(values, toHalf);
  return storage === 'single' ? Float32Array.from(values) : values;
}

function numbers(array: ArrayLike<number>, storage: Stored): Float64Array {
  return Float64Array.from(array, storage === 'half' ? fromHalf : (value) => value);
}

async function tried(device: Device, input: ProblemInput, direction: 'forward' | 'inverse'): Promise<string[]> {
  const plan = await device.plan({ ...input, debug: true });
  const { edgeStorage, storage, precision, size, batches, layout, placement } = plan.problem;
  const points = size.reduce((a, b) => a * b, 1);
  const count = points * batches;
  const values = uniform(random, 2 * count);
  // So that halves neither overflow nor underflow.
  const data = stored(values, edgeStorage as Stored);
  const exact = numbers(data, edgeStorage as Stored);
  const planar = layout.input === 'planar';
  const part = (array: typeof data, odd: number) => array.filter((_, n) => n % 2 === odd) as typeof data;
  const given = planar ? { re: part(data, 0), im: part(data, 1) } : data;
  const result = await (placement === 'in-place'
    ? plan[direction](given as never, given as never)
    : plan[direction](given as never));
  const flat = planar
    ? numbers(data, edgeStorage as Stored).map((_, n) => {
        const { re, im } = result as unknown as { re: typeof data; im: typeof data };
        return numbers([(n % 2 === 0 ? re : im)[n >> 1]!], edgeStorage as Stored)[0]!;
      })
    : numbers(result as never, edgeStorage as Stored);
  const expected = referenceTransform({ size, batches, direction }, exact);
  const error = relativeError(flat, expected.hi, expected.lo);
  const { launches } = plan.toJSON().directions[0]!;
  const narrowest = [edgeStorage, ...(launches.length > 1 ? [storage] : []), precision].includes('half')
    ? 'half'
    : [edgeStorage, ...(launches.length > 1 ? [storage] : []), precision].includes('single')
      ? 'single'
      : 'double';
  const allowed = tolerance(narrowest, points) * (size.some((n) => n % 17 === 0) ? 5 : 1);
  return error <= allowed ? [] : [`${JSON.stringify(input)} ${direction}: error ${error} is over ${allowed}`];
}

const problems: readonly ProblemInput[] = [
  { size: [64], precision: 'half' },
  { size: [60], precision: 'half', batches: 3 },
  { size: [105], edgeStorage: 'half', layout: 'planar' },
  { size: [1000], edgeStorage: 'half', placement: 'in-place' },
  { size: [24, 18], precision: 'half' },
  { size: [17], edgeStorage: 'half', batches: 5 },
  { size: [12, 10, 6], storage: 'half', edgeStorage: 'single' },
  { size: [512], precision: 'double', edgeStorage: 'single' },
  { size: [30, 20], precision: 'double', storage: 'single' },
  { size: [100], precision: 'double', edgeStorage: 'half', storage: 'double' },
];

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

  it.each(problems.map((problem) => [JSON.stringify(problem), problem] as const))('%s', async (_, problem) => {
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
  for (const problem of problems) {
    if (problem.precision === 'double' && name !== 'h200') continue;
    expect(await tried(device, problem, 'forward')).toEqual([]);
  }
});
