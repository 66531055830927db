/** `plan.measure`, and offsets at launch, on the device that every machine has. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { poison } from '../../../test/support/poison.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { type Device, type DeviceMemory, openDevice } from '../../index.ts';
import { wallClock } from './measure.ts';

const random = randomFor('engine/measuring/measure');
const N = 60;

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

describe('measure', () => {
  it('takes memory of its own or the caller’s, in place and apart, planar and not', async () => {
    for (const layout of ['interleaved', 'planar'] as const) {
      for (const placement of ['in-place', 'out-of-place'] as const) {
        const plan = await device.plan({ size: [N], layout, placement });
        expect(await plan.measure('forward')).toBeGreaterThan(0);
        expect(await plan.measure('inverse', { repeats: 2, offsets: { input: 3 } })).toBeGreaterThan(0);
      }
    }
    const plan = await device.plan({ size: [N], directions: 'forward' });
    const input = device.alloc(plan.input.bytes);
    input.array.fill(0);
    expect(await plan.measure('forward', { input, repeats: 1 })).toBeGreaterThan(0);
  });

  it('is proportional to the work', async () => {
    const [short, long] = await Promise.all([2 ** 8, 2 ** 16].map((n) => device.plan({ size: [n] })));
    const [less, more] = [await short!.measure('forward'), await long!.measure('forward')];
    expect(more).toBeGreaterThan(4 * less);
  });

  it('refuses what a call would be refused for', async () => {
    const plan = await device.plan({ size: [N], directions: 'forward' });
    const input = device.alloc(plan.input.bytes);
    expect(await codeOf(() => plan.measure('inverse' as never))).toBe('direction-not-planned');
    expect(await codeOf(() => plan.measure('forward', { repeats: 1.5 }))).toBe('invalid-argument');
    expect(await codeOf(() => plan.measure('forward', { input, output: input }))).toBe('aliased-buffers');
    expect(await codeOf(() => plan.measure('forward', { times: 3 } as object))).toBe('unknown-field');
    plan.destroy();
    expect(await codeOf(() => plan.measure('forward'))).toBe('destroyed');
  });

  it('says what became of the device meanwhile', async () => {
    const brief = await openDevice('cpu', { threads: 1 });
    const plan = await brief.plan({ size: [N], placement: 'in-place' });
    const measured = codeOf(() => plan.measure('forward'));
    brief.close();
    expect(await measured).toBe('device-closed');
  });
});

describe('a clock that moves in steps', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([0.005, 0.1, 1])('of %f ms is no part of the result, however few repeats', async (step) => {
    const cost = 0.0017;
    let time = 0;
    // Looking at a clock takes its time, too.
    vi.spyOn(performance, 'now').mockImplementation(() => Math.floor((time += 1e-4) / step) * step);
    const run = async () => {
      time += cost;
    };
    for (const repeats of [1, 10, 1000]) {
      expect(Math.abs((await wallClock({ run }, repeats)) / cost - 1)).toBeLessThan(0.05);
    }
  });
});

describe('offsets at launch', () => {
  it('move both sides by elements, and nothing else is touched', async () => {
    for (const layout of ['interleaved', 'planar'] as const) {
      const plan = await device.plan({ size: [N], layout, directions: 'forward' });
      const x = Float32Array.from(uniform(random, 2 * N, 'single'));
      const { hi, lo } = expectedOf(plan.problem, 'forward', Float64Array.from(x));
      for (const offsets of [{ input: 1, output: 7 }, { input: 16 }, { output: 3 }]) {
        const parts = layout === 'planar' ? 2 : 1;
        const each = 2 / parts;
        const make = (skip: number) =>
          Array.from({ length: parts }, () => device.alloc(4 * each * (skip + N + 5), 'single'));
        const [skipIn, skipOut] = [offsets.input ?? 0, offsets.output ?? 0];
        const [from, to] = [make(skipIn), make(skipOut)];
        const [input, output] = [from, to].map((list) => list.map(({ float32 }) => poison(float32)));
        x.forEach((value, i) => {
          const [part, at] = layout === 'planar' ? [i % 2, i >> 1] : [0, i];
          input![part]![each * skipIn + at] = value;
        });
        const data = (list: readonly DeviceMemory[]) =>
          layout === 'planar' ? { re: list[0]!, im: list[1]! } : list[0]!;
        await plan.enqueue('forward', { input: data(from), output: data(to), offsets });
        const result = Float32Array.from(x, (_, i) => {
          const [part, at] = layout === 'planar' ? [i % 2, i >> 1] : [0, i];
          return output![part]![each * skipOut + at]!;
        });
        expect(relativeError(result, hi, lo)).toBeLessThanOrEqual(tolerance('single', N));
        for (const array of output!) {
          expect(array.subarray(0, each * skipOut).every(Number.isNaN)).toBe(true);
          expect(array.subarray(each * (skipOut + N)).every(Number.isNaN)).toBe(true);
        }
      }
    }
  });

  it('are checked', async () => {
    const plan = await device.plan({ size: [N], directions: 'forward' });
    const inPlace = await device.plan({ size: [N], placement: 'in-place', directions: 'forward' });
    const [small, large] = [device.alloc(8 * N), device.alloc(16 * N)];
    const enqueue = (options: object, of: typeof plan | typeof inPlace = plan) =>
      codeOf(() => of.enqueue('forward', options));
    expect(await enqueue({ input: small, output: large, offsets: { input: 1 } })).toBe('buffer-too-small');
    expect(await enqueue({ input: small.array, output: large, offsets: { input: 1 } })).toBe('wrong-length');
    expect(await enqueue({ input: large, output: large, offsets: { output: N } })).toBe(undefined);
    expect(await enqueue({ input: large, output: large, offsets: { output: N - 1 } })).toBe('aliased-buffers');
    expect(await enqueue({ input: large, offsets: { output: 3 } }, inPlace)).toBe(undefined);
    expect(await enqueue({ input: large, offsets: { input: 2, output: 3 } }, inPlace)).toBe('aliased-buffers');
    expect(await enqueue({ input: small, output: large, offsets: { input: -1 } })).toBe('invalid-argument');
    expect(await enqueue({ input: small, output: large, encoder: {}, queue: 1 })).toBe('invalid-argument');
  });
});
