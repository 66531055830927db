/** Adjoints of convolutions, with respect to the signal and to the kernel: ⟨x ∗ h, y⟩ = ⟨x, A*y⟩ = ⟨h, B*y⟩ over real numbers. */
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
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor } from '../../test/support/random.ts';
import { layerProblem } from '../../test/support/spectral-layer.ts';
import { noWebGpu, openWebGpu } from '../../test/support/webgpu.ts';
import { type Device, openDevice, type Plan, type ProblemInput } from '../index.ts';
import { kernelProblem, resultProblem } from '../plan/convolution.ts';

const random = randomFor('engine/adjoint-convolution');
const LIMITS = { half: 5e-3, single: 2e-6, double: 2e-14, 'double-double': 1e-29 } as const;

/** What any plan is called with here. */
type AnyPlan = Plan & {
  convolve(input: Arrays, kernel: unknown, output?: unknown): Promise<Arrays>;
  forward(input: Arrays, output: unknown, options: object): Promise<Arrays>;
  adjoint(direction: 'convolve', options: { readonly of: 'signal' | 'kernel' }): Promise<AnyPlan>;
};

/** Both adjoints of a convolution. */
async function expectAdjoints(device: Device, problem: ProblemInput, skips: 'kernel' | 'nothing' = 'nothing') {
  const plan = (await device.plan(problem)) as unknown as AnyPlan;
  const whole = plan.problem;
  const numbers = (side: Tensor['problem'], counts: { readonly length: number; readonly bytes: number }): Tensor => ({
    ...{ problem: side, side: 'input' },
    memory: counts,
  });
  const toSignal = await plan.adjoint('convolve', { of: 'signal' });
  const signal = numbers(whole, plan.input);
  const result = numbers(resultProblem(whole), toSignal.input);
  const ofKernel = kernelProblem(whole);
  const length = ofKernel.size.reduce((a, b) => a * b, 1) * ofKernel.coordinates * ofKernel.batches;
  // The matrices of layers are complex, of signals of reals, too.
  const parts = ofKernel.transform[0] === whole.transform[0] ? 1 : 2;
  const kernel = numbers(ofKernel, { length, bytes: parts * (plan.input.bytes / plan.input.length) * length });
  const [x, h, y] = [signal, kernel, result].map((tensor) => randomArrays(random, tensor)) as [Arrays, Arrays, Arrays];
  const prepared = await (plan as unknown as { prepareKernel(h: Arrays): Promise<{ free(): void }> }).prepareKernel(h);
  const inPlace = whole.placement === 'in-place';
  const [image, ofSignal] = inPlace
    ? [await plan.convolve(copyOf(x), prepared), await toSignal.convolve(copyOf(y), prepared)]
    : [
        await plan.convolve(x, prepared, poisonedArrays(result)),
        await toSignal.forward(y, poisonedArrays(signal), { kernel: prepared }),
      ];
  const limit = LIMITS[whole.edgeStorage];
  const text = JSON.stringify(problem);
  const [image1, y1, x1, h1] = [realsOf(image, result), realsOf(y, result), realsOf(x, signal), realsOf(h, kernel)];
  expect(adjointError(image1, y1, x1, realsOf(ofSignal, signal)), `signal of ${text}`).toBeLessThan(limit);
  if (skips === 'nothing') {
    const toKernel = await plan.adjoint('convolve', { of: 'kernel' });
    const cotangent = await toKernel.forward(y, poisonedArrays(kernel), { signal: x });
    expect(adjointError(image1, y1, h1, realsOf(cotangent, kernel)), `kernel of ${text}`).toBeLessThan(limit);
    toKernel.destroy();
  }
  prepared.free();
  toSignal.destroy();
  plan.destroy();
}

const block = (from: number, to: number) => ({ from, to });

