/**
 * What WebGPU is timed on and beside: its own regions, a copy by a WGSL kernel on the same device, and the libraries
 * that pages would transform with instead, in this process and on the same adapter.
 */
import { fill, sample } from '../../bench/data.ts';
import { jax } from '../../bench/peers/jax.ts';
import { tfjs } from '../../bench/peers/tfjs.ts';
import { provideWebGpu } from '../../bench/peers/webgpuGlobals.ts';
import type { Subject } from '../../bench/subject.ts';
import type { Backend } from '../../src/devices/device.ts';
import type { WebGpuBuffer } from '../../src/devices/webgpu/memory.ts';
import { milliseconds } from '../../src/devices/webgpu/timing.ts';
import type { GpuWork } from '../../src/devices/webgpu/work.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import type { Device } from '../../src/index.ts';
import { randomFrom, seedFor } from '../support/random.ts';
import type { Copier, Effort } from './benchmark.ts';
import type { Timed } from './cases.ts';

/** Complex transforms to time. One upload is what fits into the memory of a workgroup. */
export function webGpuCases({ sharedBytes }: Backend['profile'], bytes: number): Timed[] {
  const elementBytes = 8;
  const edge = sharedBytes / elementBytes;
  const at = (region: string, size: readonly number[]): Timed => {
    const points = size.reduce((a, b) => a * b, 1);
    return { region, size, batches: Math.max(1, Math.floor(bytes / elementBytes / points)) };
  };
  const powers = Array.from({ length: 24 }, (_, k) => 2 ** (k + 1));
  const smooth = [3, 5, 7, 9, 15, 60, 100, 125, 243, 1000, 1080, 3072, 3125, 6000, 10000, 100000, 1000000];
  return [
    ...powers.map((n) => at(n <= edge ? 'pow2' : 'larger', [n])),
    ...smooth.map((n) => at(n <= edge ? 'smooth' : 'larger', [n])),
    at('1024x1024', [1024, 1024]),
  ].filter(({ size }) => size.reduce((a, b) => a * b, 1) * elementBytes <= 4 * bytes);
}

const GROUP = 256;
/** A row of groups; every limit allows as many. */
const ROW = 32768;
/** How many `vec4<f32>` a thread may copy. */
export const COPY_WAYS = [1, 2, 4];

/** Copies in whole `vec4<f32>`, in each of several ways: the fastest counts. */
export async function webGpuCopier(backend: Backend, ways: readonly number[] = COPY_WAYS): Promise<Copier> {
  const work = workOf(backend);
  const { gpu } = work;
  const pipelines = await Promise.all(
    ways.map((count) =>
      gpu.createComputePipelineAsync({
        layout: 'auto',
        compute: { module: gpu.createShaderModule({ code: copySource(count) }) },
      }),
    ),
  );
  return async (input, output, bytes, repeats) => {
    let best = Number.POSITIVE_INFINITY;
    for (const [n, pipeline] of pipelines.entries()) {
      const groups = pairs(input, output, bytes).map((entries) => ({
        size: entries[0]!.resource.size,
        group: gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }),
      }));
      const ms = await milliseconds(work, repeats, (pass) => {
        pass.setPipeline(pipeline);
        for (const { size, group } of groups) {
          const count = Math.ceil(size / (16 * GROUP * ways[n]!));
          pass.setBindGroup(0, group);
          pass.dispatchWorkgroups(Math.min(count, ROW), Math.ceil(count / ROW));
        }
      });
      best = Math.min(best, ms);
    }
    return best;
  };
}

function copySource(count: number): string {
  const one = (n: number) =>
    `  if (at + ${n * GROUP}u < arrayLength(&b)) { b[at + ${n * GROUP}u] = a[at + ${n * GROUP}u]; }`;
  return `@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> b: array<vec4<f32>>;
@compute @workgroup_size(${GROUP}) fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = (group.y * ${ROW}u + group.x) * ${GROUP * count}u + lane;
${Array.from({ length: count }, (_, n) => one(n)).join('\n')}
}`;
}

/** Both sides are made of equal pieces, as they were allocated alike. */
function pairs(input: DeviceMemory, output: DeviceMemory, bytes: number) {
  const ranges = [input, output].map((memory) => (DeviceMemory.bufferOf(memory) as WebGpuBuffer).ranges(0, bytes));
  return ranges[0]!.map((_, n) =>
    ranges.map((side, binding) => {
      const { gpu: buffer, start: offset, end } = side[n]!;
      return { binding, resource: { buffer, offset, size: end - offset } };
    }),
  );
}

