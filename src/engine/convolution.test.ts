import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directConvolution, spectralConvolution } from '../../test/reference/convolution.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { codeOf } from '../../test/support/device-kernels.ts';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { type Device, openDevice, type Plan, type ProblemInput } from '../index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { type Block, blocksOf, tensorShape } from '../problem/index.ts';

const random = randomFor('engine/convolution');
const numbers = (count: number) => Float64Array.from(uniform(random, count, 'double'));
let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 2 });
});
afterAll(() => device.close());

async function launchesOf(on: Pick<Device, 'plan'>, problem: ProblemInput): Promise<string[]> {
  const plan = await on.plan(problem);
  const { directions } = plan.toJSON();
  const { launches } = directions.find(({ direction }) => direction === 'convolve')!;
  expect(plan.explain()).toMatch(/× .*kernel/);
  plan.destroy();
  return launches.map(({ title }) => title);
}

describe('launches of a convolution', () => {
  const gpu = openInterpreted(namedProfiles.h200.profile as DeviceProfile);
  const rader = { multiply: [2, 13], convolve: [2, 13] } as const;

  // On a GPU axes share launches, as those of transforms do.
  it.each<[string, ProblemInput, number, number?]>([
    ['one upload', { size: [1024], convolution: {} }, 1],
    ['one upload of reals', { size: [1024], transform: 'r2c', convolution: {} }, 1],
    ['a length with a large prime', { size: [1009], tuning: { rader }, convolution: {} }, 1],
    ['matrices', { size: [256], convolution: { matrix: 3 } }, 1],
    ['two axes', { size: [64, 1024], convolution: {} }, 3, 1],
    ['two short axes', { size: [64, 64], convolution: { kernels: 2 } }, 3, 1],
    ['two short axes of reals', { size: [64, 64], transform: 'r2c', convolution: {} }, 3, 1],
    ['two short axes of matrices', { size: [32, 32], convolution: { matrix: 2, symmetric: true } }, 3, 1],
    ['three axes', { size: [128, 128, 128], convolution: {} }, 5, 3],
    ['three axes of reals', { size: [64, 64, 64], transform: 'r2c', convolution: {} }, 5, 3],
    ['three axes in place', { size: [256, 256, 256], placement: 'in-place', convolution: {} }, 5, 3],
    ['three axes, one of a large prime', { size: [32, 32, 1009], convolution: {} }, 5, 3],
    ['two axes of reals', { size: [64, 1024], transform: 'r2c', convolution: { kernels: 2 } }, 3],
    ['two uploads', { size: [4096], tuning: { uploadSwitch: { two: 1024 } }, convolution: {} }, 3],
    [
      'two uploads of reals',
      { size: [4096], transform: 'r2c', tuning: { uploadSwitch: { two: 1024 } }, convolution: {} },
      3,
    ],
    [
      'two uploads of reals, phases by matrices of a spectrum of the user’s',
      {
        ...{ size: [4096], transform: 'r2c', tuning: { uploadSwitch: { two: 1024 } } },
        convolution: { matrix: 2, crossPower: true, kernelSpectrum: 'user' },
      },
      3,
    ],
    ['phases of a length with a large prime', { size: [1009], convolution: { crossPower: true } }, 3],
  ])('%s: as few as can be', async (_, problem, count, shared = count) => {
    expect(await launchesOf(device, problem)).toHaveLength(count);
    // So many that no multiprocessor is idle.
    expect(await launchesOf(gpu as Device, { ...problem, batches: 100 })).toHaveLength(shared);
  });
});

