/** Calls like the one before take short cuts: they must refuse and compute what the long way does. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { type Callback, FftError, type FftErrorCode, type ProblemInput } from '../../problem/index.ts';
import { type Device, type DeviceMemory, openDevice, type Plan } from '../index.ts';

const random = randomFor('engine/calls/call');
const N = 20;

let device: Device;
beforeEach(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterEach(() => device.close());

const signal = (length = 2 * N): Float32Array => new Float32Array(uniform(random, length, 'single'));

function codeOf(call: () => unknown): FftErrorCode | undefined {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    return (error as FftError).code;
  }
  return undefined;
}

function expectForward(plan: Plan, x: Float32Array, y: Float32Array): void {
  const { hi } = expectedOf(plan.problem, 'forward', Float64Array.from(x));
  expect(relativeError(y, hi)).toBeLessThanOrEqual(tolerance('single', N));
}

function detach(array: Float32Array): void {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
}

describe('after a call with host arrays', () => {
  let plan: Plan<{ size: number[] }>;
  let x: Float32Array;
  let y: Float32Array;
  beforeEach(async () => {
    plan = await device.plan({ size: [N] });
    [x, y] = [signal(), signal()];
    plan.forwardSync(x, y);
  });

  it('the same, others and new ones in any order give the right results', () => {
    const arrays = Array.from({ length: 4 }, () => signal());
    const memory = device.alloc(plan.input.bytes).float32.subarray(0, 2 * N);
    arrays.push(memory);
    for (let round = 0; round < 60; round++) {
      const from = random.pick(arrays);
      const to = random.pick([...arrays.filter((array) => array !== from), undefined]);
      from.set(signal());
      const before = from.slice();
      const result = plan.forwardSync(from, to);
      if (to) expect(result).toBe(to);
      expect(from).toEqual(before);
      expectForward(plan, from, result);
    }
  });

  it('refuses what it would have refused at first', () => {
    const pool = signal(4 * N);
    const cases: [unknown, unknown, FftErrorCode][] = [
      [x, x, 'aliased-buffers'],
      [pool.subarray(0, 2 * N), pool.subarray(2 * N - 1, 4 * N - 1), 'aliased-buffers'],
      [x, signal(2 * N + 1), 'wrong-length'],
      [signal(2 * N - 2), y, 'wrong-length'],
      [new Float64Array(2 * N), y, 'wrong-array-type'],
      [x, new Int32Array(2 * N), 'wrong-array-type'],
      [{ re: x, im: y }, y, 'wrong-array-type'],
      ...[Object.create(Float32Array.prototype), new Proxy(x, {})].flatMap((none): typeof cases => [
        [none, y, 'wrong-array-type'],
        [x, none, 'wrong-array-type'],
      ]),
    ];
    for (const [from, to, code] of cases) {
      expect([code, codeOf(() => plan.forwardSync(from as Float32Array, to as Float32Array))]).toEqual([code, code]);
      plan.forwardSync(x, y);
    }
    plan.forwardSync(pool.subarray(0, 2 * N), pool.subarray(2 * N));
  });

  it('notices that an array of the call before was detached', () => {
    const kept = signal();
    plan.forwardSync(x, kept);
    const before = kept.slice();
    detach(x);
    expect(codeOf(() => plan.forwardSync(x, kept))).toBe('detached-array');
    expect(kept).toEqual(before);
    plan.forwardSync(kept, y);
    detach(y);
    expect(codeOf(() => plan.forwardSync(kept, y))).toBe('detached-array');
    plan.destroy();
    expect(codeOf(() => plan.forwardSync(kept, signal()))).toBe('destroyed');
  });

  it('refuses views of freed device memory', () => {
    const memory = device.alloc(plan.output.bytes);
    const view = memory.float32.subarray(0, 2 * N);
    plan.forwardSync(x, view);
    memory.free();
    expect(codeOf(() => plan.forwardSync(x, view))).toBe('destroyed');
    expect(codeOf(() => plan.forwardSync(view, y))).toBe('destroyed');
  });
});

describe('after a call with an array of callbacks', () => {
  const load: Callback = (x, { re, im }, { axis }) => {
    const weight = x.load('weights', axis[0]!);
    return { re: x.mul(weight, re), im: x.mul(weight, im) };
  };
  const problem = {
    size: [N],
    callbacks: { forward: { load }, arrays: { weights: { type: 'f32', length: N } } },
  } as const;

  it('other data is multiplied by what the array holds now, in host or device memory', async () => {
    const plan = await device.plan(problem);
    const plain = await device.plan({ size: [N] });
    const memory = device.alloc(4 * N, 'single');
    const kinds = [memory, signal(N)] as const;
    for (let round = 0; round < 24; round++) {
      const weights = kinds[round % 5 === 0 ? 1 : 0];
      const values = weights === memory ? memory.float32 : (weights as Float32Array);
      values.set(signal(N));
      const x = signal();
      const y = round % 3 === 0 ? undefined : signal().fill(Number.NaN);
      const result = plan.forwardSync(x, y, { arrays: { weights } });
      expectForward(
        plain,
        x.map((value, k) => value * values[k >> 1]!),
        result,
      );
      if (round % 2) expect(await plan.forward(x, signal(), { arrays: { weights } })).toEqual(result);
    }
    const given = { arrays: { weights: memory } };
    plan.forwardSync(signal(), signal(), given);
    memory.free();
    expect(codeOf(() => plan.forwardSync(signal(), signal(), given))).toBe('destroyed');
  });

  it('refuses data over the array, and an array that is not there any more', async () => {
    const plan = await device.plan(problem);
    const pool = signal(4 * N);
    const weights = pool.subarray(0, N);
    const given = { arrays: { weights } };
    for (let round = 0; round < 2; round++) {
      plan.forwardSync(signal(), pool.subarray(N, 3 * N), given);
      plan.forwardSync(signal(), signal(), given);
      expect(codeOf(() => plan.forwardSync(signal(), pool.subarray(N - 1, 3 * N - 1), given))).toBe('aliased-buffers');
    }
    plan.forwardSync(signal(), signal(), given);
    detach(pool);
    const y = signal();
    const before = y.slice();
    expect(codeOf(() => plan.forwardSync(signal(), y, given))).toBe('detached-array');
    expect(y).toEqual(before);
  });
});

it('a call of memory as before ends at once where it can, and is left to the others where not', async () => {
  const plan = await device.plan({ size: [N] });
  const [from, to, other] = [0, 1, 2].map(() => device.alloc(8 * N, 'single'));
  const now = (output: DeviceMemory) => plan.now('forward', from as never, output as never, undefined);
  expect(now(to!)).toBe(false);
  to!.float32.fill(Number.NaN);
  await plan.forward(from!, to!);
  for (let round = 0; round < 3; round++) {
    from!.float32.set(signal());
    expect(now(to!)).toBe(true);
    expectForward(plan, from!.float32, to!.float32);
  }
  expect(now(other!)).toBe(false);
  to!.free();
  expect(now(to!)).toBe(false);
  expect(codeOf(() => plan.forwardSync(from!, to!))).toBe('destroyed');
  plan.destroy();
  expect(codeOf(() => now(other!))).toBe('destroyed');
});

it('other arrays in place', async () => {
  const plan = await device.plan({ size: [N], placement: 'in-place' });
  for (let round = 0; round < 6; round++) {
    const x = signal();
    const data = x.slice();
    expect(plan.forwardSync(data, round % 2 ? data : undefined)).toBe(data);
    expectForward(plan, x, data);
    expect(codeOf(() => plan.forwardSync(data, x))).toBe('aliased-buffers');
  }
});

it('leaves the gaps of every array as they were', async () => {
  const plan = await device.plan({ size: [N], strides: { output: [1, 3, 3 * N] }, offsets: { output: 2 } });
  const length = 2 * plan.output.length;
  for (let round = 0; round < 4; round++) {
    const y = signal(length);
    const before = y.slice();
    plan.forwardSync(signal(), y);
    const isGap = (i: number) => i >> 1 < 2 || ((i >> 1) - 2) % 3 !== 0;
    for (let i = 0; i < length; i++) if (isGap(i)) expect(y[i]).toBe(before[i]);
    expect(y).not.toEqual(before);
  }
});

it.each([2 ** -200, 2 ** -500, -(2 ** -1000)])('a scale of %d loses no digit', async (forward) => {
  const plain = await device.plan({ size: [N], precision: 'double' });
  const scaled = await device.plan({ size: [N], precision: 'double', scale: { forward } });
  const x = uniform(random, 2 * N, 'double');
  const expected = plain.forwardSync(x).map((value) => value * forward);
  expect(scaled.forwardSync(x)).toEqual(expected);
});

describe('options', () => {
  it.each<[ProblemInput, object, FftErrorCode]>([
    [{ size: [8], tuning: { radix: 4 } as object }, {}, 'unknown-field'],
    [{ size: [8] }, { form: '' }, 'unknown-field'],
    [{ size: [2 ** 40] }, {}, 'device-limit'],
    [{ size: [2 ** 20], batches: 2 ** 12 }, {}, 'device-limit'],
  ])('device.plan(%j, %j)', async (problem, options, code) => {
    const refusal = await device.plan(problem, options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(FftError);
    expect((refusal as FftError).code).toBe(code);
  });

  it('enqueue refuses what it does not know and what is not there yet', async () => {
    const plan = await device.plan({ size: [N] });
    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    for (const name of ['encoder', 'stream', 'queue']) {
      expect(codeOf(() => plan.enqueue('forward', { input, output, [name]: {} }))).toBe('unsupported-feature');
    }
    expect(codeOf(() => plan.enqueue('forward', { input, output, kernel: input }))).toBe('invalid-argument');
    expect(codeOf(() => plan.enqueue('forward', { input, output, ...{ works: input } }))).toBe('unknown-field');
    await plan.enqueue('forward', { input, output });
  });

  it('alloc follows the precision of the plan made last', async () => {
    expect(device.alloc(64).array).toBeInstanceOf(Float32Array);
    await device.plan({ size: [N], precision: 'double' });
    expect(device.alloc(64).array).toBeInstanceOf(Float64Array);
    expect(device.alloc(64, 'single').array).toBeInstanceOf(Float32Array);
    await device.plan({ size: [N] });
    expect(device.alloc(64).array).toBeInstanceOf(Float32Array);
  });
});
