/** Adjoints of transforms: ⟨Ax, y⟩ = ⟨x, A*y⟩ over real numbers, on every kind of problem. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Arrays,
  adjointError,
  copyOf,
  poisonedArrays,
  randomArrays,
  realsOf,
  type Tensor,
} from '../../test/support/inner-products.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { inBlocks } from '../../test/support/split-axes.ts';
import {
  type Callback,
  type Device,
  type Direction,
  FftError,
  openDevice,
  type Plan,
  type ProblemInput,
} from '../index.ts';
import { normalFormOf } from '../problem/index.ts';

const random = randomFor('engine/adjoint');
const kinds = ['dct1', 'dct2', 'dct3', 'dct4', 'dst1', 'dst2', 'dst3', 'dst4', 'dht'] as const;

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

const LIMITS = { half: 2e-3, single: 1e-6, double: 1e-14, 'double-double': 1e-30 } as const;

interface Calls {
  readonly arrays?: { readonly [name: string]: Float32Array | Float64Array };
}

/** What any plan is called with here. */
type AnyPlan = Plan & {
  readonly [D in Direction]: (input: Arrays, output: unknown, options?: Calls) => Promise<Arrays>;
};

/** The relative difference of both inner products. */
async function errorOf(plan: AnyPlan, adjoint: AnyPlan, direction: Direction, options?: Calls): Promise<number> {
  const { problem } = plan;
  const input: Tensor = { problem, side: 'input', memory: plan.input };
  const output: Tensor = { problem, side: 'output', memory: plan.output };
  const [read, written] = direction === 'forward' ? [input, output] : [output, input];
  const [x, y] = [randomArrays(random, read), randomArrays(random, written)];
  const inPlace = problem.placement === 'in-place';
  const run = async (of: AnyPlan, way: Direction, data: Arrays, to: Tensor) => {
    if (!inPlace) return of[way](data, poisonedArrays(to), options);
    return of[way](copyOf(data), undefined, options);
  };
  const image = await run(plan, direction, x, written);
  const cotangent = await run(adjoint, 'forward', y, read);
  return adjointError(realsOf(image, written), realsOf(y, written), realsOf(x, read), realsOf(cotangent, read));
}

async function expectAdjoints(problem: ProblemInput, options?: Calls): Promise<void> {
  const plan = (await device.plan(problem)) as unknown as AnyPlan;
  for (const direction of plan.directions) {
    const adjoint = (await plan.adjoint(direction)) as unknown as AnyPlan;
    expect(adjoint.directions).toEqual(['forward']);
    const error = await errorOf(plan, adjoint, direction, options);
    expect(error, `${direction} of ${JSON.stringify(problem)}`).toBeLessThan(LIMITS[plan.problem.edgeStorage]);
    adjoint.destroy();
  }
  plan.destroy();
}

const block = (from: number, to: number) => ({ from, to });