describe('the adjoint of a convolution', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterAll(() => device.close());

  it.each<ProblemInput>([
    { size: [12], convolution: {} },
    { size: [37], convolution: {}, batches: 3 },
    { size: [12], transform: 'r2c', convolution: {}, scale: { forward: 3 } },
    { size: [9], transform: 'r2c', convolution: {}, batches: 2, leftBatches: 3, coordinates: 2 },
    { size: [8, 6], convolution: { conjugate: 'signal' }, batches: 2 },
    { size: [8, 6], transform: 'r2c', convolution: { conjugate: 'kernel' }, batches: 2, placement: 'in-place' },
    { size: [6, 5], layout: { input: 'planar', output: 'interleaved' }, convolution: {}, leftBatches: 2 },
    { size: [10], convolution: { kernels: 'per-coordinate' }, coordinates: 3, batches: 2 },
    { size: [10], transform: 'r2c', convolution: { kernels: 'per-batch' }, coordinates: 3, batches: 2 },
    { size: [5, 4], transform: 'r2c', convolution: { kernels: 'per-both' }, coordinates: 2, batches: 2 },
    { size: [12], convolution: { matrix: 2 }, batches: 2 },
    { size: [6, 4], transform: 'r2c', convolution: { matrix: 3, conjugate: 'signal' }, batches: 2 },
    { size: [8], convolution: { matrix: 2, kernels: 'per-batch', conjugate: 'kernel' }, batches: 3 },
    { size: [8], convolution: { kernels: 3 }, batches: 2 },
    { size: [8], transform: 'r2c', convolution: { kernels: 2 }, batches: 3, coordinates: 2, leftBatches: 2 },
    { size: [8], convolution: { kernels: 3, matrix: 2 }, batches: 2 },
    { size: [8, 5], transform: 'r2c', omit: [false, true], convolution: { kernels: 2 } },
    {
      size: [16, 6],
      transform: 'r2c',
      zeroPadding: { space: [block(8, 16), null], frequency: [null, block(2, 4)] },
      convolution: { kernels: 2 },
      batches: 2,
    },
    { size: [12], zeroPadding: { space: [block(5, 9)], frequency: [block(1, 3)] }, convolution: {}, batches: 2 },
    {
      size: [6, 4],
      strides: { input: [1, 2, 20, 100], output: [1, 3, -30, 150] },
      offsets: { input: 3, output: 100 },
      convolution: { kernels: 2 },
      batches: 2,
    },
    { size: [2048], transform: 'r2c', convolution: {}, precision: 'single', batches: 2 },
    { size: [9, 4], transform: 'r2c', convolution: { channels: { in: 2, out: 3 }, modes: [5, 2] }, leftBatches: 2 },
    // The last axis there and back is one launch, with matrices in an order of its own.
    { size: [4, 32], transform: 'r2c', convolution: { channels: { in: 5, out: 6 }, modes: [2, 16] }, batches: 2 },
  ])('with respect to signal and kernel: %j', async (problem) => {
    await expectAdjoints(device, { precision: 'double', ...problem });
  });

  it('has the precision and the memory of the convolution', async () => {
    await expectAdjoints(device, { size: [6], precision: 'double-double', convolution: {}, batches: 2 });
    await expectAdjoints(device, {
      size: [8],
      precision: 'double',
      edgeStorage: 'single',
      convolution: {},
      batches: 2,
    });
    const half = { size: [8], edgeStorage: 'half', convolution: { kernels: 2 }, scale: { forward: 0.2 } } as const;
    await expectAdjoints(device, half, 'kernel');
    await expectAdjoints(
      device,
      { size: [8], precision: 'double', convolution: { matrix: 3, symmetric: true } },
      'kernel',
    );
  });

  it('takes spectra of the user’s, host arrays or memory', async () => {
    const plan = await device.plan({ size: [6], precision: 'double', convolution: { kernelSpectrum: 'user' } });
    const adjoint = await plan.adjoint('convolve', { of: 'signal' });
    const [x, y, spectrum] = [0, 1, 2].map(() => Float64Array.from({ length: 12 }, () => random.unit() - 0.5));
    const image = await plan.convolve(x!, spectrum!);
    const cotangent = await adjoint.forward(y!, undefined, { kernel: spectrum! });
    const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, n) => sum + value * b[n]!, 0);
    expect(Math.abs(dot(image, y!) - dot(x!, cotangent))).toBeLessThan(1e-14);
  });

  it('is a plan: synchronous, enqueued, measured, explained, destroyed', async () => {
    const plan = await device.plan({ size: [8], transform: 'r2c', batches: 3, convolution: {} });
    const kernel = await plan.prepareKernel(new Float32Array(8).fill(1));
    const [toSignal, toKernel] = [
      await plan.adjoint('convolve', { of: 'signal' }),
      await plan.adjoint('convolve', { of: 'kernel' }),
    ];
    const y = Float32Array.from({ length: 24 }, () => random.unit());
    const want = await toSignal.forward(y, undefined, { kernel });
    expect(toSignal.convolveSync(y, kernel)).toEqual(want);
    const ofKernel = toKernel.forwardSync(y, undefined, { signal: y });
    expect(ofKernel.length).toBe(8);
    expect(toKernel.output.shape).toEqual([1, 8, 1, 1]);
    const [from, to] = [device.alloc(toKernel.input.bytes), device.alloc(toKernel.output.bytes)];
    from.array.set(y);
    const signal = device.alloc(toKernel.input.bytes);
    signal.array.set(y);
    await toKernel.enqueue('forward', { input: from, output: to, signal });
    expect([...to.array.subarray(0, 8)]).toEqual([...ofKernel]);
    expect(await toKernel.measure('forward', { signal })).toBeGreaterThan(0);
    expect(toKernel.explain().match(/\nforward: /g)).toHaveLength(3);
    expect(() => toKernel.serialize()).toThrow(expect.objectContaining({ code: 'unsupported-feature' }));
    await expect(toKernel.forward(y)).rejects.toMatchObject({ code: 'missing-buffer' });
    await expect(toSignal.forward(y, undefined, { kernel: from })).rejects.toMatchObject({ code: 'wrong-kernel' });
    toKernel.destroy();
    await expect(toKernel.forward(y, undefined, { signal: y })).rejects.toMatchObject({ code: 'destroyed' });
    kernel.free();
  });

  it.each<[ProblemInput, 'signal' | 'kernel', string]>([
    [{ size: [8], convolution: { crossPower: true } }, 'signal', 'convolution.crossPower'],
    [{ size: [8], convolution: { crossPower: true } }, 'kernel', 'convolution.crossPower'],
    [{ size: [8], convolution: { matrix: 2, symmetric: true } }, 'kernel', 'convolution.symmetric'],
    [{ size: [8], convolution: { kernelSpectrum: 'user' } }, 'kernel', 'convolution.kernelSpectrum'],
    [{ size: [8], convolution: {}, edgeStorage: 'half' }, 'kernel', 'edgeStorage'],
    [
      {
        size: [8],
        transform: 'r2c',
        convolution: {},
        callbacks: { forward: { load: (x, value) => x.mul(x.constant(2), value as never) } },
      },
      'signal',
      'callbacks',
    ],
    [
      { size: [4], convolution: { kernels: 2, matrix: 2 }, batches: 2, leftBatches: 2 },
      'signal',
      'convolution.kernels',
    ],
  ])('is refused by name: %j with respect to the %s', async (problem, of, path) => {
    const plan = (await device.plan(problem)) as unknown as AnyPlan;
    const error = await plan.adjoint('convolve', { of }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unsupported-feature', problems: [{ path }] });
    plan.destroy();
  });
});

