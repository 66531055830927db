/**
 * Device functions, called by kernels that a test wrote: each language's source is compiled and runs where something runs it here. CUDA's
 * runs on the processor, with threads for threads. Results agree with the reference.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referenceTransform } from '../../../test/reference/transform.ts';
import { hasLargePrimes, relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { compiler, OnProcessor } from '../../../test/support/cuda.ts';
import { asProgram, type CallerKernel, ClRunner, callerOf, tableData } from '../../../test/support/device-functions.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { triedPairs } from '../../../test/support/paired.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { openGpu, runProgram } from '../../../test/support/wgsl.ts';
import {
  type Device,
  type DeviceFunction,
  type DeviceFunctionLanguage,
  type DeviceFunctionOptions,
  type Direction,
  type FftError,
  openProfile,
  type Plan,
  type ProblemInput,
  type ProfiledDevice,
  type ProfileName,
} from '../../index.ts';

const random = randomFor('engine/ahead/device-function');

interface Wanted {
  readonly n: number;
  readonly transform: 'c2c' | 'r2c';
  readonly precision: 'single' | 'double';
  readonly direction: Direction;
}

interface Case extends Wanted {
  readonly fn: DeviceFunction;
  readonly lines: number;
  readonly groups: number;
}

const any = <T>(items: readonly T[]) => random.pick(items);
/** Every way that a line goes: one thread; even passes; radices of different sizes; Bluestein's algorithm; steps of a Rader pass. */
const LENGTHS = [
  [1, 2, 3, 4, 7, 16],
  [30, 60, 64, 96, 100, 128, 256],
  [97, 101, 143, 255, 1001],
  [4 * 137, 2 * 139],
];

function wanted(precisions: readonly Wanted['precision'][], lengths = LENGTHS): Wanted[] {
  return lengths.flatMap((some) =>
    (['c2c', 'r2c'] as const).map((transform) => {
      const direction = any(['forward', 'inverse'] as const);
      return { n: any(some), transform, direction, precision: any(precisions) };
    }),
  );
}

async function casesOf(name: ProfileName, language: DeviceFunctionLanguage, all: readonly Wanted[]): Promise<Case[]> {
  const device = await openProfile(name);
  const cases: Case[] = [];
  for (const [number, { n, transform, precision, direction }] of all.entries()) {
    const plan = await device.plan({ size: [n], transform, precision });
    const requested = { language, direction, name: `fft_${number}` };
    const most = Math.floor(device.profile.maxThreads / plan.deviceFunction(requested).threads);
    const lines = Math.min(most, any([1, 2, 3]));
    const words = language === 'wgsl' ? { lines, binding: { group: 0, binding: 2 } } : {};
    const fn = plan.deviceFunction({ ...requested, ...words });
    cases.push({ n, transform, precision, direction, fn, lines, groups: any([1, 2]) });
  }
  device.close();
  return cases;
}

/** Reals of a line on each side. */
function realsOf({ n, transform, direction }: Wanted): readonly [read: number, written: number] {
  const bins = transform === 'r2c' ? 2 * (Math.floor(n / 2) + 1) : 2 * n;
  const samples = transform === 'r2c' ? n : 2 * n;
  return direction === 'forward' ? [samples, bins] : [bins, samples];
}

function kernelOf(one: Case) {
  const [read, written] = realsOf(one);
  const { input, output } = one.fn;
  const lengths = [read / (input.holds === 'real' ? 1 : 2), written / (output.holds === 'real' ? 1 : 2)] as const;
  return callerOf(one.fn, { ...one, lengths });
}

type Run = (arrays: readonly ArrayBufferView[]) => void | Promise<void>;

/** @returns by how many times what is allowed the result is off. */
async function tried(one: Case, run: Run): Promise<number> {
  const { n, transform, precision, direction, lines, groups, fn } = one;
  const [read, written] = realsOf(one);
  const batches = lines * groups;
  const Reals = precision === 'single' ? Float32Array : Float64Array;
  const input = new Reals(uniform(random, batches * read, precision));
  const output = new Reals(batches * written).fill(Number.NaN);
  // The reference is complex: reals with zeros, half spectra with their other half.
  const whole = new Float64Array(2 * n * batches);
  for (let b = 0; b < batches; b++) {
    for (let k = 0; k < n; k++) {
      const [place, at] = [2 * (b * n + k), b * read];
      if (transform === 'c2c') for (const part of [0, 1]) whole[place + part] = input[at + 2 * k + part]!;
      else if (direction === 'forward') whole[place] = input[at + k]!;
      else {
        const mirrored = 2 * k > n;
        const bin = at + 2 * (mirrored ? n - k : k);
        if ((2 * k) % n === 0) input[bin + 1] = 0;
        whole[place] = input[bin]!;
        whole[place + 1] = mirrored ? -input[bin + 1]! : input[bin + 1]!;
      }
    }
  }
  await run([input, output, ...tableData(fn.tables)]);
  const { hi, lo } = referenceTransform({ size: [n], batches, direction }, whole);
  const reals = transform === 'r2c' && direction === 'inverse';
  const kept = (all: Float64Array) =>
    Float64Array.from({ length: batches * written }, (_, i) => {
      const [line, at] = [Math.floor(i / written), i % written];
      return all[2 * n * line + (reals ? 2 * at : at)]!;
    });
  return relativeError(output, kept(hi), kept(lo)) / tolerance(precision, n, hasLargePrimes([n]) ? 5 : 1);
}

