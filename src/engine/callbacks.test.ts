import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomFor, uniform } from '../../test/support/random.ts';
import { openDevice } from '../index.ts';
import type { Callback, Callbacks } from '../problem/index.ts';
import type { Device } from './device.ts';

const random = randomFor('engine/callbacks');
const n = 24;
const data = () => Float32Array.from(uniform(random, 2 * n, 'single'));
const weights = () => Float32Array.from(uniform(random, n, 'single'), (value) => value + 2);

const window: Callback = (x, v, at) => {
  const w = x.load('w', at.axis[0]!);
  return { re: x.mul(w, v.re), im: x.mul(w, v.im) };
};
const power: Callback = (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im));
const exponential: Callback = (x, v) => x.exp(v.re);
const arrays = { w: { type: 'f32', length: n } } as const;
const windowed = { size: [n], callbacks: { forward: { load: window }, arrays } } as const;

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

/** The same by two steps. */
async function apart(x: Float32Array, w: Float32Array): Promise<Float32Array> {
  const plain = await device.plan({ size: [n] });
  const result = await plain.forward(Float32Array.from(x, (value, i) => value * w[i >> 1]!));
  plain.destroy();
  return result;
}

function expectNear(got: ArrayLike<number>, want: ArrayLike<number>): void {
  expect(got.length).toBe(want.length);
  for (let i = 0; i < want.length; i++) expect(Math.abs(got[i]! - want[i]!)).toBeLessThan(1e-4);
}

describe('logarithms and exponentials', () => {
  it.each(['single', 'double'] as const)(
    'are right to four units in the last place, in %s precision',
    async (precision) => {
      const count = 4000;
      const common = { size: [1], batches: count, precision, directions: 'forward' } as const;
      const range = precision === 'single' ? 80 : 700;
      for (const [name, arguments_] of [
        ['log', (u: number, i: number) => (i % 2 ? Math.exp(range * u) : 1 + 0.6 * u)],
        ['exp', (u: number, i: number) => (i % 2 ? range * u : u)],
      ] as const) {
        const plan = await device.plan({ ...common, callbacks: { forward: { store: (x, v) => x[name](v.re) } } });
        const x = uniform(random, 2 * count, precision);
        for (let i = 0; i < count; i++) x[2 * i] = arguments_(x[2 * i]!, i);
        const given = precision === 'single' ? Float32Array.from(x) : x;
        const found = (await plan.forward(given as never)) as unknown as Float64Array;
        plan.destroy();
        found.forEach((value, i) => {
          const want = Math[name](given[2 * i]!);
          const unit = 2 ** (Math.floor(Math.log2(Math.abs(want))) - (precision === 'single' ? 23 : 52));
          expect(Math.abs(value - want), `${name} of ${given[2 * i]}`).toBeLessThanOrEqual(4 * unit);
        });
      }
    },
  );

  it('have their limits at zero, infinity and below zero, and are refused in double-double', async () => {
    const common = { size: [1], batches: 4, directions: 'forward' } as const;
    const plan = await device.plan({ ...common, callbacks: { forward: { store: (x, v) => x.log(v.re) } } });
    const found = await plan.forward(Float32Array.of(0, 0, Number.POSITIVE_INFINITY, 0, -1, 0, 1, 0));
    expect([...found]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN, 0]);
    plan.destroy();
    const wide = {
      ...common,
      precision: 'double-double',
      callbacks: { forward: { store: exponential } },
    } as const;
    await expect(device.plan(wide)).rejects.toThrow(/x\.exp, which is computed in single and double precision only/);
  });
});

