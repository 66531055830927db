/** Many calls at once, in every mixture of waiting and not waiting, on one and on several threads. */
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { type Device, type DeviceMemory as M, openDevice, type Plan } from '../index.ts';

const random = randomFor('engine/calls');

function signal(points: number): Float32Array {
  return new Float32Array(uniform(random, 2 * points, 'single'));
}

/** Quicker than comparing long arrays element by element. */
function sameBits(a: Float32Array, b: Float32Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
}

/** Expects a result of the plan's forward transform. */
function expectTransform(plan: Plan, input: Float32Array, output: Float32Array): void {
  const { hi, lo } = expectedOf(plan.problem, 'forward', Float64Array.from(input));
  expect(relativeError(output, hi, lo)).toBeLessThanOrEqual(tolerance('single', plan.problem.size[0] as number));
}

describe.each([1, 2])('on %i threads', (threads) => {
  let device: Device;
  beforeEach(async () => {
    device = await openDevice('cpu', { threads });
  });
  afterEach(() => device.close());

  // Short calls run at once; long ones of several groups are shared with other threads and take iterations of the event loop.
  describe.each([64, 2 ** 17])('%i points', (n) => {
    it('overlapping calls on one plan run in order', async () => {
      const plan = await device.plan({ size: [n] });
      const inputs = Array.from({ length: 6 }, () => signal(n));
      const kept = inputs.map((input) => input.slice());
      const shared = new Float32Array(2 * n);
      const apart = inputs.map((input) => plan.forward(input));
      const together = inputs.map((input) => plan.forward(input, shared));
      const results = await Promise.all(apart);
      await Promise.all(together);
      inputs.forEach((input, i) => {
        expect(sameBits(input, kept[i] as Float32Array)).toBe(true);
        expectTransform(plan, input, results[i] as Float32Array);
      });
      expect(sameBits(shared, results.at(-1) as Float32Array)).toBe(true);
    });

    it('a chain in place, none of whose links is awaited', async () => {
      const plan = await device.plan({ size: [n], placement: 'in-place', normalize: true });
      const x = signal(n);
      const data = x.slice();
      const calls = [plan.forward(data), plan.inverse(data), plan.forward(data), plan.inverse(data)];
      await Promise.all(calls);
      expect(relativeError(data, x)).toBeLessThanOrEqual(4 * tolerance('single', n));
    });

    it('a call that cannot wait in the middle of calls that do', async () => {
      const plan = await device.plan({ size: [n] });
      const inputs = Array.from({ length: 4 }, () => signal(n));
      const waiting = inputs.map((input) => plan.forward(input));
      const others: [Float32Array, Float32Array][] = [];
      for (let round = 0; round < 12; round++) {
        const x = signal(n);
        others.push([x, plan.forwardSync(x)]);
        const back = plan.inverseSync(x);
        expect(back.every(Number.isFinite)).toBe(true);
        await (round % 6 === 5 ? new Promise((resolve) => setImmediate(resolve)) : undefined);
      }
      const results = await Promise.all(waiting);
      inputs.forEach((input, i) => expectTransform(plan, input, results[i] as Float32Array));
      for (const [x, y] of others) expectTransform(plan, x, y);
    });

    it('enqueued work and awaited calls on the same memory', async () => {
      const plan = await device.plan({ size: [n], normalize: true });
      const memory = Array.from({ length: 3 }, () => device.alloc(plan.input.bytes));
      const [a, b, c] = memory as [(typeof memory)[0], (typeof memory)[0], (typeof memory)[0]];
      const x = signal(n);
      (a.array as Float32Array).set(x);
      void plan.enqueue('forward', { input: a, output: b });
      void plan.enqueue('inverse', { input: b, output: c });
      void plan.enqueue('forward', { input: c, output: a });
      await device.finish();
      expectTransform(plan, x, b.array.slice(0, 2 * n) as Float32Array);
      expect(relativeError(c.array.subarray(0, 2 * n), x)).toBeLessThanOrEqual(2 * tolerance('single', n));
      expect(relativeError(a.array.subarray(0, 2 * n), b.array.subarray(0, 2 * n))).toBeLessThanOrEqual(
        4 * tolerance('single', n),
      );
    });

    it('several plans at once', async () => {
      const plans = await Promise.all([1, 2, 3].map(() => device.plan({ size: [n] })));
      const inputs = plans.map(() => signal(n));
      const results = await Promise.all(plans.map((plan, i) => plan.forward(inputs[i] as Float32Array)));
      plans.forEach((plan, i) => expectTransform(plan, inputs[i] as Float32Array, results[i] as Float32Array));
    });
  });

  it('a device closes under work that nobody waits for', async () => {
    const own = await openDevice('cpu', { threads: 2 });
    const plan = await own.plan({ size: [2 ** 16], batches: 4 });
    const [a, b] = [own.alloc(plan.input.bytes), own.alloc(plan.output.bytes)];
    const lost: unknown[] = [];
    const note = (reason: unknown) => lost.push(reason);
    process.on('unhandledRejection', note);
    for (let n = 0; n < 4; n++) void plan.enqueue('forward', { input: a, output: b });
    own.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(lost).toEqual([]);
  });

  it('arrays of another context are arrays', async () => {
    const plan = await device.plan({ size: [16] });
    const foreign = runInNewContext('new Float32Array(32)') as Float32Array;
    const x = signal(16);
    foreign.set(x);
    expectTransform(plan, x, await plan.forward(foreign));
    expect(plan.forwardSync(foreign)).toEqual(await plan.forward(x));
  });

  it('every kind of call runs after those before it', async () => {
    const plan = await device.plan({ size: [4096], batches: 32 });
    const x = signal(4096 * 32);
    const [a, b, c, d] = [0, 1, 2, 3].map(() => device.alloc(plan.input.bytes)) as [M, M, M, M];
    (a.array as Float32Array).set(x);
    void plan.forward(a, b);
    void plan.enqueue('inverse', { input: b, output: c });
    const host = new Float32Array(x.length);
    void plan.forward(c, host);
    plan.inverseSync(host, d);
    for (let i = 0; i < x.length; i += 1001) expect((d.array as Float32Array)[i]! / 4096 ** 2).toBeCloseTo(x[i]!, 4);
  });

  it('a failing call does not stop the ones behind it', async () => {
    const plan = await device.plan({ size: [32] });
    const x = signal(32);
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.input.bytes)];
    a.free();
    const calls = [plan.forward(x), plan.forward(x, a), plan.forward(x, b), plan.forward(x)];
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expectTransform(plan, x, (settled[3] as PromiseFulfilledResult<Float32Array>).value);
  });
});