/** Both adjoints of random layers. */
async function expectLayers(device: Device, count: number, precisions: readonly ('single' | 'double')[]) {
  for (let n = 0; n < count; n++) await expectAdjoints(device, layerProblem(random, precisions, 80));
}

describe('the adjoints of spectral layers', () => {
  it('are exact for any layer, in every precision', async () => {
    const device = await openDevice('cpu', { threads: 2 });
    await expectLayers(device, 12, ['single', 'double']);
    const convolution = { channels: { in: 2, out: 3 }, modes: [3] };
    const own = { size: [8], transform: 'r2c', batches: 2, convolution } as const;
    await expectAdjoints(device, { ...own, precision: 'double-double' });
    await expectAdjoints(device, { ...own, edgeStorage: 'half' });
    // A sum over 128 batches or more is computed in a loop instead of written out.
    for (const precision of ['single', 'double-double'] as const)
      await expectAdjoints(device, { ...own, precision, batches: random.integer(128, 140) });
    device.close();
  });

  it('are the slopes that differences of a loss show', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const plan = await device.plan({
      ...{ size: [6, 4], transform: 'r2c', precision: 'double', batches: 2 },
      convolution: { channels: { in: 2, out: 2 }, modes: [3, 1] },
    });
    const draw = (count: number) => Float64Array.from({ length: count }, () => random.unit() - 0.5);
    const [x, h] = [draw(96), draw(2 * 3 * 2 * 4)];
    const layer = async (from: Float64Array, by: Float64Array) => {
      const kernel = await plan.prepareKernel(by);
      return { kernel, y: await plan.convolve(from, kernel) };
    };
    const loss = async (from: Float64Array, by: Float64Array) =>
      (await layer(from, by)).y.reduce((sum, value) => sum + Math.log(1 + value ** 2), 0);
    const { kernel, y } = await layer(x, h);
    const outer = y.map((value) => (2 * value) / (1 + value ** 2));
    const ofSignal = await (await plan.adjoint('convolve', { of: 'signal' })).forward(outer, undefined, { kernel });
    const ofKernel = await (await plan.adjoint('convolve', { of: 'kernel' })).forward(outer, undefined, { signal: x });
    const step = 2 ** -17;
    const [u, v] = [draw(x.length), draw(h.length)];
    const moved = (all: Float64Array, by: number, way: Float64Array) => all.map((value, n) => value + by * way[n]!);
    const slope = (gradient: Float64Array, way: Float64Array) =>
      gradient.reduce((sum, one, n) => sum + one * way[n]!, 0);
    const bySignal = ((await loss(moved(x, step, u), h)) - (await loss(moved(x, -step, u), h))) / (2 * step);
    const byKernel = ((await loss(x, moved(h, step, v))) - (await loss(x, moved(h, -step, v)))) / (2 * step);
    expect(Math.abs(slope(ofSignal, u) - bySignal)).toBeLessThan(1e-7 * Math.max(1, Math.abs(bySignal)));
    expect(Math.abs(slope(ofKernel, v) - byKernel)).toBeLessThan(1e-7 * Math.max(1, Math.abs(byKernel)));
    device.close();
  });
});

