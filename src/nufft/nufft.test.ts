/** Non-uniform transforms against direct sums, on the CPU and on devices of threads. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directSums } from '../../test/reference/nonuniform.ts';
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { noWebGpu, openWebGpu, testGpuDevice } from '../../test/support/webgpu.ts';
import { type Device, FftError, openDevice } from '../index.ts';
import * as nufft from './index.ts';

const random = randomFor('non-uniform transforms');

/**
 * The largest errors in multiples of the tolerance, as docs/nufft.md promises: for many points, and for one or two, whose errors do not average out.
 */
const PROMISED = 5;
const PROMISED_ALONE = 20;

type Precision = 'single' | 'double';

interface Trial {
  readonly type: 1 | 2 | 3;
  readonly modes: readonly number[];
  readonly points: number;
  readonly eps: number;
  readonly precision?: Precision;
  readonly nTrans?: number;
  readonly isign?: 1 | -1;
  readonly modeOrd?: 0 | 1;
  readonly upsampfac?: 2 | 1.25;
  /** The range of points, as a multiple of −π to π. */
  readonly spread?: number;
  readonly around?: number;
}

const arrayOf = (precision: Precision, values: ArrayLike<number>) =>
  precision === 'single' ? Float32Array.from(values) : Float64Array.from(values);

function coordinates(count: number, spread: number, around: number): Float64Array {
  return uniform(random, count).map((value) => around + value * Math.PI * spread);
}

function relativeError(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  let [error, size] = [0, 0];
  for (let n = 0; n < wanted.length; n++) {
    error += (found[n]! - wanted[n]!) ** 2;
    size += wanted[n]! ** 2;
  }
  return Math.sqrt(error / size);
}

/** The rounding error that remains at any tolerance: coordinates are doubles, and the arithmetic has a precision. */
function floorOf({ modes, precision = 'double', spread = 1, around = 0, type, points }: Trial): number {
  const rounding = precision === 'single' ? 2 ** -24 : 2 ** -53;
  const highest = type === 3 ? 2 * points : Math.max(...modes);
  return 2 ** -53 * highest * (1 + spread + Math.abs(around)) * 4 + 8 * rounding;
}

/** Runs a trial on a device. @returns the error relative to the promised one: at most 1 */
async function excessOf(device: Device, trial: Trial): Promise<number> {
  const { type, modes, points, eps, precision = 'double', nTrans = 1, modeOrd = 0, upsampfac = 2 } = trial;
  const { spread = 1, around = 0 } = trial;
  const isign = trial.isign ?? random.pick([1, -1] as const);
  const dimensions = modes.length;
  const all = modes.reduce((product, count) => product * count, 1);
  const x = modes.map(() => coordinates(points, spread, around));
  // For type 3, `modes` gives the number of frequencies and their range.
  const s = type === 3 ? modes.map((count) => coordinates(all, count / 6, count / 5)) : [];
  const plan = await nufft.plan(type, type === 3 ? dimensions : modes, {
    ...{ eps, isign, nTrans, precision, modeOrd, upsampfac, device },
  });
  try {
    await plan.setPoints(x[0]!, x[1], x[2], s[0], s[1], s[2]);
    const [taken, given] = type === 2 ? [all, points] : type === 1 ? [points, all] : [points, all];
    const input = arrayOf(precision, uniform(random, 2 * taken * nTrans, precision));
    const output = arrayOf(precision, new Float64Array(2 * given * nTrans).fill(Number.NaN));
    expect(await plan.execute(input, output)).toBe(output);
    let worst = 0;
    for (let n = 0; n < nTrans; n++) {
      const wanted = directSums(
        { type, modes, sign: isign, modeOrd, x, s },
        input.subarray(2 * taken * n, 2 * taken * (n + 1)),
      );
      const error = relativeError(output.subarray(2 * given * n, 2 * given * (n + 1)), wanted);
      const promised = Math.min(taken, given) > 2 ? PROMISED : PROMISED_ALONE;
      worst = Math.max(worst, error / (promised * eps + floorOf(trial)));
    }
    return worst;
  } finally {
    plan.destroy();
  }
}

async function expectPromised(device: Device, trial: Trial): Promise<void> {
  const excess = await excessOf(device, trial);
  expect(excess, JSON.stringify(trial)).toBeLessThanOrEqual(1);
}