describe('a convolution', () => {
  const size = [12, 10];
  const problem = { size, precision: 'double', convolution: {} } as const;
  const points = 120;

  it('is the same by every way to call it', async () => {
    const plan = await device.plan(problem);
    const [x, h] = [numbers(2 * points), numbers(2 * points)];
    const { hi, lo } = directConvolution({ size }, x, h);
    const kernel = await plan.prepareKernel(h);
    const check = (y: Float64Array) => expect(relativeError(y, hi, lo)).toBeLessThan(3 * tolerance('double', points));
    check(await plan.convolve(x, kernel));
    const own = new Float64Array(2 * points);
    expect(await plan.convolve(x, kernel, own)).toBe(own);
    check(own);
    const other = plan.prepareKernelSync(h);
    check(plan.convolveSync(x, other));
    for (let round = 0; round < 3; round++) check(plan.convolveSync(x, other, own.fill(Number.NaN)));
    const [input, output] = [device.alloc(16 * points, 'double'), device.alloc(16 * points, 'double')];
    const work = device.alloc(plan.bytes.work, 'double');
    input.array.set(x);
    for (const more of [{}, { work }]) {
      output.array.fill(Number.NaN);
      await plan.enqueue('convolve', { input, kernel, output, ...more });
      check(output.array);
    }
    expect(await plan.measure('convolve', { kernel, repeats: 1 })).toBeGreaterThan(0);
    // Transforms are what they are without it.
    const alone = await device.plan({ size, precision: 'double' });
    expect(await plan.forward(x)).toEqual(await alone.forward(x));
    expect(await plan.inverse(x)).toEqual(await alone.inverse(x));
  });

  it('may take its kernels in turns', async () => {
    const plan = await device.plan(problem);
    const x = numbers(2 * points);
    const kernels = await Promise.all([1, 2].map((at) => plan.prepareKernel(impulse(at))));
    const results = await Promise.all([0, 1, 0].map((n) => plan.convolve(x, kernels[n]!)));
    results.forEach((y, n) => {
      const shift = n === 1 ? 2 : 1;
      for (const k of [0, 5]) expect(y[2 * k]).toBeCloseTo(x[2 * ((k + 12 - shift) % 12)]!, 12);
    });
  });

  function impulse(at: number): Float64Array {
    const h = new Float64Array(2 * points);
    h[2 * at] = 1;
    return h;
  }

  it.each([
    [[60], 'none'],
    [[64], 'kernel'],
    [[17], 'signal'],
  ] as const)('of phases finds the normalised cross-power spectrum: %j, %s', async (size, conjugate) => {
    const plan = await device.plan({ size, precision: 'double', convolution: { crossPower: true, conjugate } });
    const [x, h] = [numbers(2 * size[0]), numbers(2 * size[0])];
    const y = await plan.convolve(x, await plan.prepareKernel(h));
    const { hi, lo, growth } = spectralConvolution({ size, conjugate, crossPower: true }, x, h);
    const large = size[0] === 17 ? 5 : 1;
    expect(relativeError(y, hi, lo)).toBeLessThan(3 * large * tolerance('double', size[0]) * growth);
  });

  it.each(['single', 'double'] as const)(
    'of phases where there is nothing is nothing, in %s precision',
    async (precision) => {
      const plan = await device.plan({ size: [32], precision, transform: 'r2c', convolution: { crossPower: true } });
      const make = (values: number[]) =>
        precision === 'single' ? Float32Array.from(values) : Float64Array.from(values);
      const [nothing, huge] = [
        make(Array(32).fill(0)),
        make(Array.from({ length: 32 }, (_, n) => 1e18 * Math.sin(n * n))),
      ];
      const kernel = await plan.prepareKernel(huge as never);
      expect(await plan.convolve(nothing as never, kernel)).toEqual(nothing);
      const phases = await plan.convolve(huge as never, kernel);
      expect([...phases].every((value) => Number.isFinite(value) && Math.abs(value) <= 1.001)).toBe(true);
    },
  );
});

describe('sizes of reports in VkFFT’s issue tracker', () => {
  // #159, #79 (several uploads), #156, #75, #66, #200, #206, and those that pyvkfft's tests refuse (pyvkfft #33).
  it.each<ProblemInput>([
    { size: [449], transform: 'r2c', batches: 11 },
    { size: [4096], precision: 'double', tuning: { uploadSwitch: { two: 4096 } } },
    { size: [4096], coordinates: 3 },
    { size: [4096], transform: 'r2c', tuning: { uploadSwitch: { two: 1024 } } },
    { size: [256, 54], transform: 'r2c' },
    { size: [256, 75], transform: 'r2c', tuning: { uploadSwitch: { two: 64 } } },
    { size: [512, 127], transform: 'r2c' },
    { size: [512, 128], transform: 'r2c' },
    { size: [39, 39] },
    { size: [44, 44], placement: 'in-place' },
    { size: [5120], coordinates: 3 },
    { size: [7168] },
    { size: [1234, 1234] },
    { size: [16, 8192] },
    { size: [1536, 512] },
    { size: [1024, 768], transform: 'r2c' },
  ])('%j: an impulse moves the signal', async (given) => {
    const plan = await device.plan({ precision: 'single', ...given, convolution: {} } as ProblemInput);
    const { size, transform, precision } = plan.problem;
    const parts = transform[0] === 'r2c' ? 1 : 2;
    const points = size.reduce((a, b) => a * b, 1);
    const make = (count: number) => (precision === 'single' ? new Float32Array(count) : new Float64Array(count));
    const h = make(parts * points);
    const by = size.map((n) => random.integer(0, n - 1));
    h[parts * by.reduceRight((at, k, axis) => at * size[axis]! + k, 0)] = 1;
    const x = make(plan.input.length * parts).map(() => random.integer(-9, 9));
    const signal = x.slice();
    const y = (await plan.convolve(x as never, await plan.prepareKernel(h as never))) as typeof x;
    const moved = signal.map((_, at) => {
      let rest = Math.floor(at / parts);
      const system = Math.floor(rest / points);
      let from = 0;
      let stride = 1;
      size.forEach((n, axis) => {
        from += stride * ((rest + n - by[axis]!) % n);
        rest = Math.floor(rest / n);
        stride *= n;
      });
      return signal[parts * (from + system * points) + (at % parts)]!;
    });
    expect(relativeError(y, moved)).toBeLessThan(15 * tolerance(precision, points));
    plan.destroy();
  });
});