describe('calls with arrays', () => {
  it('take them as they are at each call, in every way to call', async () => {
    const plan = await device.plan(windowed);
    const x = data();
    const y = new Float32Array(2 * n);
    const w = weights();
    for (const run of [
      () => plan.forward(x, y, { arrays: { w } }),
      () => plan.forwardSync(x, y, { arrays: { w } }),
      async () => y.set(await plan.forward(x, undefined, { arrays: { w } })),
      () => y.set(plan.forwardSync(x, undefined, { arrays: { w } })),
    ]) {
      for (let round = 0; round < 3; round++) {
        w.set(weights());
        y.fill(Number.NaN);
        await run();
        expectNear(y, await apart(x, w));
      }
      const other = weights();
      await plan.forward(x, y, { arrays: { w: other } });
      expectNear(y, await apart(x, other));
    }
    plan.destroy();
  });

  it('take device memory, and work is enqueued with that', async () => {
    const plan = await device.plan(windowed);
    const [x, y] = [device.alloc(8 * n, 'single'), device.alloc(8 * n, 'single')];
    const memory = [device.alloc(4 * n, 'single'), device.alloc(4 * n, 'single')] as const;
    x.array.set(data());
    for (let round = 0; round < 6; round++) {
      const w = memory[round % 2]!;
      w.array.set(weights());
      await plan.enqueue('forward', { input: x, output: y, arrays: { w } });
      const wanted = await apart(x.array.slice(0, 2 * n), w.array.slice(0, n));
      expectNear(y.array.subarray(0, 2 * n), wanted);
      y.array.fill(Number.NaN);
      await plan.forward(x, y, { arrays: { w } });
      expectNear(y.array.subarray(0, 2 * n), wanted);
      y.array.fill(Number.NaN);
      plan.forwardSync(x, y, { arrays: { w } });
      expectNear(y.array.subarray(0, 2 * n), wanted);
      // Reading it in place of what is computed with would be another thing.
      expect(await plan.measure('forward', { input: x, output: y, arrays: { w }, repeats: 1 })).toBeGreaterThan(0);
    }
    expect(await plan.measure('forward', { repeats: 1 })).toBeGreaterThan(0);
    for (const each of [x, y, ...memory]) each.free();
    plan.destroy();
  });

  it('run in their order, on one array that changes hands', async () => {
    const plan = await device.plan(windowed);
    const inverse = await device.plan({ size: [n / 2], directions: 'forward' });
    const [x, y] = [data(), new Float32Array(2 * n)];
    const [raw, w] = [data().subarray(0, n), new Float32Array(n)];
    // The second call loads from what the first one has yet to write.
    const [, result] = await Promise.all([inverse.forward(raw, w), plan.forward(x, y, { arrays: { w } })]);
    expectNear(result, await apart(x, w));
    plan.destroy();
    inverse.destroy();
  });

  it.each<[unknown, string, RegExp]>([
    [undefined, 'missing-buffer', /^forward needs arrays\.w, .*24 numbers of type f32/],
    [{}, 'missing-buffer', /arrays\.w/],
    [{ arrays: {} }, 'missing-buffer', /arrays\.w/],
    [{ arrays: { w: new Float64Array(n) } }, 'wrong-array-type', /^arrays\.w is Float64Array/],
    [{ arrays: { w: new Float32Array(n + 1) } }, 'wrong-length', /^arrays\.w /],
    [{ arrays: { w: [1, 2, 3] } }, 'wrong-array-type', /^arrays\.w /],
    [{ arrays: { w: weights(), u: weights() } }, 'unknown-field', /forward\.arrays\.u/],
    [{ array: {} }, 'unknown-field', /forward\.array /],
    [{ arrays: 3 }, 'invalid-argument', /forward\.arrays/],
    [3, 'invalid-argument', /forward/],
  ])('with %j are refused before anything runs', async (options, code, message) => {
    const plan = await device.plan(windowed);
    const y = new Float32Array(2 * n).fill(7);
    await expect(plan.forward(data(), y, options as never)).rejects.toMatchObject({ code });
    await expect(plan.forward(data(), y, options as never)).rejects.toThrow(message);
    expect(() => plan.forwardSync(data(), y, options as never)).toThrow(expect.objectContaining({ code }));
    expect(y.every((value) => value === 7)).toBe(true);
    plan.destroy();
  });

  it('refuse an array that is too short, freed, foreign or what is written', async () => {
    const plan = await device.plan(windowed);
    const [x, y, short] = [device.alloc(8 * n, 'single'), device.alloc(8 * n, 'single'), device.alloc(4 * n - 4)];
    const call = (w: unknown, more = {}) =>
      plan.enqueue('forward', { input: x, output: y, arrays: { w } as never, ...more });
    const codeOf = (w: unknown, more = {}) => {
      try {
        void call(w, more);
      } catch (error) {
        return (error as { code: string }).code;
      }
      return undefined;
    };
    expect(codeOf(short)).toBe('buffer-too-small');
    expect(codeOf(y)).toBe('aliased-buffers');
    expect(codeOf(y.array.subarray(n, 2 * n))).toBe('aliased-buffers');
    // What is only read may be read twice.
    expect(codeOf(x)).toBe(undefined);
    expect(codeOf(weights())).toBe('foreign-buffer');
    expect(codeOf(undefined)).toBe('missing-buffer');
    short.free();
    expect(codeOf(short)).toBe('destroyed');
    const host = new Float32Array(4 * n);
    const output = host.subarray(0, 2 * n);
    await expect(plan.forward(data(), output, { arrays: { w: host.subarray(n, 2 * n) } })).rejects.toMatchObject({
      code: 'aliased-buffers',
    });
    await device.finish();
    const plain = await device.plan({ size: [n] });
    await expect(plain.forward(data(), output, { arrays: { w: weights() } })).rejects.toMatchObject({
      code: 'unknown-field',
    });
    plain.destroy();
    plan.destroy();
  });
});