describe('non-uniform transforms on the CPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 2 });
  });
  afterAll(() => device.close());

  const sizes = [[[random.integer(20, 90)], [13, 16], [7, 8, 5]]].flat() as number[][];

  it.each([1, 2, 3] as const)('type %d keeps to every tolerance, in one to three dimensions', async (type) => {
    for (const modes of sizes) {
      for (const eps of [1e-3, 1e-8, 1e-12]) {
        await expectPromised(device, {
          type,
          modes,
          points: random.integer(50, 200),
          eps,
          modeOrd: random.pick([0, 1]),
        });
      }
      for (const eps of [1e-3, 1e-6]) {
        await expectPromised(device, { type, modes, points: random.integer(50, 200), eps, precision: 'single' });
      }
    }
  });

  it('every width of the kernel is as exact as its tolerance', async () => {
    for (let digits = 1; digits <= 13; digits++) {
      const type = random.pick([1, 2] as const);
      await expectPromised(device, { type, modes: [random.integer(30, 60)], points: 80, eps: 10 ** -digits });
    }
  });

  it('both signs, both orders of modes, even and odd numbers of them, and single points and modes', async () => {
    for (const type of [1, 2] as const) {
      for (const isign of [1, -1] as const) {
        for (const modeOrd of [0, 1] as const) {
          await expectPromised(device, { type, modes: [11, 6], points: 40, eps: 1e-9, isign, modeOrd });
        }
      }
      for (const modes of [[1], [2], [3, 1], [1, 2], [1, 1, 1], [2, 1, 3]]) {
        for (const points of [1, 2])
          await expectPromised(device, { type, modes, points, eps: 1e-8, modeOrd: random.pick([0, 1]) });
      }
    }
    for (const points of [1, 2]) await expectPromised(device, { type: 3, modes: [points, 1], points: 1, eps: 1e-8 });
  });

  it('points that lie in a heap, at the ends of the period, and far outside of it', async () => {
    for (const type of [1, 2] as const) {
      await expectPromised(device, { type, modes: [400], points: 1500, eps: 1e-7, spread: 1e-3, around: 0.3 });
      await expectPromised(device, { type, modes: [40, 30], points: 900, eps: 1e-7, spread: 1e-2, around: Math.PI });
      await expectPromised(device, { type, modes: [9, 8, 10], points: 700, eps: 1e-5, spread: 1e-6, around: -Math.PI });
      await expectPromised(device, { type, modes: [300], points: 500, eps: 1e-9, spread: 40, around: 90 });
    }
    await expectPromised(device, { type: 3, modes: [60, 8], points: 300, eps: 1e-8, spread: 5, around: 20 });
  });

  it('grids of several bins along each axis, and of rows longer than a block', async () => {
    for (const type of [1, 2] as const) {
      await expectPromised(device, { type, modes: [6000], points: 100, eps: 1e-11 });
      await expectPromised(device, { type, modes: [100, 70], points: 60, eps: 1e-6 });
      await expectPromised(device, { type, modes: [40, 18, 17], points: 30, eps: 1e-6, precision: 'single' });
    }
  });

  it('several transforms at the same points', async () => {
    for (const type of [1, 2, 3] as const) {
      for (const modes of [[50], [12, 9]]) {
        await expectPromised(device, { type, modes, points: 70, eps: 1e-8, nTrans: 3 });
        await expectPromised(device, { type, modes, points: 70, eps: 1e-5, nTrans: 2, precision: 'single' });
      }
    }
  });

  it('fine grids of 1.25 points for each mode', async () => {
    for (const type of [1, 2, 3] as const) {
      for (const eps of [1e-3, 1e-6, 1e-9])
        await expectPromised(device, { type, modes: [30, 17], points: 90, eps, upsampfac: 1.25 });
    }
  });

  it('calls named as in FINUFFT take the precision of their arrays and as many transforms as these hold', async () => {
    const M = 30;
    const [x, y, z] = [coordinates(M, 1, 0), coordinates(M, 1, 0), coordinates(M, 1, 0)];
    const [s, t, u] = [coordinates(7, 2, 1), coordinates(7, 1, 0), coordinates(7, 2, 0)];
    const c = uniform(random, 4 * M);
    const f = uniform(random, 2 * 24);
    const close = (found: Float32Array | Float64Array, type: 1 | 2 | 3, modes: number[], input: Float64Array) => {
      const axes = [x, y, z].slice(0, modes.length);
      const frequencies = [s, t, u].slice(0, modes.length);
      const sign = type === 2 ? -1 : 1;
      const wanted = directSums({ type, modes, sign, modeOrd: 0, x: axes, s: type === 3 ? frequencies : [] }, input);
      expect(relativeError(found.subarray(0, wanted.length), wanted)).toBeLessThan(PROMISED * 1e-6);
    };
    close(await nufft.nufft1d1(x, c, 24), 1, [24], c);
    close(await nufft.nufft2d1(x, y, c, [6, 4]), 1, [6, 4], c);
    close(await nufft.nufft3d1(x, y, z, c, [3, 4, 2]), 1, [3, 4, 2], c);
    close(await nufft.nufft1d2(x, f, 24), 2, [24], f);
    close(await nufft.nufft2d2(x, y, f, [6, 4]), 2, [6, 4], f);
    close(await nufft.nufft3d2(x, y, z, f, [3, 4, 2]), 2, [3, 4, 2], f);
    close(await nufft.nufft1d3(x, c, s), 3, [7], c);
    close(await nufft.nufft2d3(x, y, c, s, t), 3, [7, 1], c);
    close(await nufft.nufft3d3(x, y, z, c, s, t, u), 3, [7, 1, 1], c);
    const singles = await nufft.nufft1d1([...x], Float32Array.from(c), 24, { eps: 1e-3 });
    expect(singles).toBeInstanceOf(Float32Array);
    expect(singles.length).toBe(2 * 2 * 24);
    const second = directSums({ type: 1, modes: [24], sign: 1, modeOrd: 0, x: [x], s: [] }, c.subarray(2 * M));
    expect(relativeError(singles.subarray(48), second)).toBeLessThan(PROMISED * 1e-3);
  });

  it('executeAdjoint is the adjoint of execute', async () => {
    for (const type of [1, 2, 3] as const) {
      const plan = await nufft.plan(type, type === 3 ? 2 : [9, 7], { eps: 1e-9, precision: 'double', device });
      const [x, y, s, t] = [coordinates(40, 1, 0), coordinates(40, 1, 0), coordinates(63, 1, 2), coordinates(63, 1, 0)];
      if (type === 3) await plan.setPoints(x, y, null, s, t);
      else await plan.setPoints(x, y);
      const [a, b] = type === 2 ? [126, 80] : [80, 126];
      const [v, w] = [uniform(random, a), uniform(random, b)];
      const dot = (p: ArrayLike<number>, q: ArrayLike<number>) =>
        Array.from(p).reduce((sum, value, n) => sum + value * q[n]!, 0);
      const [one, other] = [dot(await plan.execute(v), w), dot(v, await plan.executeAdjoint(w))];
      expect(Math.abs(one - other)).toBeLessThan(1e-8 * Math.hypot(...v) * Math.hypot(...w));
      plan.destroy();
    }
  });

  it('points are set again while calls run, and each call has the points of its time', async () => {
    const plan = await nufft.plan(1, 20, { eps: 1e-9, precision: 'double', device });
    const sets = [60, 300, 1].map((count) => coordinates(count, 1, 0));
    const inputs = sets.map(({ length }) => uniform(random, 2 * length));
    const wanted = sets.map((x, n) =>
      directSums({ type: 1, modes: [20], sign: 1, modeOrd: 0, x: [x.slice()], s: [] }, inputs[n]!),
    );
    const results: Promise<Float64Array>[] = [];
    for (const [n, x] of sets.entries()) {
      const ready = plan.setPoints(x);
      results.push(plan.execute(inputs[n]!), plan.execute(inputs[n]!));
      if (n === 0) await ready;
      x.fill(Number.NaN);
    }
    const all = await Promise.all(results);
    for (const [n, found] of all.entries()) {
      expect(relativeError(found, wanted[Math.floor(n / 2)]!), `call ${n}`).toBeLessThan(PROMISED_ALONE * 1e-9);
    }
    plan.destroy();
  });

  it('without points there are zeros', async () => {
    const plan = await nufft.plan(1, [4, 3], { device, precision: 'double' });
    await plan.setPoints([], []);
    expect(await plan.execute(new Float64Array(0), new Float64Array(24).fill(1))).toEqual(new Float64Array(24));
    await expect(plan.execute(new Float64Array(2))).rejects.toMatchObject({ code: 'wrong-length' });
    plan.destroy();
  });

  it('memory of the device goes in and comes out', async () => {
    const plan = await nufft.plan(2, 16, { device, precision: 'double' });
    const x = coordinates(10, 1, 0);
    await plan.setPoints(x);
    const modes = uniform(random, 32);
    const [from, to] = [device.alloc(256, 'double'), device.alloc(160, 'double')];
    from.array.set(modes);
    expect(await plan.execute(from, to)).toBe(to);
    expect(to.array.slice(0, 20)).toEqual(await plan.execute(modes));
    plan.destroy();
    from.free();
    to.free();
  });

  it('calls are enqueued one behind another, at points in memory of the device', async () => {
    const [points, modes] = [random.integer(20, 60), [random.integer(5, 12), 7]];
    const all = modes[0]! * modes[1]!;
    const memory = (values: ArrayLike<number>) => {
      const made = device.alloc(8 * values.length, 'double');
      made.array.set(values);
      return made;
    };
    const axes = modes.map(() => coordinates(points, 1, 0));
    const [x, y] = axes.map(memory);
    const [there, back] = await Promise.all(
      ([1, 2] as const).map((type) => nufft.plan(type, modes, { device, precision: 'double', eps: 1e-9 })),
    );
    const strengths = memory(uniform(random, 2 * points));
    const [spectrum, values] = [memory(new Float64Array(2 * all).fill(Number.NaN)), memory(strengths.array)];
    expect(() => there!.enqueue({ input: strengths, output: spectrum })).toThrow(/no points/);
    await Promise.all([there!.setPoints(x!, y), back!.setPoints(axes[0]!, y)]);
    there!.enqueue({ input: strengths, output: spectrum });
    await back!.enqueue({ input: spectrum, output: values });
    const shape = { modes, modeOrd: 0, x: axes, s: [] } as const;
    const wanted = directSums({ ...shape, type: 1, sign: 1 }, strengths.array as Float64Array);
    expect(relativeError(spectrum.array, wanted)).toBeLessThan(PROMISED * 1e-9);
    expect(relativeError(values.array, directSums({ ...shape, type: 2, sign: -1 }, wanted))).toBeLessThan(
      2 * PROMISED * 1e-9,
    );
    expect(() => there!.enqueue({ input: new Float64Array(2 * points), output: spectrum })).toThrow(FftError);
    expect(() => there!.enqueue({ input: strengths, output: spectrum, stream: 1n })).toThrow(/own work only/);
    for (const one of [there!, back!]) one.destroy();
    for (const one of [x!, y!, strengths, spectrum, values]) one.free();
  });

  it('what is wrong is refused by name, and nothing is written', async () => {
    const codeOf = async (call: () => Promise<unknown>): Promise<string> => {
      const error = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(FftError);
      return (error as FftError).code;
    };
    const wrong = <T>(value: unknown) => value as T;
    for (const [code, ...given] of [
      ['invalid-argument', 4, [8]],
      ['invalid-size', 1, []],
      ['invalid-size', 1, [8, 0]],
      ['invalid-size', 2, [8, 8, 8, 8]],
      ['invalid-size', 1, [2.5]],
      ['invalid-size', 3, [8]],
      ['invalid-argument', 1, [8], { eps: 0 }],
      ['invalid-argument', 1, [8], { eps: 1e-15, precision: 'double' }],
      ['invalid-argument', 1, [8], { eps: 1e-8 }],
      ['invalid-argument', 1, [8], { eps: 1e-10, upsampfac: 1.25, precision: 'double' }],
      ['invalid-argument', 1, [8], { eps: Number.NaN }],
      ['invalid-argument', 1, [8], { upsampfac: 3 }],
      ['invalid-argument', 1, [8], { modeOrd: 2 }],
      ['invalid-argument', 1, [8], { nTrans: 0 }],
      ['invalid-argument', 1, [8], { isign: Number.NaN }],
      ['invalid-argument', 1, [8], { precision: 'half' }],
      ['invalid-argument', 1, [8], { device: 'cpu' }],
      ['unknown-field', 1, [8], { tolerance: 1 }],
    ] as const) {
      const [type, modes, options] = given;
      expect(
        await codeOf(() => nufft.plan(wrong(type), wrong(modes), wrong<never>(options))),
        JSON.stringify(given),
      ).toBe(code);
    }
    const plan = await nufft.plan(1, [8, 8], { device });
    expect(await codeOf(() => plan.execute(new Float32Array(4)))).toBe('missing-buffer');
    expect(await codeOf(() => plan.setPoints([0]))).toBe('missing-buffer');
    expect(await codeOf(() => plan.setPoints([0], [0, 1]))).toBe('wrong-length');
    expect(await codeOf(() => plan.setPoints([0], [0], [0]))).toBe('invalid-argument');
    expect(await codeOf(() => plan.setPoints([0], [Number.POSITIVE_INFINITY]))).toBe('invalid-argument');
    expect(await codeOf(() => plan.setPoints([0], wrong(['1'])))).toBe('invalid-argument');
    expect(await codeOf(() => plan.setPoints([0], wrong('1')))).toBe('wrong-array-type');
    await plan.setPoints([0, 1], [2, 3]);
    const output = new Float32Array(128).fill(7);
    expect(await codeOf(() => plan.execute(new Float32Array(6), output))).toBe('wrong-length');
    expect(await codeOf(() => plan.execute(new Float64Array(4), output))).toBe('wrong-array-type');
    expect(output).toEqual(new Float32Array(128).fill(7));
    plan.destroy();
    plan.destroy();
    expect(await codeOf(() => plan.execute(new Float32Array(4)))).toBe('destroyed');
    expect(await codeOf(() => nufft.nufft1d1([0, 1], new Float32Array(6), 8))).toBe('wrong-length');
    expect(await codeOf(() => nufft.nufft1d1([0, 1], wrong([1, 0, 0, 1]), 8))).toBe('wrong-array-type');
    const large = await nufft.plan(1, [2 ** 20, 2 ** 20], { device });
    expect(await codeOf(() => large.setPoints([0], [0]))).toBe('device-limit');
    large.destroy();
  });
});