function title({ n, transform, precision, direction, lines }: Case): string {
  return `${transform} ${n} ${precision} ${direction}, ${lines} lines in a group`;
}

const cuda = await casesOf('h200', 'cuda', wanted(['single', 'double']));
const opencl = await casesOf('h200', 'opencl', wanted(['single', 'double'], LENGTHS.slice(0, 3)));
const wgsl = await casesOf('webgpu-default', 'wgsl', wanted(['single'], LENGTHS.slice(0, 3)));

describe('a device function', () => {
  describe.runIf(compiler)('in CUDA', () => {
    let processor: OnProcessor;
    beforeAll(() => {
      processor = new OnProcessor(
        cuda.map((one) => {
          const [read, written] = realsOf(one);
          const bytes = (one.precision === 'single' ? 4 : 8) * one.lines * one.groups;
          return { program: asProgram(kernelOf(one)), sizes: [read * bytes, written * bytes] };
        }),
      );
    });
    afterAll(() => processor.remove());

    it.each(cuda.map((one, number) => ({ what: title(one), one, number })))(
      'transforms lines, $what',
      async ({ one, number }) => {
        expect(await tried(one, (arrays) => processor.run(number, arrays))).toBeLessThanOrEqual(1);
      },
    );
  });

  describe.skipIf(noOpenCl)('in OpenCL C', () => {
    let runner: ClRunner;
    beforeAll(async () => {
      runner = await ClRunner.open();
    });
    afterAll(() => runner.close());

    it.each(opencl.map((one) => ({ what: title(one), one })))('transforms lines, $what', async ({ one }) => {
      expect(await tried(one, (arrays) => runner.run(kernelOf(one), arrays))).toBeLessThanOrEqual(1);
    });
  });

  describe.skipIf(noWebGpu)('in WGSL', () => {
    let gpu: GPUDevice;
    beforeAll(async () => {
      gpu = await openGpu();
    });
    afterAll(() => gpu.destroy());

    it.each(wgsl.map((one) => ({ what: title(one), one })))('transforms lines, $what', async ({ one }) => {
      expect(await tried(one, (arrays) => runProgram(gpu, asProgram(kernelOf(one)), arrays))).toBeLessThanOrEqual(1);
    });
  });

  describe('of double-doubles', () => {
    const lines = 2;
    const wide = [
      { n: any([4, 12, 30, 64]), transform: 'c2c' },
      { n: any([16, 60, 100]), transform: 'r2c' },
      { n: any([17, 34, 45]), transform: any(['c2c', 'r2c'] as const) },
    ] as const;

    /** A device whose plans run one group of lines by their device functions. */
    const lineDevice = (language: 'cuda' | 'opencl', run: (caller: CallerKernel, arrays: ArrayBufferView[]) => void) =>
      ({
        async plan(problem: ProblemInput) {
          const plan = (await wideDevice.plan(problem)) as unknown as Plan;
          const call = (direction: Direction) => async (from: Float64Array, to: Float64Array) => {
            const fn = plan.deviceFunction({ language, direction });
            // An element is a real number, of two words.
            const lengths = [from.length / 2 / lines, to.length / 2 / lines] as const;
            run(callerOf(fn, { lengths, lines, groups: 1 }), [from, to, ...tableData(fn.tables)]);
          };
          const { problem: own, input, output } = plan;
          const calls = { forward: call('forward'), inverse: call('inverse') };
          return { problem: own, input, output, toJSON: () => plan.toJSON(), destroy: () => plan.destroy(), ...calls };
        },
      }) as unknown as Device;
    let wideDevice: ProfiledDevice;
    beforeAll(async () => {
      wideDevice = await openProfile('h200');
    });
    afterAll(() => wideDevice.close());

    const expectLines = async (device: Device, { n, transform }: (typeof wide)[number]) => {
      const problem = { size: [n], batches: lines, transform, precision: 'double-double' } as const;
      const direction = any(['forward', 'inverse'] as const);
      const { what, error, allowed, damage } = await triedPairs(device, problem, direction, random);
      expect(error, what).toBeLessThanOrEqual(allowed);
      expect(damage, what).toEqual([]);
    };

    it.skipIf(noOpenCl)('in OpenCL C transforms lines', async () => {
      const runner = await ClRunner.open();
      const device = lineDevice('opencl', (caller, arrays) => runner.run(caller, arrays));
      await expectLines(device, any(wide)).finally(() => runner.close());
    });

    it.runIf(compiler)('in CUDA transforms lines', async () => {
      const device = lineDevice('cuda', (caller, arrays) => {
        const sizes = arrays.map(({ byteLength }) => byteLength);
        const processor = new OnProcessor([{ program: asProgram(caller), sizes }]);
        processor.run(0, arrays);
        processor.remove();
      });
      for (const line of wide) await expectLines(device, line);
    });

    it('has two registers for a complex number, and hi and lo in each', async () => {
      const plan = await wideDevice.plan({ size: [64], precision: 'double-double' });
      const { threads, elementsPerThread, input, output, registers, reversible } = plan.deviceFunction({
        language: 'cuda',
      });
      expect(input).toMatchObject({ holds: 'complex', type: 'double2', registers: 2 * elementsPerThread });
      expect({ registers, reversible }).toEqual({ registers: 8 * elementsPerThread, reversible: true });
      const reals = Array.from({ length: threads }, (_, t) =>
        Array.from({ length: 2 * elementsPerThread }, (_, j) => 2 * (t + threads * (j >> 1)) + (j & 1)),
      );
      expect([input.elements, output.elements]).toEqual([reals, reals]);
      expect([input.function, output.function]).toEqual(['fft64_forward_input', 'fft64_forward_output']);
      plan.destroy();
    });
  });

  it('of 64 to 8192 points keeps equally many elements in every thread, the same ones before and after', async () => {
    const device = await openProfile('h200');
    for (const precision of ['single', 'double'] as const) {
      for (let n = 64; n <= 8192; n *= 2) {
        const plan = await device.plan({ size: [n], precision });
        const { threads, elementsPerThread, input, output, reversible } = plan.deviceFunction({ language: 'cuda' });
        expect(threads * elementsPerThread).toBe(n);
        expect(reversible).toBe(true);
        const strided = Array.from({ length: threads }, (_, t) =>
          Array.from({ length: elementsPerThread }, (_, j) => t + j * threads),
        );
        expect(input.elements).toEqual(strided);
        expect(output.elements).toEqual(strided);
        plan.destroy();
      }
    }
    device.close();
  });

  it('of reals takes bins back as the other direction leaves them', async () => {
    const device = await openProfile('h200');
    for (const n of [64, 100, any([30, 96, 512, 1000])]) {
      const plan = await device.plan({ size: [n], transform: 'r2c' });
      const [forward, inverse] = (['forward', 'inverse'] as const).map((direction) =>
        plan.deviceFunction({ language: 'hip', direction }),
      ) as [DeviceFunction, DeviceFunction];
      expect(forward.reversible && inverse.reversible).toBe(true);
      expect(forward.output.elements).toEqual(inverse.input.elements);
      const bins = forward.output.elements.flat().filter((bin) => bin >= 0);
      expect(bins.sort((a, b) => a - b)).toEqual(Array.from({ length: n / 2 + 1 }, (_, k) => k));
      plan.destroy();
    }
    device.close();
  });

  it('is refused with what would do', async () => {
    const device = await openProfile('h200');
    const cpu = await openProfile('wasm-cpu');
    const codeOf = async (problem: ProblemInput, options: object, on = device) => {
      const plan = (await on.plan(problem as { size: [8] })) as unknown as Plan;
      try {
        plan.deviceFunction(options as DeviceFunctionOptions);
        return 'none';
      } catch (error) {
        return `${(error as FftError).code}: ${(error as FftError).message}`;
      } finally {
        plan.destroy();
      }
    };
    const language = 'cuda';
    const size = [8];
    expect(await codeOf({ size }, { language })).toBe('none');
    for (const [problem, options, expected] of [
      [{ size: [8, 8] }, {}, /^unsupported-feature: .*one axis/],
      [{ size: [2 ** 17] }, {}, /^unsupported-feature: .*several launches/],
      [{ size, transform: 'dct2' }, {}, /^unsupported-feature: .*r2c/],
      [{ size, convolution: {} }, {}, /^unsupported-feature: .*without convolution/],
      [{ size, zeroPadding: { space: [{ from: 4, to: 8 }] } }, {}, /^unsupported-feature: .*zeroPadding/],
      [{ size, precision: 'double-double' }, { language: 'wgsl' }, /^unsupported-feature: .*'single'/],
      [{ size, precision: 'double' }, { language: 'wgsl' }, /^unsupported-feature: .*'single'/],
      [{ size, directions: 'forward' }, { direction: 'inverse' }, /^direction-not-planned/],
      [{ size }, { language: 'spirv' }, /^invalid-argument: .*cuda, hip, opencl, wgsl/],
      [{ size }, { name: 'two words' }, /^invalid-argument/],
      [{ size }, { lines: 0 }, /^invalid-argument/],
      [{ size }, { binding: { group: -1, binding: 0 } }, /^invalid-argument/],
      [{ size }, { lanes: 4 }, /^unknown-field/],
    ] as const) {
      expect(await codeOf(problem as ProblemInput, { language, ...options })).toMatch(expected);
    }
    expect(await codeOf({ size }, { language }, cpu)).toMatch(/^unsupported-feature: .*openProfile/);
    const plan = await device.plan({ size });
    plan.destroy();
    expect(() => plan.deviceFunction({ language })).toThrow(expect.objectContaining({ code: 'destroyed' }));
    device.close();
    cpu.close();
  });
});