export interface PeerResult {
  readonly name: string;
  /** Microseconds of one transform of the whole batch, by the clock around many. */
  readonly us: number;
  /** Relative error in the L2 norm over the bins that were looked at. */
  readonly error: number;
}

const LENGTH = 1024;
const LOOKED_AT = 16;
const SEED = seedFor('device/webgpu/peers');

/** 2¹⁰ points by omnifft and by its peers: enqueue many, wait once. */
export async function besidePeers(
  device: Device,
  backend: Backend,
  batches: number,
  { samples, sampleMs }: Effort,
): Promise<{ results: PeerResult[]; failures: string[] }> {
  const workload = { size: [LENGTH], batches, precision: 'single' } as const;
  const random = randomFrom(SEED);
  const bins = Array.from({ length: LOOKED_AT }, () => random.integer(0, LENGTH * batches - 1));
  const expected = bins.flatMap(bin);
  const results: PeerResult[] = [];
  const failures: string[] = [];
  const time = async (make: () => Promise<Subject>) => {
    const subject = await make();
    try {
      await subject.load(SEED);
      const got = await subject.bins(bins);
      await subject.time(1);
      const calls = Math.min(1000, Math.ceil((1000 * sampleMs) / (await subject.time(2))));
      const all: number[] = [];
      for (let n = 0; n < samples; n++) all.push(await subject.time(calls));
      const us = all.sort((a, b) => a - b)[Math.floor(samples / 2)]!;
      results.push({ name: subject.name, us, error: relative(got, expected) });
    } finally {
      await subject.close();
    }
  };
  for (const way of ['one submit', 'calls'] as const) await time(() => ours(device, backend, batches, way));
  const takeAway = await provideWebGpu();
  try {
    for (const [name, peer] of Object.entries({ tfjs, jax })) {
      await time(() => peer(workload)).catch((error) => failures.push(`${name}: ${(error as Error).message}`));
    }
  } finally {
    takeAway();
  }
  return { results, failures };
}

/** Everything in one encoder of the caller's, or call by call; always between memory of the device. */
async function ours(device: Device, backend: Backend, batches: number, way: 'one submit' | 'calls'): Promise<Subject> {
  const { gpu } = workOf(backend);
  const plan = await device.plan({ size: [LENGTH], batches, precision: 'single', directions: 'forward' });
  const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
  const count = LENGTH * batches;
  return {
    name: `omnifft, ${way}`,
    async load(seed) {
      const data = new Float32Array(2 * count);
      fill(data, seed);
      await backend.upload({ buffer: DeviceMemory.bufferOf(input)!, byteOffset: 0 }, data);
    },
    async bins(indices) {
      const data = await plan.forward(input, new Float32Array(2 * count));
      return Float64Array.from(indices.flatMap((k) => [data[2 * k]!, data[2 * k + 1]!]));
    },
    async time(calls) {
      await device.finish();
      const start = performance.now();
      if (way === 'calls') {
        const each = Array.from({ length: calls }, () => plan.forward(input, output));
        await Promise.all(each);
      } else {
        const encoder = gpu.createCommandEncoder();
        const each = Array.from({ length: calls }, () => plan.enqueue('forward', { input, output, encoder }));
        gpu.queue.submit([encoder.finish()]);
        await Promise.all([...each, gpu.queue.onSubmittedWorkDone()]);
      }
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {
      plan.destroy();
      input.free();
      output.free();
    },
  };
}

/** One bin of the spectrum, summed as the definition says. */
function bin(index: number): [re: number, im: number] {
  const k = index % LENGTH;
  let [re, im] = [0, 0];
  for (let j = 0; j < LENGTH; j++) {
    const at = 2 * (index - k + j);
    const [x, y] = [Math.fround(sample(SEED, at)), Math.fround(sample(SEED, at + 1))];
    const angle = (-2 * Math.PI * ((j * k) % LENGTH)) / LENGTH;
    re += x * Math.cos(angle) - y * Math.sin(angle);
    im += x * Math.sin(angle) + y * Math.cos(angle);
  }
  return [re, im];
}

function relative(got: Float64Array, expected: readonly number[]): number {
  const off = expected.map((value, n) => got[n]! - value);
  return Math.hypot(...off) / Math.hypot(...expected);
}

/** The device that a backend computes on, and what is under way there. */
function workOf(backend: Backend): GpuWork {
  return (backend as unknown as { readonly work: GpuWork }).work;
}
