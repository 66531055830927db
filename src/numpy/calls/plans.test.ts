/** The cache of plans, and the functions' use of devices and of unusual arrays. */
import { describe, expect, it, vi } from 'vitest';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openDevice } from '../../engine/index.ts';
import { fft, fftn, ifft, irfftn, type NumpyArray, rfft, rfftn } from '../index.ts';
import * as sync from '../sync.ts';
import { PlanCache } from './plans.ts';
import { bytesOfSides, type DenseProblem } from './problem.ts';

const random = randomFor('numpy/plans');

function cache() {
  const destroyed: number[] = [];
  const make = vi.fn(({ size }: DenseProblem) => size[0]!);
  const destroy = (plan: number) => destroyed.push(plan);
  return { plans: new PlanCache({ make, destroy, bytesOf: bytesOfSides }), make, destroyed };
}

describe('plans that are kept', () => {
  it('are made once', () => {
    const { plans, make } = cache();
    for (let k = 0; k < 3; k++) plans.give(plans.take({ size: [8] }));
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('are few; the one not asked for longest goes, unless it is in use', () => {
    const { plans, destroyed } = cache();
    const held = plans.take({ size: [1] });
    for (let n = 2; n <= 32; n++) plans.give(plans.take({ size: [n] }));
    plans.give(plans.take({ size: [2] }));
    expect(destroyed).toEqual([]);
    plans.give(plans.take({ size: [33] }));
    plans.give(plans.take({ size: [34] }));
    expect(destroyed).toEqual([3, 4]);
    plans.give(held);
    plans.give(plans.take({ size: [35] }));
    expect(destroyed).toEqual([3, 4, 1]);
  });

  it('take a limited amount of memory, given back before more is asked for', () => {
    const { plans, destroyed } = cache();
    plans.give(plans.take({ size: [2 ** 22], precision: 'double' }));
    const lease = plans.take({ size: [2 ** 21], batches: 2, precision: 'double' });
    expect(destroyed).toEqual([2 ** 22]);
    plans.give(plans.take({ size: [5], precision: 'single' }));
    expect(destroyed).toEqual([2 ** 22, 5]);
    plans.give(lease);
  });

  it('are no longer offered after a failure, and destroyed when the last one gives them back', () => {
    const { plans, make, destroyed } = cache();
    const [a, b] = [plans.take({ size: [8] }), plans.take({ size: [8] })];
    plans.forget(a);
    plans.give(a);
    expect(destroyed).toEqual([]);
    plans.forget(b);
    plans.give(b);
    expect(destroyed).toEqual([8]);
    plans.give(plans.take({ size: [8] }));
    expect(make).toHaveBeenCalledTimes(2);
  });
});

describe('devices', () => {
  it('keep their plans for the next call, and no more than some', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const plan = vi.spyOn(device, 'plan');
    const x = Float32Array.from(uniform(random, 64, 'single'));
    const first = await fft(x, { device });
    // The same problem with another shape.
    expect(await fft({ data: x, shape: [1, 64, 1], dtype: 'float32' }, { device, axis: 1 })).toEqual({
      ...first,
      shape: [1, 64, 1],
    });
    expect(plan).toHaveBeenCalledTimes(1);
    for (let batches = 1; batches <= 80; batches++) {
      await fft({ data: new Float32Array(8 * batches), shape: [batches, 8], dtype: 'float32' }, { device });
    }
    const made = await Promise.all(plan.mock.results.map(({ value }) => value));
    const living = made.filter((one) => {
      try {
        return one.toJSON() !== undefined;
      } catch {
        return false;
      }
    });
    expect(living.length).toBe(32);
    device.close();
  });

  it('take reals along any axis as they lie in memory', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const plan = vi.spyOn(device, 'plan');
    const data = Float64Array.from(uniform(random, 4 * 6 * 10));
    const x = { data, shape: [4, 6, 10], dtype: 'float64' } as const;
    const bins = await rfftn(x, { axes: [2, 0], device });
    expect(plan).toHaveBeenLastCalledWith(
      expect.objectContaining({ size: [4, 10, 6], strides: { input: [1, 60, 1, 10, 1], output: [1, 60, 1, 10, 1] } }),
    );
    const back = await irfftn(bins, { axes: [2, 0], device });
    back.data.forEach((value, k) => {
      expect(value).toBeCloseTo(data[k]!, 12);
    });
    // If no transformed axis is nearer in memory, data is packed for the plan.
    await rfft(x, { axis: 1, device });
    expect(plan).toHaveBeenLastCalledWith(expect.objectContaining({ size: [6], leftBatches: 10, batches: 4 }));
    expect(plan.mock.lastCall![0]).not.toHaveProperty('strides');
    device.close();
  });

  it('many calls at once give what each alone gives', async () => {
    const inputs = Array.from({ length: 12 }, () => uniform(random, 240));
    const alone = inputs.map((x) => sync.fft(x).data);
    const together = await Promise.all(inputs.map((x) => fft(x)));
    together.forEach(({ data }, k) => {
      data.forEach((value, i) => expect(value).toBeCloseTo(alone[k]![i]!, 11));
    });
  });

  it('a failed call does not spoil the next', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const data = Float64Array.from(uniform(random, 32));
    const x: NumpyArray = { data, shape: [16], dtype: 'complex128' };
    const expected = sync.fft(x).data;
    const call = fft(x, { device });
    structuredClone(data.buffer, { transfer: [data.buffer] });
    await expect(call).rejects.toMatchObject({ code: 'detached-array' });
    const again = { ...x, data: Float64Array.from(sync.ifft({ ...x, data: expected }).data) };
    (await fft(again, { device })).data.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 12));
    device.close();
  });
});

