/** What callers do to their arrays while a call is on its way, on a device whose memory host code sees. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openUnseen } from '../../../test/support/gate.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openCpuBackend } from '../../devices/cpu/index.ts';
import { Pool } from '../../devices/cpu/pool.ts';
import type { Queue, QueueJob } from '../../devices/cpu/queue.ts';
import { Device } from '../device.ts';

const random = randomFor('engine/in-flight');
const N = 30;
let device: Device;
let queue: Queue;
beforeEach(() => {
  const backend = openCpuBackend({ threads: 2, workers: Pool });
  ({ queue } = backend as unknown as { queue: Queue });
  device = new Device(backend);
});
afterEach(() => device.close());

/** Holds back what is submitted from now on. @returns lets it go. */
function hold(): () => void {
  let release = () => {};
  let open = false;
  const opened = new Promise<void>((resolve) => {
    release = () => {
      open = true;
      resolve();
    };
  });
  const job: QueueJob = { advance: (blocking) => open || blocking, wait: () => opened };
  queue.push(job).catch(() => {});
  return release;
}

const signal = (length: number) => new Float32Array(uniform(random, length, 'single'));

describe('what lies between the elements of a result', () => {
  it.each(['out-of-place', 'in-place'] as const)('is the caller’s at all times, %s', async (placement) => {
    const strides = [1, 3, 3 * N];
    const sides = placement === 'in-place' ? { input: strides, output: strides } : { output: strides };
    const plan = await device.plan({ size: [N], strides: sides, placement });
    const data = signal(2 * plan.output.length);
    const x = placement === 'in-place' ? data : signal(2 * N);
    const alone = plan.forwardSync(placement === 'in-place' ? data.slice() : x);
    const release = hold();
    const call = placement === 'in-place' ? plan.forward(data) : plan.forward(x, data);
    const isGap = (i: number) => (i >> 1) % 3 !== 0;
    data.forEach((_, i) => isGap(i) && (data[i] = i));
    release();
    await call;
    data.forEach((value, i) => expect(value).toBe(isGap(i) ? i : (alone as Float32Array)[i]));
  });

  it('may be another call’s result', async () => {
    const strides = { output: [1, 2, 2 * N] };
    const [even, odd] = await Promise.all([
      device.plan({ size: [N], strides }),
      device.plan({ size: [N], strides, offsets: { output: 1 } }),
    ]);
    const [x, w] = [signal(2 * N), signal(2 * N)];
    const y = new Float32Array(2 * odd.output.length);
    const release = hold();
    const calls = [even.forward(x, y.subarray(0, 2 * even.output.length)), odd.forward(w, y)];
    release();
    await Promise.all(calls);
    const plain = await device.plan({ size: [N] });
    const [a, b] = [plain.forwardSync(x), plain.forwardSync(w)] as [Float32Array, Float32Array];
    for (let k = 0; k < N; k++) {
      expect([...y.subarray(4 * k, 4 * k + 4)]).toEqual([
        ...a.subarray(2 * k, 2 * k + 2),
        ...b.subarray(2 * k, 2 * k + 2),
      ]);
    }
  });
});

it('another device waits until calls in the queue have read and written their arrays', async () => {
  const other = new Device(openUnseen());
  const [here, there] = await Promise.all([device.plan({ size: [N] }), other.plan({ size: [N] })]);
  const [x, w] = [signal(2 * N), signal(2 * N)];
  const [y, z] = [new Float32Array(2 * N), new Float32Array(2 * N)];
  const given = x.slice();
  const release = hold();
  const calls = [here.forward(given, y), there.forward(y, z), there.forward(w, given), here.inverse(w, y)];
  release();
  await Promise.all(calls);
  expect(z).toEqual(here.forwardSync(here.forwardSync(x)));
  expect(given).toEqual(here.forwardSync(w));
  expect(y).toEqual(here.inverseSync(w));
  other.close();
});

describe('arrays that change their size', () => {
  const bytes = 8 * N;
  type Resizable = ArrayBuffer & { resize(bytes: number): void };
  const resizable = () =>
    new (ArrayBuffer as unknown as new (bytes: number, options: object) => Resizable)(bytes, {
      maxByteLength: 2 * bytes,
    });

  it.each(['transferred', 'resized'])('one plane %s: the other one is not written either', async (fate) => {
    const plan = await device.plan({ size: [N], layout: 'planar' });
    for (const [kept, lost] of [
      ['re', 'im'],
      ['im', 're'],
    ] as const) {
      const memory = resizable();
      const output = { [kept]: signal(N), [lost]: new Float32Array(memory, 0, N) } as {
        re: Float32Array;
        im: Float32Array;
      };
      const before = output[kept].slice();
      const release = hold();
      const call = plan.forward({ re: signal(N), im: signal(N) }, output);
      if (fate === 'resized') memory.resize(64);
      else structuredClone(memory, { transfer: [memory] });
      release();
      await expect(call).rejects.toMatchObject({ name: 'FftError', code: 'detached-array' });
      expect(output[kept]).toEqual(before);
    }
  });

  it.each([
    ['a view of all there is', 0, 64],
    ['a view of all there is', 0, 2 * bytes],
    ['a view of some numbers', 2 * N, 64],
  ])('%s (%i): resized to %i bytes', async (_, length, size) => {
    const plan = await device.plan({ size: [N] });
    for (const which of ['input', 'output'] as const) {
      const memory = resizable();
      const array = length > 0 ? new Float32Array(memory, 0, length) : new Float32Array(memory);
      const release = hold();
      const call = which === 'input' ? plan.forward(array) : plan.forward(signal(2 * N), array);
      memory.resize(size);
      release();
      await expect(call).rejects.toMatchObject({ name: 'FftError', code: 'detached-array' });
    }
    const x = signal(2 * N);
    expect(await plan.forward(x)).toEqual(plan.forwardSync(x));
  });
});

it('an object that only says that it is an array is refused', async () => {
  const plan = await device.plan({ size: [N] });
  const fake = { length: 2 * N, [Symbol.toStringTag]: 'Float32Array' };
  await expect(plan.forward(fake as unknown as Float32Array)).rejects.toMatchObject({ code: 'wrong-array-type' });
});