describe('a loss behind several plans', () => {
  it('has the gradient that differences of it show', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const own = { size: [12], precision: 'double' } as const;
    const plan = await device.plan({ ...own, transform: 'r2c', convolution: {} });
    const cosines = await device.plan({ ...own, transform: 'dct2', directions: 'forward' });
    const draw = () => Float64Array.from({ length: 12 }, () => random.unit() - 0.5);
    const [x, h, way] = [draw(), draw(), draw()] as [Float64Array, Float64Array, Float64Array];
    const signal = await cosines.forward(x);
    /** Σ log(1 + |F(DCT x ∗ h)|²) over the bins of the half spectrum, and its derivatives with respect to both parts of each. */
    const bins = async (from: Float64Array, kernel: Float64Array) => {
      const prepared = await plan.prepareKernel(kernel);
      return plan.forward(await plan.convolve(await cosines.forward(from), prepared));
    };
    const loss = async (from: Float64Array, kernel: Float64Array) => {
      const all = await bins(from, kernel);
      return all.reduce((sum, re, n) => (n % 2 ? sum : sum + Math.log(1 + re ** 2 + all[n + 1]! ** 2)), 0);
    };
    const all = await bins(x, h);
    const outer = all.map((value, n) => (2 * value) / (1 + all[n - (n % 2)]! ** 2 + all[n - (n % 2) + 1]! ** 2));
    const behind = await (await plan.adjoint('forward')).forward(outer);
    const kernel = await plan.prepareKernel(h);
    const toSignal = await plan.adjoint('convolve', { of: 'signal' });
    const toKernel = await plan.adjoint('convolve', { of: 'kernel' });
    const ofCosines = await (await cosines.adjoint('forward')).forward(
      await toSignal.forward(behind, undefined, { kernel }),
    );
    const ofKernel = await toKernel.forward(behind, undefined, { signal });
    const step = 2 ** -17;
    const moved = (from: Float64Array, by: number) => from.map((value, n) => value + by * way[n]!);
    const slope = (gradient: Float64Array) => gradient.reduce((sum, value, n) => sum + value * way[n]!, 0);
    const bySignal = ((await loss(moved(x, step), h)) - (await loss(moved(x, -step), h))) / (2 * step);
    const byKernel = ((await loss(x, moved(h, step))) - (await loss(x, moved(h, -step)))) / (2 * step);
    expect(Math.abs(slope(ofCosines) - bySignal)).toBeLessThan(1e-6 * Math.max(1, Math.abs(bySignal)));
    expect(Math.abs(slope(ofKernel) - byKernel)).toBeLessThan(1e-6 * Math.max(1, Math.abs(byKernel)));
    device.close();
  });
});

const gpus = [
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu },
];

describe.each(gpus)('adjoints on $name', ({ missing, open }) => {
  it.skipIf(missing)('are those of convolutions, of layers, and of transforms with weights', async () => {
    const device = await open();
    await expectAdjoints(device, { size: [16], transform: 'r2c', convolution: {}, batches: 2 });
    const convolution = { channels: { in: 2, out: 3 }, modes: [3, 2] };
    await expectAdjoints(device, { size: [8, 6], transform: 'r2c', batches: 3, leftBatches: 2, convolution });
    const plan = await device.plan({ size: [16], transform: 'r2c' });
    const adjoint = await plan.adjoint('forward');
    const bins = Float32Array.from({ length: 18 }, () => random.unit() - 0.5);
    const signal = Float32Array.from({ length: 16 }, () => random.unit() - 0.5);
    const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, n) => sum + value * b[n]!, 0);
    const [one, other] = [dot(await plan.forward(signal), bins), dot(signal, await adjoint.forward(bins))];
    expect(Math.abs(one - other)).toBeLessThan(1e-5);
    device.close();
  });
});
