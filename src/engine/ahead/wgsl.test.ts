/** Transforms built ahead of time for a page's own `GPUDevice`: on SwiftShader each agrees with the reference. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { triedComplex } from '../../../test/support/complex.ts';
import { randomFor } from '../../../test/support/random.ts';
import { realProblem, triedReal } from '../../../test/support/real.ts';
import { noWebGpu, testGpuDevice } from '../../../test/support/webgpu.ts';
import type { Device, Plan, ProblemInput } from '../../index.ts';
import { openProfile } from '../../index.ts';
import type { PlannedTransform } from './transform-data.ts';
import { buildWgsl } from './wgsl.ts';

const random = randomFor('engine/ahead/wgsl');

type Call = (encoder: GPUCommandEncoder, from: unknown, to?: unknown) => void;
type Built = { readonly forward?: Call; readonly inverse?: Call; destroy(): void };
type Maker = ((device: GPUDevice) => Promise<Built>) & { readonly inputBytes: number; readonly outputBytes: number };
/** Singles, or the bits of halves. */
type Numbers = Float32Array | Uint16Array;
type Arrays = Numbers | { readonly re: Numbers; readonly im: Numbers };

async function imported(script: string): Promise<Record<string, Maker>> {
  const encoded = Buffer.from(script).toString('base64');
  return await import(/* @vite-ignore */ `data:text/javascript;base64,${encoded}`);
}

const profiled = await openProfile('webgpu-default');

async function planned(problem: ProblemInput): Promise<Plan> {
  return (await profiled.plan(problem)) as unknown as Plan;
}

function built(plans: Record<string, Plan>) {
  return buildWgsl(new Map<string, PlannedTransform>(Object.entries(plans) as never), { profile: profiled.profile });
}

describe.skipIf(noWebGpu)('a module for WebGPU built ahead of time', () => {
  let gpu: GPUDevice;
  const uncaptured: string[] = [];
  beforeAll(async () => {
    gpu = await testGpuDevice();
    gpu.addEventListener('uncapturederror', (event) =>
      uncaptured.push((event as GPUUncapturedErrorEvent).error.message),
    );
  });
  afterAll(() => {
    expect(uncaptured).toEqual([]);
    gpu?.destroy();
  });

  /** Arrays in buffers that begin somewhere else. */
  const inBuffer = (data: Numbers) => {
    const offset = 256 * random.integer(0, 2);
    // WebGPU copies whole words, of which halves may take a part.
    const words = new Uint8Array(Math.ceil(data.byteLength / 4) * 4);
    words.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const buffer = gpu.createBuffer({ size: offset + words.length, usage: 0x8c });
    gpu.queue.writeBuffer(buffer, offset, words);
    return offset === 0 ? buffer : { buffer, offset };
  };
  const sideIn = (side: Arrays) => ('re' in side ? { re: inBuffer(side.re), im: inBuffer(side.im) } : inBuffer(side));
  const readBack = async (memory: ReturnType<typeof inBuffer>, into: Numbers) => {
    const { buffer, offset = 0 } = 'buffer' in memory ? memory : { buffer: memory };
    const staging = gpu.createBuffer({ size: buffer.size, usage: 0x9 });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    gpu.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const Kind = into.constructor as Float32ArrayConstructor;
    into.set(new Kind(staging.getMappedRange().slice(0), offset, into.length));
  };

  /** A device whose plans run as modules that were built for them. */
  const aheadOfTime = {
    async plan(problem: ProblemInput) {
      const plan = await planned(problem);
      const { t } = await imported(built({ t: plan }).script);
      const transform = await t!(gpu);
      const call = (direction: 'forward' | 'inverse') => async (from: Arrays, to: Arrays | undefined) => {
        const source = sideIn(from);
        const target = to ? sideIn(to) : source;
        const encoder = gpu.createCommandEncoder();
        transform[direction]!(encoder, source, to && target);
        gpu.queue.submit([encoder.finish()]);
        const [memories, arrays] = [target, to ?? from].map((side) => ('re' in side ? [side.re, side.im] : [side])) as [
          ReturnType<typeof inBuffer>[],
          Numbers[],
        ];
        for (const [n, memory] of memories.entries()) await readBack(memory, arrays[n]!);
        transform.destroy();
      };
      const { problem: own, input, output, toJSON, destroy } = plan;
      return {
        ...{ problem: own, input, output, toJSON: toJSON.bind(plan), destroy: destroy.bind(plan) },
        ...{ forward: call('forward'), inverse: call('inverse') },
      };
    },
  } as unknown as Device;

  it.each<ProblemInput>([
    { size: [random.pick([60, 100, 128])], batches: 3 },
    { size: [16, 12], layout: 'planar', placement: 'in-place' },
    { size: [2 ** 13], directions: 'inverse' },
    { size: [127 * 2], batches: 2, normalize: true, placement: 'in-place' },
  ])('transforms %j as the reference does', async (problem) => {
    const direction = problem.directions === 'inverse' ? 'inverse' : random.pick(['forward', 'inverse'] as const);
    const { error, allowed, damage, what } = await triedComplex(aheadOfTime, problem, direction, random);
    expect(error, what).toBeLessThanOrEqual(allowed);
    expect(damage, what).toEqual([]);
  });

  it('transforms reals as the reference does', async () => {
    for (const direction of ['forward', 'inverse'] as const) {
      const problem = realProblem(random, 600, ['single']);
      const { error, allowed, damage, what } = await triedReal(aheadOfTime, problem, direction, random);
      expect(error, what).toBeLessThanOrEqual(allowed);
      expect(damage, what).toEqual([]);
    }
  });

  it('refuses what is no memory, or too little of it', async () => {
    const { t } = await imported(built({ t: await planned({ size: [16] }) }).script);
    expect([t!.inputBytes, t!.outputBytes]).toEqual([128, 128]);
    const transform = await t!(gpu);
    const encoder = gpu.createCommandEncoder();
    const buffer = gpu.createBuffer({ size: 128, usage: 0x80 });
    expect(() => transform.forward!(encoder, buffer)).toThrow('The output must be a GPUBuffer.');
    expect(() => transform.forward!(encoder, { buffer, offset: 256 }, buffer)).toThrow(RangeError);
    transform.destroy();
  });

  it('is not made of doubles', async () => {
    const plan = await planned({ size: [16], precision: 'double' });
    expect(() => built({ plan })).toThrow(/no double precision/);
  });
});