describe('the adjoint of a transform', () => {
  it.each<ProblemInput>([
    { size: [8] },
    { size: [12, 5], batches: 3, leftBatches: 2, coordinates: 2, scale: { forward: 3, inverse: 0.5 } },
    { size: [30, 7], normalize: true, layout: { input: 'planar', output: 'interleaved' } },
    { size: [16, 9, 4], placement: 'in-place', omit: [false, true, false], normalize: true },
    {
      size: [10, 4],
      strides: { input: [1, 4, -41, 200], output: [1, 5, 55, 300] },
      offsets: { input: 150, output: 3 },
    },
    { size: [34], zeroPadding: { space: [block(5, 20)], frequency: [block(0, 3)] }, batches: 2 },
    { size: [4096, 2], unordered: true },
    { size: [8], edgeStorage: 'half', batches: 4, scale: { forward: 0.1, inverse: 0.1 } },
    { size: [2 ** 14], precision: 'single' },
  ])('of complex numbers is the other direction: %j', async (problem) => {
    await expectAdjoints({ precision: 'double', ...problem });
  });

  it.each<ProblemInput>([
    ...[1, 2, 3, 4, 9, 16, 30, 101, 2048].map((n) => ({ size: [n], batches: 3 })),
    { size: [6, 5], normalize: true, scale: { forward: -2, inverse: 3 } },
    { size: [7, 4, 3], batches: 2, leftBatches: 3, layout: { output: 'planar' } },
    { size: [8, 6], placement: 'in-place', coordinates: 2 },
    { size: [9, 6], placement: 'in-place', normalize: true },
    { size: [12, 5], strides: { input: [1, 2, 30, 200], output: [1, 3, -30, 150] }, offsets: { output: 130 } },
    { size: [16, 6], zeroPadding: { space: [block(8, 16), null], frequency: [block(3, 5), block(1, 4)] } },
    { size: [2 ** 14], precision: 'single' },
  ])('of reals counts each bin of the half spectrum once: %j', async (problem) => {
    await expectAdjoints({ precision: 'double', transform: 'r2c', ...problem });
  });

  it.each(kinds)('of %s is its transpose, also with others and blocks of zeros', async (kind) => {
    const other = random.pick(kinds);
    const own = { precision: 'double', normalize: true } as const;
    await expectAdjoints({ ...own, size: [9], transform: kind, batches: 3 });
    await expectAdjoints({ ...own, size: [2], transform: kind });
    await expectAdjoints({ ...own, size: [8, 7], transform: [kind, other], placement: 'in-place', leftBatches: 2 });
    const zeroPadding = { space: [block(2, 4), null], frequency: [null, block(0, 2)] };
    await expectAdjoints({ ...own, size: [10, 6], transform: [other, kind], zeroPadding, precision: 'single' });
  });

  it.each<ProblemInput>([
    { size: [15, 3], normalize: true },
    { size: [6, 4], transform: 'r2c', normalize: true },
    { size: [7], transform: 'dct2', normalize: true },
  ])('is exact in double-double, where no factor is a double: %j', async (problem) => {
    await expectAdjoints({ ...problem, precision: 'double-double' });
  });

  it('of axes in blocks reads and writes these blocks', async () => {
    for (const transform of ['c2c', 'r2c', 'dct3'] as const) {
      const problem = inBlocks(random, { size: [12, 5], transform, precision: 'double', batches: 3, normalize: true });
      const plan = (await device.planPass(normalFormOf(problem))) as unknown as AnyPlan;
      for (const direction of plan.directions) {
        const adjoint = (await plan.adjoint(direction)) as unknown as AnyPlan;
        const memory = (side: 'input' | 'output') => {
          const own = device.alloc(plan[side].bytes, 'double');
          own.array.set(uniform(random, plan[side].bytes / 8));
          return own;
        };
        const [read, written] =
          direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
        const [x, y, image, cotangent] = [memory(read), memory(written), memory(written), memory(read)];
        await plan.enqueue(direction, { input: x, output: image });
        await adjoint.enqueue('forward', { input: y, output: cotangent });
        const reals = (own: typeof x, side: 'input' | 'output') =>
          realsOf(own.array, { problem: plan.problem, side, memory: plan[side] });
        const error = adjointError(reals(image, written), reals(y, written), reals(x, read), reals(cotangent, read));
        expect(error, `${direction} of ${transform}`).toBeLessThan(LIMITS.double);
        for (const own of [x, y, image, cotangent]) own.free();
      }
    }
  });

  it('goes there and back: the adjoint of the adjoint is the transform', async () => {
    const plan = await device.plan({ size: [12], transform: 'r2c', precision: 'double', scale: { forward: 2 } });
    const adjoint = await plan.adjoint('forward');
    const again = await adjoint.adjoint('forward');
    const x = uniform(random, 12);
    const [want, got] = [await plan.forward(x), await again.forward(x)];
    expect(got.length).toBe(want.length);
    got.forEach((value, n) => expect(Math.abs(value - want[n]!)).toBeLessThan(1e-13));
    expect(adjoint.input.shape).toEqual(plan.output.shape);
    expect(adjoint.output.length).toBe(12);
  });

  it('is a plan of its own: memory, explain, serialize, destroy', async () => {
    const plan = await device.plan({ size: [16], transform: 'r2c' });
    const adjoint = await plan.adjoint('forward');
    plan.destroy();
    const [from, to] = [device.alloc(adjoint.input.bytes), device.alloc(adjoint.output.bytes)];
    from.array.fill(0);
    from.array[0] = 1;
    await adjoint.enqueue('forward', { input: from, output: to });
    expect([...to.array.subarray(0, 16)]).toEqual(new Array(16).fill(1));
    expect(adjoint.forwardSync(new Float32Array(18).fill(0)).length).toBe(16);
    expect(adjoint.explain()).toMatch(/\nforward: 1 launch/);
    expect(adjoint.kernels.map(({ direction }) => direction)).toEqual(['forward']);
    expect(await adjoint.measure('forward')).toBeGreaterThan(0);
    const saved = adjoint.serialize();
    const other = await (await device.plan({ size: [16], transform: 'r2c' })).adjoint('forward', { from: saved });
    expect((await other.forward(new Float32Array(18))).length).toBe(16);
    await expect((adjoint as unknown as AnyPlan).inverse(new Float32Array(16), undefined)).rejects.toMatchObject({
      code: 'direction-not-planned',
    });
    adjoint.destroy();
    await expect(adjoint.forward(new Float32Array(18))).rejects.toMatchObject({ code: 'destroyed' });
  });

  it('costs as many launches as the transform', async () => {
    for (const problem of [
      { size: [4096] },
      { size: [2048], transform: 'r2c' },
      { size: [64, 64], transform: 'r2c' },
    ] as const) {
      const plan = (await device.plan(problem)) as unknown as AnyPlan;
      const adjoint = await plan.adjoint('forward');
      const launches = (of: Plan) => of.toJSON().directions[0]!.launches.length;
      expect(launches(adjoint as unknown as Plan)).toBeLessThanOrEqual(launches(plan));
    }
  });
});