describe('blocks of zeros of reports in VkFFT’s issue tracker', () => {
  // #206 (along x, along y), #66 (at the beginning), #201, #180 and #225 (of bins), pyvkfft #12.
  it.each<ProblemInput>([
    { size: [1536, 512], zeroPadding: { space: [{ from: 1024, to: 1536 }, null] } },
    { size: [1024, 768], zeroPadding: { space: [null, { from: 512, to: 768 }] } },
    {
      size: [64, 64],
      zeroPadding: {
        space: [
          { from: 0, to: 32 },
          { from: 0, to: 32 },
        ],
      },
    },
    { size: [93312], transform: 'r2c', zeroPadding: { space: [{ from: 93060, to: 93312 }] } },
    { size: [12288], transform: 'r2c', zeroPadding: { frequency: [{ from: 2, to: 6145 }] } },
    { size: [6144], transform: 'r2c', precision: 'double', zeroPadding: { frequency: [{ from: 2, to: 3073 }] } },
    { size: [11264], transform: 'r2c', zeroPadding: { frequency: [{ from: 2, to: 5633 }] } },
    { size: [4094], transform: 'r2c', zeroPadding: { frequency: [{ from: 2, to: 2048 }] } },
    { size: [4095], transform: 'r2c', zeroPadding: { frequency: [{ from: 2, to: 2048 }] } },
    { size: [8192, 16], zeroPadding: { frequency: [{ from: 64, to: 8128 }, null] } },
    { size: [16, 8192], zeroPadding: { frequency: [null, { from: 64, to: 8128 }] } },
  ])('%j: as zeros', async (given) => {
    const padded = (await device.plan({ precision: 'single', ...given } as ProblemInput)) as Plan;
    const { zeroPadding, ...whole } = { precision: 'single', ...given } as ProblemInput;
    const plain = (await device.plan(whole as ProblemInput)) as Plan;
    for (const [direction, side, other] of [
      ['forward', 'input', 'output'],
      ['inverse', 'output', 'input'],
    ] as const) {
      const shape = tensorShape(padded.problem, side);
      const isZero = inBlock(blocksOf(padded.problem, side), shape);
      const parts = partsOf(padded, side);
      const values = uniform(random, parts * padded[side].length, 'single');
      const filled = (value: number) => {
        const made = values.map((own, n) => (isZero(Math.floor(n / parts)) ? value : own));
        return padded.problem.precision === 'single' ? Float32Array.from(made) : made;
      };
      const found = (await padded[direction](filled(Number.NaN) as never)) as Float32Array;
      const wanted = (await plain[direction](filled(0) as never)) as Float32Array;
      const spared = inBlock(blocksOf(padded.problem, other), tensorShape(padded.problem, other));
      const step = partsOf(padded, other);
      const kept = (all: Float32Array) => all.filter((_, n) => !spared(Math.floor(n / step)));
      expect(relativeError(kept(found), kept(wanted))).toBeLessThan(
        15 *
          tolerance(
            padded.problem.precision,
            shape.reduce((a, b) => a * b, 1),
          ),
      );
    }
    padded.destroy();
    plain.destroy();
  });

  const partsOf = ({ problem }: Plan, side: 'input' | 'output') =>
    problem.transform[0] === 'r2c' && side === 'input' ? 1 : 2;

  /** Whether an element of a packed tensor lies in a block. */
  function inBlock(blocks: readonly (Block | null)[], shape: readonly number[]): (element: number) => boolean {
    return (element) => {
      let rest = element;
      return blocks.some((block, axis) => {
        const at = rest % shape[axis + 1]!;
        rest = Math.floor(rest / shape[axis + 1]!);
        return block !== null && at >= block.from && at < block.to;
      });
    };
  }
});

