/** `convolution.kernelSpectrum: 'user'`: kernels as memory of the caller's that holds their spectra in natural order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directConvolution } from '../../test/reference/convolution.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { codeOf } from '../../test/support/device-kernels.ts';
import { fromHalf, toHalf } from '../../test/support/halves.ts';
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { noWebGpu, openWebGpu } from '../../test/support/webgpu.ts';
import { type Device, openDevice, type Problem, type ProblemInput } from '../index.ts';

const random = randomFor('engine/user-spectrum');
const singles = (count: number) => Float32Array.from(uniform(random, count, 'single'));
const user = { kernelSpectrum: 'user' } as const;

/** What of a plan is called where its problem is any. */
interface Convolving {
  readonly input: { readonly length: number };
  readonly output: { readonly length: number };
  readonly problem: Problem;
  convolve(x: unknown, kernel: unknown): Promise<Float64Array | { re: Float64Array; im: Float64Array }>;
}

/** What all devices share of a plan that convolves reals; memory of a GPU is filled by transforms. */
const devices = [
  { name: 'the CPU', missing: undefined, open: () => openDevice('cpu', { threads: 2 }), sync: true },
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl, sync: true },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu, sync: false },
];

describe.each(devices)('a spectrum of the user’s on $name', ({ missing, open, sync }) => {
  let device: Device;
  beforeAll(async () => {
    if (!missing) device = await open();
  });
  afterAll(() => device?.close());

  it.skipIf(missing)('is a kernel by every way to call, from an offset on, too', async () => {
    const size = [12, 10] as const;
    const [points, bins] = [120, 70];
    const problem = { size, transform: 'r2c' } as const;
    const plan = await device.plan({ ...problem, convolution: user });
    const transform = await device.plan(problem);
    const [x, h, other] = [singles(points), singles(points), singles(points)];
    const complex = (values: Float32Array) =>
      Float64Array.from({ length: 240 }, (_, n) => (n % 2 ? 0 : values[n / 2]!));
    const { hi, lo } = directConvolution({ size }, complex(x), complex(h));
    const reals = (all: Float64Array) => all.filter((_, n) => n % 2 === 0);
    const check = (y: Float32Array) =>
      expect(relativeError(y, reals(hi), reals(lo))).toBeLessThan(3 * tolerance('single', points));
    const spectrum = await transform.forward(h);
    check(await plan.convolve(x, spectrum));
    if (sync) check(plan.convolveSync(x, spectrum));

    // Memory of the device, with another spectrum in front.
    const memory = device.alloc(8 * 2 * bins, 'single');
    const both = new Float32Array(4 * bins);
    both.set(await transform.forward(other));
    both.set(spectrum, 2 * bins);
    const copy = await device.plan({ size: [1], batches: 2 * bins });
    await copy.forward(both, memory as never);
    const [input, output] = [device.alloc(4 * points, 'single'), device.alloc(4 * points, 'single')];
    const reads = await device.plan({ size: [points], transform: 'dct1', omit: [true] });
    await reads.forward(x, input as never);
    await plan.enqueue('convolve', { input, output, kernel: memory, offsets: { kernel: bins } });
    check((await reads.forward(output as never)) as unknown as Float32Array);

    // What the plan prepares is the same, and may be changed.
    const prepared = await plan.prepareKernel(h);
    const seen = (await (await device.plan({ size: [1], batches: bins })).forward(prepared as never)) as unknown;
    expect(relativeError(seen as Float32Array, Float64Array.from(spectrum))).toBeLessThan(tolerance('single', points));
    check(await plan.convolve(x, prepared));
    expect(await plan.measure('convolve', { kernel: memory, offsets: { kernel: bins }, repeats: 1 })).toBeGreaterThan(
      0,
    );
  });
});

