/** Blocks of zeros: not read, whatever is there; not written, whatever was there; zero where they count. */
import { describe, expect, it } from 'vitest';
import { referenceTransform } from '../../test/reference/transform.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { type Random, randomFor, uniform } from '../../test/support/random.ts';
import { openWith } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import type { Device } from '../engine/device.ts';
import type { ProblemInput } from '../problem/index.ts';
import type { DeviceProfile } from './profile.ts';

const random = randomFor('plan/zero-padding');
type Block = { readonly from: number; readonly to: number } | null;

function blockOf(pick: Random, length: number): Block {
  if (length < 2 || pick.integer(0, 3) === 0) return null;
  const size = pick.integer(1, length - 1);
  const from = pick.pick([0, length - size, pick.integer(0, length - size)]);
  return { from, to: from + size };
}

/** Which elements of a packed tensor lie in a block. */
function blocked({ size, batches = 1 }: ProblemInput, blocks: readonly Block[]): boolean[] {
  const points = size.reduce((a, b) => a * b, 1);
  return Array.from({ length: points * batches }, (_, n) => {
    let rest = n % points;
    return size.some((length, axis) => {
      const at = rest % length;
      rest = Math.floor(rest / length);
      const block = blocks[axis];
      return block ? at >= block.from && at < block.to : false;
    });
  });
}

interface Sample {
  readonly problem: ProblemInput;
  readonly space: readonly Block[];
  readonly frequency: readonly Block[];
}

function sample(sizes: readonly (readonly number[])[], both: boolean): Sample {
  const size = random.pick(sizes);
  const blocks = () => size.map((length) => blockOf(random, length));
  const none = size.map(() => null);
  const [space, frequency] = both ? [blocks(), blocks()] : random.integer(0, 1) ? [blocks(), none] : [none, blocks()];
  const problem: ProblemInput = {
    size,
    batches: random.integer(1, 3),
    placement: random.pick(['out-of-place', 'in-place'] as const),
    zeroPadding: { space, frequency },
    debug: true,
  };
  return { problem, space, frequency };
}

const POISON = -12345.678;

/** Complaints about one direction. */
async function tried(device: Device, { problem, space, frequency }: Sample, direction: 'forward' | 'inverse') {
  const precision = problem.precision === 'double' ? 'double' : 'single';
  const [read, written] = direction === 'forward' ? [space, frequency] : [frequency, space];
  const [absent, spared] = [blocked(problem, read), blocked(problem, written)];
  const reals = 2 * absent.length;
  const Numbers = precision === 'single' ? Float32Array : Float64Array;
  const input = new Numbers(uniform(random, reals, precision));
  const clean = Float64Array.from(input, (value, n) => (absent[n >> 1] ? 0 : value));
  absent.forEach((hidden, n) => {
    if (hidden) input[2 * n] = input[2 * n + 1] = Number.NaN;
  });
  const inPlace = problem.placement === 'in-place';
  const output = inPlace ? input : new Numbers(reals).fill(POISON);
  const before = output.slice();
  const plan = await device.plan(problem);
  await plan[direction](input as never, output as never);
  const { size, batches = 1 } = problem;
  const expected = referenceTransform({ size, batches, direction }, clean);
  const what = JSON.stringify({ problem, direction });
  const kept = spared.every(
    (hidden, n) => !hidden || [0, 1].every((part) => Object.is(output[2 * n + part], before[2 * n + part])),
  );
  if (!kept) return [`${what} wrote into a block`];
  const pick = (values: ArrayLike<number>) =>
    Float64Array.from(spared.flatMap((hidden, n) => (hidden ? [] : [values[2 * n]!, values[2 * n + 1]!])));
  const error = relativeError(pick(output), pick(expected.hi), pick(expected.lo));
  const points = size.reduce((a, b) => a * b, 1);
  // A few of many results may share less than their part of the error.
  const allowed = 5 * tolerance(precision, points);
  return error <= allowed ? [] : [`${what}: error ${error} is over ${allowed}`];
}

const sizes = [[16], [60], [17], [128], [1000], [16, 12], [30, 31], [8, 9, 10], [64, 48], [5, 1, 6]] as const;

describe('blocks of zeros', () => {
  it.each([
    ['on one side', false],
    ['on both sides', true],
  ] as const)('%s, as WebAssembly', async (_, both) => {
    const device = await openWith({}, 1);
    for (let round = 0; round < 40; round++) {
      const one = sample(sizes, both);
      const problem = { ...one.problem, precision: random.pick(['single', 'double'] as const) };
      for (const direction of ['forward', 'inverse'] as const) {
        expect(await tried(device, { ...one, problem }, direction)).toEqual([]);
      }
    }
    device.close();
  });

  it('in several uploads', async () => {
    const device = await openWith({ sharedBytes: 4096 }, 1);
    for (let round = 0; round < 12; round++) {
      const one = sample([[1024], [2048], [4096], [512, 6], [6, 1000]], true);
      for (const direction of ['forward', 'inverse'] as const) expect(await tried(device, one, direction)).toEqual([]);
    }
    device.close();
  });

  it.each(['h200', 'webgpu-default', 'mi250x'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (let round = 0; round < 12; round++) {
      const one = sample(sizes, true);
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
    [{ space: [{ from: 3, to: 3 }, null] }, 'zeroPadding.space[0]'],
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