describe('what cannot be convolved is refused', () => {
  it.each<[object, string]>([
    [{ convolution: 7 }, 'invalid-field'],
    [{ convolution: { kernels: 0 } }, 'invalid-field'],
    [{ convolution: { matrix: 4 } }, 'invalid-field'],
    [{ convolution: { conjugate: 'both' } }, 'invalid-field'],
    [{ convolution: { kernal: 2 } }, 'unknown-field'],
    [{ convolution: { matrix: 2 }, coordinates: 3 }, 'invalid-field'],
    [{ convolution: { symmetric: true } }, 'invalid-field'],
    [{ convolution: { kernels: 'per-row' } }, 'invalid-field'],
    [{ convolution: { matrix: 2, kernels: 'per-both' } }, 'invalid-field'],
    [{ convolution: { kernels: 2 }, placement: 'in-place' }, 'unsupported-feature'],
    [{ convolution: {}, unordered: true }, 'unsupported-feature'],
    [{ convolution: {}, transform: 'dct2' }, 'unsupported-feature'],
    [{ convolution: {}, omit: [true] }, 'unsupported-feature'],
    [{ convolution: { modes: [2] } }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 } } }, 'invalid-field'],
    [{ convolution: { channels: { in: 0, out: 2 }, modes: [2] } }, 'invalid-field'],
    [{ convolution: { channels: { in: 2 }, modes: [2] } }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [2, 2] } }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [9] } }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [10] }, transform: 'r2c' }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [2] }, coordinates: 3 }, 'invalid-field'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [2], kernels: 2 } }, 'unsupported-feature'],
    [{ convolution: { channels: { in: 2, out: 2 }, modes: [2], matrix: 2 } }, 'unsupported-feature'],
    [{ convolution: { channels: { in: 2, out: 3 }, modes: [2] }, placement: 'in-place' }, 'unsupported-feature'],
  ])('%j', async (fields, code) => {
    expect(await codeOf(() => device.plan({ size: [16], ...fields } as ProblemInput))).toBe(code);
  });

  it('by a plan that does not convolve, or with what is no kernel of it', async () => {
    const plain = await device.plan({ size: [16] });
    const plan = await device.plan({ size: [16], convolution: {} });
    const other = await device.plan({ size: [18], convolution: {} });
    const again = await device.plan({ size: [16], convolution: {} });
    const x = new Float32Array(32);
    const y = new Float32Array(32).fill(7);
    const call = (of: unknown, name: string, ...args: unknown[]) =>
      codeOf(async () => (of as Record<string, (...args: unknown[]) => unknown>)[name]!(...args));
    const kernel = await plan.prepareKernel(x);
    for (const name of ['convolve', 'convolveSync']) {
      expect(await call(plain, name, x, kernel, y)).toBe('direction-not-planned');
      expect(await call(plan, name, x, undefined, y)).toBe('missing-buffer');
      for (const wrong of [x, {}, 'kernel', device.alloc(128), await other.prepareKernel(new Float32Array(36))])
        expect(await call(plan, name, x, wrong, y)).toBe('wrong-kernel');
      expect(await call(plan, name, x.subarray(2), kernel, y)).toBe('wrong-length');
      expect(await call(plan, name, x, kernel, new Float64Array(32))).toBe('wrong-array-type');
    }
    expect(await call(plain, 'prepareKernel', x)).toBe('direction-not-planned');
    expect(await call(plan, 'prepareKernel', new Float32Array(31))).toBe('wrong-length');
    const memory = device.alloc(128);
    expect(await call(plan, 'enqueue', 'forward', { input: memory, output: device.alloc(128), kernel })).toBe(
      'invalid-argument',
    );
    expect(await call(plan, 'enqueue', 'convolve', { input: memory, output: device.alloc(128) })).toBe(
      'missing-buffer',
    );
    expect(await call(plan, 'enqueue', 'convolve', { input: memory, output: kernel, kernel })).toBe('aliased-buffers');
    expect([...y].every((value) => value === 7)).toBe(true);
    expect(await again.convolve(x, kernel)).toEqual(x);
    kernel.free();
    expect(await call(plan, 'convolve', x, kernel)).toBe('destroyed');
  });
});