describe('options of the call before', () => {
  it('are read again: what has changed in them counts', async () => {
    const plan = await device.plan(windowed);
    const [x, w, other] = [data(), weights(), weights()];
    const options: { arrays: Record<string, unknown> } = { arrays: { w } };
    const call = (given: unknown = options) => plan.forwardSync(x, undefined, given as { arrays: { w: Float32Array } });
    for (const one of [w, w, other, w]) {
      options.arrays.w = one;
      expectNear(call(), await apart(x, one));
    }
    expect(() => call(w)).toThrow(/options/);
    expect(() => call({})).toThrow(/needs arrays\.w/);
    for (const [changed, message] of [
      [{ ...options, extra: 1 }, /extra/],
      [{ arrays: { w, v: w } }, /arrays\.v/],
      [{ arrays: Object.create({ w }) }, /plain object/],
      [{ arrays: { w: undefined } }, /needs arrays\.w/],
    ] as const) {
      call();
      expect(() => call(changed)).toThrow(message);
      await expect(plan.forward(x, undefined, changed as never)).rejects.toThrow(message);
    }
    options.arrays.v = w;
    expect(() => call()).toThrow(/arrays\.v/);
    plan.destroy();
    expect(() => call()).toThrow(/destroyed/);
  });

  it('cost calls nothing', { retry: 2 }, async () => {
    const plan = await device.plan(windowed);
    const convolving = await device.plan({ size: [n], convolution: {} });
    const [x, y, w] = [8 * n, 8 * n, 4 * n].map((bytes) => device.alloc(bytes));
    const kernel = await convolving.prepareKernel(data());
    const options = { arrays: { w: w! } };
    const bytesOf = (call: () => void) => {
      for (let i = 0; i < 20_000; i++) call();
      const before = process.memoryUsage().heapUsed;
      for (let i = 0; i < 1000; i++) call();
      return (process.memoryUsage().heapUsed - before) / 1000;
    };
    // Copies of options take thousands.
    expect(bytesOf(() => plan.forwardSync(x!, y!, options))).toBeLessThan(500);
    expect(bytesOf(() => convolving.convolveSync(x!, kernel, y!))).toBeLessThan(500);
    for (const memory of [x, y, w, kernel]) memory?.free();
    for (const each of [plan, convolving]) each.destroy();
  });
});