describe('the adjoint of callbacks', () => {
  const n = 12;
  const w = () => Float64Array.from(uniform(random, 2 * n));
  const arrays = { w: { type: 'f64', length: 2 * n } } as const;
  const precision = 'double';
  /** (re, im) → a matrix of numbers that depend on the place. */
  const mixed: Callback = (x, v, at) => {
    const [a, b] = [x.load('w', at.axis[0]!), x.load('w', x.index.add(at.axis[0]!, n - 1))];
    const isSmall = x.less(a, x.constant(0.2));
    return {
      re: x.sub(x.mul(x.sqrt(x.abs(a)), v.re), x.div(v.im, x.add(x.constant(3), b))),
      im: x.neg(x.select(isSmall, x.mul(v.re, x.max(a, b)), x.constant(0))),
    };
  };
  const real: Callback = (x, v, at) => x.mul(v, x.load('w', at.axis[0]!));
  const kept: Callback = (x, v, at) => x.add(x.mul(v.re, x.load('w', at.axis[0]!)), v.im);
  const made: Callback = (x, v) => ({ re: x.mul(v, x.constant(2)), im: x.neg(v) });

  it('is their transpose, on the other side', async () => {
    const callbacks = {
      forward: { load: mixed, store: mixed },
      inverse: { load: mixed, store: mixed },
      arrays,
    };
    const options = { arrays: { w: w() } };
    await expectAdjoints({ size: [n, 2], precision, callbacks, normalize: true, batches: 2 }, options);
    await expectAdjoints({ size: [n], precision, callbacks, placement: 'in-place', leftBatches: 2 }, options);
    const zeroPadding = { space: [block(1, 4)], frequency: [block(7, 9)] };
    await expectAdjoints({ size: [n], precision, callbacks, zeroPadding, layout: 'planar' }, options);
    const ofReals = { forward: { load: real, store: mixed }, inverse: { load: mixed, store: real }, arrays };
    await expectAdjoints({ size: [n, 3], precision, transform: 'r2c', callbacks: ofReals }, options);
    const sums = { forward: { load: real, store: real }, inverse: { load: real }, arrays };
    await expectAdjoints({ size: [n], precision, transform: 'dct1', callbacks: sums }, options);
    await expectAdjoints({ size: [n], precision, transform: 'dst3', callbacks: sums, normalize: true }, options);
  });

  it('reads reals where a store leaves reals, and leaves reals where a load makes complex numbers of them', async () => {
    const options = { arrays: { w: w() } };
    const forward = { forward: { store: kept }, arrays };
    await expectAdjoints({ size: [n], precision, callbacks: forward, directions: 'forward', batches: 2 }, options);
    await expectAdjoints(
      { size: [n, 2], precision, callbacks: forward, directions: 'forward', placement: 'in-place' },
      options,
    );
    await expectAdjoints({ size: [n], precision, callbacks: { ...forward, inverse: { load: made } } }, options);
    await expectAdjoints(
      { size: [n], precision, callbacks: forward, transform: 'r2c', directions: 'forward' },
      options,
    );
  });

  const refusals: readonly [string, Callback, RegExp][] = [
    [
      'the squared magnitude',
      (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im)),
      /forward\.store multiplies its value by itself/,
    ],
    ['an offset', (x, v) => ({ re: x.add(v.re, x.constant(1)), im: v.im }), /adds something that does not depend/],
    [
      'a choice by the value',
      (x, v) => ({ re: x.select(x.less(v.re, v.im), v.re, v.im), im: v.im }),
      /selects by its value/,
    ],
    ['a quotient', (x, v) => ({ re: x.div(x.constant(1), v.re), im: v.im }), /divides by its value/],
    ['a magnitude', (x, v) => ({ re: x.abs(v.re), im: v.im }), /takes abs of its value/],
    ['a maximum', (x, v) => ({ re: x.max(v.re, x.constant(0)), im: v.im }), /takes the max of its value/],
  ];
  it.each(refusals)('is refused for %s', async (_, store, message) => {
    const plan = await device.plan({ size: [n], callbacks: { forward: { store } }, directions: 'forward' });
    const error = await plan.adjoint('forward').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FftError);
    expect(error).toMatchObject({ code: 'unsupported-feature', message: expect.stringMatching(message) });
  });
});

describe('adjoint', () => {
  it('refuses by name what has none', async () => {
    const plan = (await device.plan({
      size: [8],
      directions: 'forward',
      strides: { input: [1, 1, 0] },
      batches: 4,
    })) as unknown as AnyPlan;
    const refusal = (direction: unknown, options?: object) =>
      (plan.adjoint as (...given: unknown[]) => Promise<unknown>)
        .call(plan, direction, options)
        .catch((error: unknown) => error);
    expect(await refusal('forward')).toMatchObject({
      code: 'overlapping-strides',
      message: expect.stringMatching(/add up/),
    });
    expect(await refusal('inverse')).toMatchObject({ code: 'direction-not-planned' });
    expect(await refusal('convolve', { of: 'signal' })).toMatchObject({ code: 'direction-not-planned' });
    expect(await refusal('sideways')).toMatchObject({ code: 'invalid-argument' });
    expect(await refusal('forward', { of: 'signal' })).toMatchObject({ code: 'invalid-argument' });
    expect(await refusal('forward', { to: 'signal' })).toMatchObject({ code: 'unknown-field' });
    plan.destroy();
    expect(await refusal('forward')).toMatchObject({ code: 'destroyed' });
  });
});