describe.skipIf(noOpenCl)('non-uniform transforms on OpenCL', () => {
  it('keep to their tolerance', async () => {
    const device = await openOpenCl();
    await expectPromised(device, { type: 1, modes: [12, 9], points: 300, eps: 1e-6, nTrans: 2, precision: 'single' });
    await expectPromised(device, { type: 2, modes: [20], points: 300, eps: 1e-12 });
    device.close();
  });
});

describe.skipIf(noWebGpu)('non-uniform transforms on WebGPU', () => {
  it('keep to their tolerance', async () => {
    const device = await openWebGpu();
    await expectPromised(device, { type: 1, modes: [30], points: 300, eps: 1e-5, precision: 'single' });
    await expectPromised(device, { type: 2, modes: [12, 9], points: 40, eps: 1e-3, precision: 'single' });
    device.close();
  });

  it('are appended to an encoder', async () => {
    const gpu = await testGpuDevice();
    const device = await openWebGpu({ device: gpu });
    const plan = await nufft.plan(1, 10, { device, eps: 1e-4 });
    const x = coordinates(30, 1, 0);
    const strengths = Float32Array.from(uniform(random, 60, 'single'));
    await plan.setPoints(x);
    const [STORAGE, COPY_SRC, COPY_DST, MAP_READ] = [0x80, 4, 8, 1];
    const input = gpu.createBuffer({ size: 240, usage: STORAGE | COPY_DST });
    const output = gpu.createBuffer({ size: 80, usage: STORAGE | COPY_SRC });
    const result = gpu.createBuffer({ size: 80, usage: COPY_DST | MAP_READ });
    gpu.queue.writeBuffer(input, 0, strengths);
    const encoder = gpu.createCommandEncoder();
    await plan.enqueue({ input, output, encoder });
    encoder.copyBufferToBuffer(output, 0, result, 0, 80);
    gpu.queue.submit([encoder.finish()]);
    await result.mapAsync(1);
    const wanted = directSums({ type: 1, modes: [10], sign: 1, modeOrd: 0, x: [x], s: [] }, strengths);
    expect(relativeError(new Float32Array(result.getMappedRange()), wanted)).toBeLessThan(PROMISED * 1e-4);
    plan.destroy();
    device.close();
    gpu.destroy();
  });
});