describe('plans with callbacks', () => {
  it('say so', async () => {
    const plan = await device.plan({ size: [n], callbacks: { forward: { load: window, store: power }, arrays } });
    expect(plan.output).toMatchObject({ length: n, bytes: 4 * n, shape: [1, n, 1, 1] });
    expect(plan.input).toMatchObject({ length: n, bytes: 8 * n });
    expect(plan.explain()).toMatch(/callbacks forward\.load of w, forward\.store to reals/);
    const [launch] = plan.toJSON().directions[0]!.launches;
    expect(launch!.operands.input.callback).toEqual({ arrays: ['w'], takes: 'complex', gives: 'complex' });
    expect(launch!.operands.output.callback).toEqual({ arrays: [], takes: 'complex', gives: 'real' });
    expect(plan.explain()).toMatch(/steps load single, callback, .*, callback, store single/);
    plan.destroy();
  });

  it('share kernels where callbacks do the same, and only there', async () => {
    const planOf = (callbacks: Callbacks, more = {}) => device.plan({ size: [n], ...more, callbacks });
    const one = await planOf({ forward: { load: window }, arrays });
    const again = await planOf({ forward: { load: (x, v, at) => window(x, v, at) }, arrays });
    const other = await planOf({ forward: { store: power } });
    const kernels = (plan: typeof one) => plan.compiledKernels;
    expect(kernels(again)[0]).toBe(kernels(one)[0]);
    expect(kernels(other)[0]).not.toBe(kernels(one)[0]);
    // One kernel runs both ways only where both ways do the same.
    expect(new Set(kernels(one)).size).toBe(2);
    for (const plan of [one, again, other]) plan.destroy();
    const long = { size: [4096] };
    const conjugate: Callback = (x, v) => ({ re: v.re, im: x.neg(v.im) });
    const both = await planOf({ forward: { load: conjugate }, inverse: { load: conjugate } }, long);
    const apart = await planOf({ forward: { load: conjugate }, inverse: { store: conjugate } }, long);
    expect([new Set(kernels(both)).size, new Set(kernels(apart)).size]).toEqual([1, 2]);
    const x = Float32Array.from(uniform(random, 2 * 4096, 'single'));
    const plain = await device.plan(long);
    const flip = (values: Float32Array) => values.map((value, i) => (i % 2 ? -value : value));
    expectNear(await apart.inverse(x), flip(await plain.inverse(x)));
    expectNear(await both.inverse(x), await plain.inverse(flip(x)));
    expectNear(await both.forward(x), await plain.forward(flip(x)));
    for (const plan of [both, apart, plain]) plan.destroy();
  });

  it('are loaded by who has the same callbacks', async () => {
    const problem = { size: [n], callbacks: { forward: { load: window }, arrays } } as const;
    const plan = await device.plan(problem);
    const from = plan.serialize();
    const loaded = await device.plan(problem, { from });
    const [x, w] = [data(), weights()];
    expectNear(await loaded.forward(x, undefined, { arrays: { w } }), await apart(x, w));
    for (const others of [{ size: [n] }, { size: [n], callbacks: { forward: { store: power } } }]) {
      await expect(device.plan(others, { from })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
    }
    loaded.destroy();
    plan.destroy();
  });

  it('are measured like others', async () => {
    const plan = await device.plan({
      size: [1024],
      strategy: 'measure',
      callbacks: {
        forward: { load: (x, v, at) => ({ re: v.re, im: x.mul(v.im, x.load('u', at.axis[0]!)) }) },
        arrays: { u: { type: 'f32', length: 1024 } },
      },
    });
    expect(plan.directions).toEqual(['forward', 'inverse']);
    plan.destroy();
  });

  it('work in place on reals where real parts were', async () => {
    const plan = await device.plan({ size: [n], placement: 'in-place', callbacks: { forward: { store: power } } });
    expect(plan.output).toMatchObject({ length: 2 * n, bytes: 8 * n });
    expect(plan.problem.strides.output).toEqual([2, 2, 2 * n, 2 * n]);
    const x = data();
    const plain = await device.plan({ size: [n] });
    const bins = await plain.forward(x.slice());
    await plan.forward(x);
    expectNear(
      x.filter((_, i) => i % 2 === 0),
      Float32Array.from({ length: n }, (_, k) => bins[2 * k]! ** 2 + bins[2 * k + 1]! ** 2),
    );
    for (const [more, code] of [
      [{ layout: 'planar' }, 'invalid-field'],
      [{ strides: { output: [1, 1, n] } }, 'invalid-strides'],
      [{ offsets: { input: 1, output: 3 } }, 'invalid-offset'],
    ] as const) {
      const problem = { size: [n], placement: 'in-place', callbacks: { forward: { store: power } }, ...more } as const;
      await expect(device.plan(problem)).rejects.toMatchObject({ code });
    }
    plan.destroy();
    plain.destroy();
  });
});

describe('where a block leaves one line', () => {
  it.each([
    { from: 0, to: 1 },
    { from: 1, to: 2 },
  ])('a callback knows its place: %j', async (block) => {
    const device = await openDevice('cpu', { threads: 1 });
    const size = [5, 6, 2];
    const plan = await device.plan({
      size,
      directions: 'forward',
      zeroPadding: { space: [null, null, block] },
      callbacks: {
        forward: {
          load: (x, _, at) => ({ re: x.load('w', at.axis[2]!), im: x.constant(0) }),
        },
        arrays: { w: { type: 'f32', length: 2 } },
      },
    });
    const w = Float32Array.of(3, 7);
    const bins = await plan.forward(new Float32Array(2 * 60), undefined, { arrays: { w } });
    expect(bins[0]! / 30).toBeCloseTo(block.from === 0 ? 7 : 3, 4);
    device.close();
  });
});
