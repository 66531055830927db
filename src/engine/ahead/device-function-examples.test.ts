/** The kernels of docs/device-functions.md, with the functions that they call: each is compiled, and runs where something runs it here. */
import { describe, expect, it } from 'vitest';
import { referenceTransform } from '../../../test/reference/transform.ts';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { compiler, OnProcessor } from '../../../test/support/cuda.ts';
import {
  asProgram,
  type CallerKernel,
  ClRunner,
  documentedFunctions,
  documentedKernels,
  tableData,
} from '../../../test/support/device-functions.ts';
import { compile, findNvcc } from '../../../test/support/nvcc.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { openGpu, runProgram } from '../../../test/support/wgsl.ts';
import type { DeviceFunction } from '../../index.ts';

const random = randomFor('engine/ahead/device-function-examples');
interface Example {
  readonly kernel: CallerKernel;
  /** Arguments, the result behind what is read, and before tables. */
  readonly arrays: readonly (Float32Array | Float64Array | Uint32Array)[];
  readonly result: Float32Array;
  /** What the result should be. */
  readonly expected: Float64Array;
  /** Points of a transform, and how many transforms there are one after the other. */
  readonly points: number;
  readonly transforms: number;
}

const GROUPS = 2;

function parts(name: string, functions: Record<string, DeviceFunction>, names: readonly string[], code: string) {
  const [fn] = names.map((own) => functions[own]!) as [DeviceFunction];
  const source = [...names.map((own) => functions[own]!.source), code].join('\n');
  const tables = names.flatMap((own) => tableData(functions[own]!.tables)) as Float32Array[];
  return { fn, tables, kernel: { language: fn.language, entry: name, source, groups: GROUPS } };
}

function convolve(functions: Record<string, DeviceFunction>, code: string, lines: number): Example {
  const { fn, tables, kernel } = parts('convolve', functions, ['fft', 'ifft'], code);
  const batches = lines * GROUPS;
  const signal = new Float32Array(uniform(random, 512 * batches, 'single'));
  const factors = new Float32Array(uniform(random, 512, 'single'));
  const bins = referenceTransform({ size: [256], batches }, signal).hi;
  const products = Float64Array.from(bins, (_, i) => {
    const [k, re, im] = [(i % 512) & ~1, bins[i & ~1]!, bins[i | 1]!];
    return i % 2 ? re * factors[k + 1]! + im * factors[k]! : re * factors[k]! - im * factors[k + 1]!;
  });
  const result = new Float32Array(signal.length).fill(Number.NaN);
  const { hi: expected } = referenceTransform({ size: [256], batches, direction: 'inverse', scale: 2 ** -8 }, products);
  return {
    kernel: { ...kernel, threads: lines * fn.threads, written: [false, false, true, ...tables.map(() => false)] },
    arrays: [signal, factors, result, ...tables],
    ...{ result, expected, points: 256, transforms: 2 },
  };
}

function smooth(functions: Record<string, DeviceFunction>, code: string): Example {
  const { fn, kernel } = parts('smooth', functions, ['rfft', 'irfft'], code);
  const samples = new Float32Array(uniform(random, 512 * GROUPS, 'single'));
  const weights = new Float32Array(uniform(random, 257, 'single'));
  const whole = Float64Array.from({ length: 1024 * GROUPS }, (_, i) => (i % 2 ? 0 : samples[i >> 1]!));
  const bins = referenceTransform({ size: [512], batches: GROUPS }, whole).hi;
  const weighted = bins.map((value, i) => value * weights[Math.min((i >> 1) % 512, 512 - ((i >> 1) % 512))]!);
  const back = referenceTransform({ size: [512], batches: GROUPS, direction: 'inverse', scale: 2 ** -9 }, weighted).hi;
  const result = new Float32Array(samples.length).fill(Number.NaN);
  return {
    kernel: { ...kernel, threads: fn.threads, written: [false, false, true] },
    arrays: [samples, weights, result],
    ...{ result, expected: back.filter((_, i) => i % 2 === 0), points: 512, transforms: 2 },
  };
}

function spectra(functions: Record<string, DeviceFunction>, code: string): Example {
  const { kernel } = parts('spectra', functions, ['fft8'], code);
  const batches = 64 * GROUPS;
  const signal = new Float32Array(uniform(random, 16 * batches, 'single'));
  const bins = referenceTransform({ size: [8], batches }, signal).hi;
  const result = new Float32Array(8 * batches).fill(Number.NaN);
  return {
    kernel: { ...kernel, threads: 64, written: [false, true] },
    arrays: [signal, result],
    ...{ result, expected: Float64Array.from(result, (_, i) => bins[2 * i]! ** 2 + bins[2 * i + 1]! ** 2) },
    ...{ points: 8, transforms: 2 },
  };
}

async function inCuda(): Promise<Example[]> {
  const functions = await documentedFunctions('cuda');
  const [first, second, third] = documentedKernels('cuda') as [string, string, string];
  return [convolve(functions, first, 8), smooth(functions, second), spectra(functions, third)];
}

function expectRight({ result, expected, points, transforms }: Example): void {
  // Each of the transforms may be off by what is allowed, and the products by a rounding.
  expect(relativeError(result, expected)).toBeLessThanOrEqual((transforms + 1) * tolerance('single', points));
}

const nvcc = findNvcc();

describe('the kernels of docs/device-functions.md', () => {
  it.runIf(compiler)('compute what they say in CUDA, on the processor', async () => {
    const examples = await inCuda();
    const processor = new OnProcessor(
      examples.map(({ kernel, arrays }) => ({
        program: asProgram(kernel),
        sizes: arrays.map(({ byteLength }) => byteLength),
      })),
    );
    for (const [number, example] of examples.entries()) {
      processor.run(number, example.arrays);
      expectRight(example);
    }
    processor.remove();
  });

  it.runIf(nvcc)("are taken by NVIDIA's compiler, together in one file", async () => {
    // Several functions stand in one text: each example brings those that it calls.
    const sources = (await inCuda()).map(({ kernel }) => kernel.source);
    expect(compile(nvcc!, sources.join('\n'))).toBe('');
  });

  it.skipIf(noOpenCl)('compute what they say in OpenCL C', async () => {
    const example = convolve(await documentedFunctions('opencl'), documentedKernels('opencl')[0]!, 1);
    const runner = await ClRunner.open();
    runner.run(example.kernel, example.arrays);
    runner.close();
    expectRight(example);
  });

  it.skipIf(noWebGpu)('compute what they say in WGSL', async () => {
    const example = convolve(await documentedFunctions('wgsl'), documentedKernels('wgsl')[0]!, 1);
    const gpu = await openGpu();
    await runProgram(gpu, asProgram(example.kernel), example.arrays);
    gpu.destroy();
    expectRight(example);
  });
});