describe('arrays', () => {
  it.each([Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array])(
    'integers are doubles: %o',
    async (Type) => {
      const spectrum = await fft(Type.of(1, 2, 3, 4));
      expect(spectrum).toEqual(sync.fft(Float64Array.of(1, 2, 3, 4)));
      expect(spectrum.dtype).toBe('complex128');
    },
  );

  it('lists are doubles of as many axes as they are deep', async () => {
    const lists = [
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    ];
    const array = { data: Float64Array.of(1, 2, 3, 4, 5, 6), shape: [1, 3, 2], dtype: 'float64' } as const;
    expect(await fftn(lists)).toEqual(sync.fftn(array));
    expect(sync.rfft(lists, { axis: 1 })).toEqual(sync.rfft(array, { axis: 1 }));
    expect(sync.fft([], { n: 2 })).toEqual(sync.fft(new Float64Array(0), { n: 2 }));
    expect(sync.rfft([[], []], { n: 3 }).shape).toEqual([2, 2]);
  });

  it('64-bit integers, bytes of a Buffer, shared memory', () => {
    const expected = sync.fft(Float64Array.of(1, 2, 3, 4));
    expect(sync.fft(BigInt64Array.of(1n, 2n, 3n, 4n))).toEqual(expected);
    expect(sync.fft(Buffer.from([1, 2, 3, 4]))).toEqual(expected);
    const shared = new Float64Array(new SharedArrayBuffer(32));
    shared.set([1, 2, 3, 4]);
    expect(sync.fft(shared)).toEqual(expected);
  });

  it('nothing to transform still gives new, complex numbers', async () => {
    const x: NumpyArray = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 1], dtype: 'complex64' };
    for (const norm of ['backward', 'ortho', 'forward'] as const) {
      const same = await fftn(x, { axes: [], norm });
      expect(same).toEqual(x);
      expect(same.data).not.toBe(x.data);
      expect(await ifft(x, { norm })).toEqual(x);
    }
    const number: NumpyArray = { data: Float64Array.of(7), shape: [], dtype: 'float64' };
    expect(sync.fftn(number)).toEqual({ data: Float64Array.of(7, 0), shape: [], dtype: 'complex128' });
  });

  it('empty batches are empty', async () => {
    const none: NumpyArray = { data: new Float32Array(0), shape: [0, 8], dtype: 'float32' };
    const expected = { data: new Float32Array(0), shape: [0, 5], dtype: 'complex64' };
    expect(await fft(none, { n: 5 })).toEqual(expected);
    expect(sync.fft(none, { n: 5 })).toEqual(expected);
    expect(await rfft(none)).toEqual(expected);
    const reals = { data: new Float32Array(0), shape: [0, 14], dtype: 'float32' };
    expect(sync.irfft({ ...none, dtype: 'complex64' })).toEqual(reals);
    expect(sync.hfft(none, { n: 14 })).toEqual(reals);
    const filled = sync.fft(new Float64Array(0), { n: 3 });
    expect(filled).toEqual({ data: new Float64Array(6), shape: [3], dtype: 'complex128' });
  });

  // A loop over the axes outside an empty one would not end within the test's time.
  it('empty batches are empty at once, however long the axes around them', async () => {
    for (const dtype of ['float64', 'complex64'] as const) {
      const data = dtype === 'float64' ? new Float64Array(0) : new Float32Array(0);
      const array = { data, shape: [2 ** 40, 0, 4], dtype };
      expect(await fft(array, { n: 8 })).toMatchObject({ data: { length: 0 }, shape: [2 ** 40, 0, 8] });
      expect(await fft(array, { n: 3 })).toMatchObject({ data: { length: 0 }, shape: [2 ** 40, 0, 3] });
    }
  });
});