describe('what a call remembers of the one before', () => {
  let device: Device;
  beforeEach(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterEach(() => device.close());

  it('returns the array it was given, and a new one where there was none', async () => {
    const plan = await device.plan({ size: [16] });
    const [x, y] = [signal(16), new Float32Array(32)];
    expect(await plan.forward(x, y)).toBe(y);
    expect(plan.forwardSync(x, y)).toBe(y);
    const first = await plan.forward(x);
    const second = await plan.forward(x);
    expect(second).not.toBe(first);
    expect(second).toEqual(first);
    expect(plan.forwardSync(x)).not.toBe(plan.forwardSync(x));
    const memory = device.alloc(plan.output.bytes);
    expect(await plan.forward(x, memory)).toBe(memory);
    const inPlace = await device.plan({ size: [16], placement: 'in-place' });
    expect(await inPlace.forward(x)).toBe(x);
    expect(inPlace.inverseSync(x, x)).toBe(x);
  });

  it.each(['host', 'device'])('planes that change inside the same object (%s)', async (where) => {
    const n = 24;
    const plan = await device.plan({ size: [n], layout: 'planar' });
    const make = () =>
      where === 'host'
        ? new Float32Array(n)
        : (device.alloc(plan.input.bytes / 2).array.subarray(0, n) as Float32Array);
    const [a, b] = [make(), make()];
    a.set(uniform(random, n, 'single'));
    b.set(uniform(random, n, 'single'));
    const planes = { re: a, im: b };
    const output = { re: make(), im: make() };
    const packed = (re: Float32Array, im: Float32Array) =>
      Float64Array.from({ length: 2 * n }, (_, i) => (i % 2 ? im : re)[i >> 1] as number);
    for (const call of ['forward', 'forwardSync'] as const) {
      for (const [re, im] of [
        [a, b],
        [b, a],
        [a, b],
      ] as const) {
        Object.assign(planes, { re, im });
        await (call === 'forward' ? plan.forward(planes, output) : plan.forwardSync(planes, output));
        const { hi } = expectedOf(plan.problem, 'forward', packed(re, im));
        expect(relativeError(packed(output.re, output.im), hi)).toBeLessThanOrEqual(tolerance('single', n));
      }
    }
  });

  it('memory that was freed and allocated again', async () => {
    const plan = await device.plan({ size: [64] });
    const input = device.alloc(plan.input.bytes);
    const x = signal(64);
    for (let round = 0; round < 4; round++) {
      const output = device.alloc(plan.output.bytes);
      (input.array as Float32Array).set(x);
      plan.forwardSync(input, output);
      await plan.forward(input, output);
      expectTransform(plan, x, output.array.slice(0, 128) as Float32Array);
      output.free();
    }
  });

  it('zero-copy arrays are the memory itself, whatever part of it they show', async () => {
    const plan = await device.plan({ size: [64] });
    const memory = device.alloc(4 * plan.input.bytes + 40);
    const x = signal(64);
    for (const start of [0, 1, 3, 128, 131]) {
      const input = memory.float32.subarray(start, start + 128);
      const output = memory.float32.subarray(start + 200, start + 328);
      input.set(x);
      expect(await plan.forward(input, output)).toBe(output);
      expectTransform(plan, x, output.slice());
      output.fill(0);
      plan.forwardSync(input, output);
      expectTransform(plan, x, output.slice());
    }
    expect(memory.array).toBe(memory.array);
    expect(memory.float64.buffer).toBe(memory.float32.buffer);
  });
});

describe('the result of a call', () => {
  it('has the type that the problem gives it', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const [flat, planes, mixed] = await Promise.all([
      device.plan({ size: [4] }),
      device.plan({ size: [4], layout: 'planar', precision: 'double' }),
      device.plan({ size: [4], layout: { input: 'interleaved', output: 'planar' } }),
    ]);
    // What is checked here, the compiler checks.
    const ones = Float32Array.of(1, 0, 1, 0, 1, 0, 1, 0);
    expect((await flat.inverse(await flat.forward(ones)))[0]! + flat.forwardSync(ones)[0]!).toBe(8);
    const parts = { re: Float64Array.of(1, 1, 1, 1), im: new Float64Array(4) };
    expect((await planes.forward(parts)).re[0]).toBe(4);
    expect((await mixed.forward(ones)).re[0]).toBe(4);
    expect((await flat.forward(ones, new Float32Array(8)))[0]).toBe(4);
    const memory = device.alloc(32);
    (await flat.forward(ones, memory)).free();
    for (const direction of ['forward', 'inverse'] as const) expect((await flat[direction](ones))[0]).toBe(4);
    device.close();
  });
});