describe('a spectrum of the user’s', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterAll(() => device.close());

  it('that is too short, or of another type, is refused', async () => {
    const plan = await device.plan({ size: [16], convolution: user });
    const [input, output] = [device.alloc(128, 'single'), device.alloc(128, 'single')];
    const enqueue = (kernel: unknown, offsets?: unknown) =>
      codeOf(async () => plan.enqueue('convolve', { input, output, kernel, ...(offsets ? { offsets } : {}) } as never));
    expect(await enqueue(device.alloc(120, 'single'))).toBe('buffer-too-small');
    expect(await enqueue(device.alloc(128, 'single'), { kernel: 1 })).toBe('buffer-too-small');
    expect(await enqueue(device.alloc(128, 'single'), { kernel: -1 })).toBe('invalid-argument');
    expect(await enqueue(device.alloc(128, 'single'), { kernel: 0.5 })).toBe('invalid-argument');
    expect(await enqueue(undefined)).toBe('missing-buffer');
    expect(await enqueue(output)).toBe('aliased-buffers');
    expect(await enqueue(new Float32Array(32))).toBe('foreign-buffer');
    const x = new Float32Array(32);
    const convolve = (kernel: unknown) => codeOf(async () => plan.convolve(x, kernel as never));
    expect(await convolve(new Float32Array(30))).toBe('wrong-length');
    expect(await convolve(new Float64Array(32))).toBe('wrong-array-type');
    expect(await convolve('kernel')).toBe('wrong-array-type');
    const prepared = await (await device.plan({ size: [16], convolution: {} })).prepareKernel(x);
    expect(await convolve(prepared)).toBe('wrong-kernel');
    const plain = await device.plan({ size: [16] });
    const options = { input, output, offsets: { kernel: 0 } } as never;
    expect(await codeOf(async () => plain.enqueue('forward', options))).toBe('unknown-field');
    const freed = device.alloc(128, 'single');
    freed.free();
    expect(await enqueue(freed)).toBe('destroyed');
  });

  it('of an unknown kind is refused', async () => {
    const problem = { size: [4], convolution: { kernelSpectrum: 'mine' } } as unknown as ProblemInput;
    expect(await codeOf(() => device.plan(problem))).toBe('invalid-field');
  });

  it.each<[string, ProblemInput, number]>([
    ['double-doubles', { size: [12], precision: 'double-double' }, 1e-29],
    ['halves', { size: [12], precision: 'half' }, 4e-3],
    ['doubles computed with, singles in memory', { size: [12], precision: 'double', storage: 'single' }, 1e-6],
    ['several uploads', { size: [3840], tuning: { uploadSwitch: { three: 8 } } }, 1e-5],
    ['a prime length', { size: [2053] }, 1e-5],
    ['an odd number of reals', { size: [2187], transform: 'r2c', tuning: { uploadSwitch: { two: 8 } } }, 1e-5],
    ['planes', { size: [16, 6], layout: 'planar' }, 1e-6],
  ])('that turns with its bins moves a signal: %s', async (_, input, bound) => {
    const plan = (await device.plan({ ...input, convolution: user } as ProblemInput)) as unknown as Convolving;
    const { edgeStorage, size, layout, transform } = plan.problem;
    const words = edgeStorage === 'double-double' ? 2 : 1;
    // By half the length, factors are whole numbers.
    const by = words === 2 ? size[0]! / 2 : 1;
    const make = (numbers: Float64Array) => {
      if (edgeStorage === 'half') return Uint16Array.from(numbers, toHalf);
      if (edgeStorage === 'single') return Float32Array.from(numbers);
      return Float64Array.from({ length: words * numbers.length }, (_, n) => (n % words ? 0 : numbers[n / words]!));
    };
    const bins = transform[0] === 'r2c' ? Math.floor(size[0]! / 2) + 1 : size[0]!;
    const spectrum = Float64Array.from({ length: 2 * plan.output.length }, (_, n) => {
      const turns = ((Math.floor(n / 2) % bins) * by) / size[0]!;
      return n % 2 ? -Math.sin(2 * Math.PI * turns) : Math.cos(2 * Math.PI * turns);
    });
    const exact = words === 2 ? spectrum.map(Math.round) : spectrum;
    const planes = layout.input === 'planar' ? 2 : 1;
    const parts = transform[0] === 'r2c' || planes === 2 ? 1 : 2;
    const values = Array.from({ length: planes }, () => uniform(random, parts * plan.input.length, 'single'));
    const [re, im] = values.map((plane) => make(Float64Array.from(plane)));
    const y = await plan.convolve(im ? { re, im } : re, make(exact));
    ('re' in y ? [y.re, y.im] : [y]).forEach((plane, p) => {
      for (let n = 0; n < plan.input.length * parts; n++) {
        const [at, row] = [Math.floor(n / parts) % size[0]!, Math.floor(n / parts / size[0]!)];
        const from = parts * (((at + size[0]! - by) % size[0]!) + size[0]! * row) + (n % parts);
        const got = edgeStorage === 'half' ? fromHalf(plane[n]!) : plane[words * n]!;
        expect(Math.abs(got - values[p]![from]!)).toBeLessThan(bound);
      }
    });
  });

  it('meets signals as kernels of their own, and matrices do', async () => {
    const problem = { size: [6], coordinates: 2, batches: 2, precision: 'double' } as const;
    const plan = await device.plan({ ...problem, convolution: { ...user, kernels: 'per-both' } });
    const matrices = await device.plan({ ...problem, convolution: { ...user, matrix: 2 } });
    const x = Float64Array.from(uniform(random, 48, 'double'));
    // Each spectrum is its own number everywhere.
    const each = await plan.convolve(
      x,
      Float64Array.from({ length: 48 }, (_, n) => (n % 2 ? 0 : 1 + Math.floor(n / 12))),
    );
    each.forEach((value, n) => expect(value).toBeCloseTo((1 + Math.floor(n / 12)) * x[n]!, 12));
    // xx, xy, yx, yy are 1, 2, 3, 4.
    const mixed = await matrices.convolve(
      x,
      Float64Array.from({ length: 48 }, (_, n) => (n % 2 ? 0 : 1 + Math.floor(n / 12))),
    );
    mixed.forEach((value, n) => {
      const [at, row, batch] = [n % 12, Math.floor(n / 12) % 2, Math.floor(n / 24)];
      const [a, b] = [x[24 * batch + at]!, x[24 * batch + 12 + at]!];
      expect(value).toBeCloseTo(row === 0 ? a + 2 * b : 3 * a + 4 * b, 12);
    });
  });
});
