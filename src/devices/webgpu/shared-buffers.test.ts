/** Arrays of several types in one `GPUBuffer`, or in lists of them: offsets count numbers of each array's own type. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { fromHalf, toHalf } from '../../../test/support/halves.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { triedReal } from '../../../test/support/real.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { noWebGpu, openWebGpu, testGpuDevice } from '../../../test/support/webgpu.ts';
import { type Device, openDevice, type ProblemInput } from '../../index.ts';

const random = randomFor('devices/webgpu/shared-buffers');
const USAGE = 0x80 | 0x4 | 0x8;
/** The contents of gaps between arrays. */
const GAP = 0x3a5b;

describe.skipIf(noWebGpu)('arrays in one GPUBuffer', { timeout: 120_000 }, () => {
  let gpu: GPUDevice;
  let device: Device;
  beforeAll(async () => {
    gpu = await testGpuDevice();
    device = await openDevice('webgpu', { device: gpu });
  });
  afterAll(() => {
    device?.close();
    gpu?.destroy();
  });

  const filled = (words: Uint16Array) => {
    const buffer = gpu.createBuffer({ size: words.byteLength, usage: USAGE });
    gpu.queue.writeBuffer(buffer, 0, words as Uint16Array<ArrayBuffer>);
    return buffer;
  };
  const read = async (buffer: GPUBuffer) => {
    const staging = gpu.createBuffer({ size: buffer.size, usage: 0x9 });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    gpu.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const words = new Uint16Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return words;
  };

  it.each<ProblemInput>([
    { precision: 'half', size: [1, 16384] },
    { precision: 'half', edgeStorage: 'single', size: [1, 16384] },
    { storage: 'single', edgeStorage: 'half', size: [1, 16384] },
  ])('temps of a plan: %j', async (input) => {
    const own = await openWebGpu();
    const problem: ProblemInput = { ...input, transform: 'r2c', directions: 'inverse' };
    const { error, allowed, what } = await triedReal(own, problem, 'inverse', random);
    expect(error, what).toBeLessThanOrEqual(allowed);
    own.close();
  });

  it.each([
    { size: [64], offsets: [3, 133], cut: false },
    { size: [64], offsets: [134, 2], cut: false },
    { size: [64], offsets: [3, 133], cut: true },
    // Not in pairs: an array begins in the middle of a word.
    { size: [15], layout: 'planar', offsets: [3, 20], cut: false },
  ] as const)('input and output of the user in halves: %j', async ({ size, offsets, cut, ...more }) => {
    const plan = await device.plan({ ...more, size: [...size], precision: 'half', directions: 'forward' });
    const [points, planar] = [size[0], 'layout' in more];
    const parts = planar ? 1 : 2;
    const x = Float64Array.from(uniform(random, 2 * points), (value) => fromHalf(toHalf(value)));
    const words = 2 * Math.ceil((parts * (Math.max(...offsets) + points + 9)) / 2);
    const planes = (planar ? [0, 1] : [0]).map((plane) => {
      const memory = new Uint16Array(words).fill(GAP);
      const own = planar ? x.filter((_, n) => n % 2 === plane) : x;
      memory.set(Uint16Array.from(own, toHalf), parts * offsets[0]);
      return memory;
    });
    const at = cut ? 4 * Math.floor(words / 8) : words;
    const buffers = planes.map((memory) => (cut ? [memory.slice(0, at), memory.slice(at)] : [memory]).map(filled));
    const given = planar ? { re: buffers[0], im: buffers[1] } : buffers[0];
    const [input, output] = offsets;
    await plan.enqueue('forward', { input: given, output: given, offsets: { input, output } } as never);
    const after = await Promise.all(
      buffers.map(async (list) => (await Promise.all(list.map(read))).flatMap((part) => [...part])),
    );
    const result = Float64Array.from(x, (_, n) => {
      const [plane, place] = planar ? [n % 2, n >> 1] : [0, n];
      return fromHalf(after[plane]![parts * output + place]!);
    });
    const { hi, lo } = expectedOf(plan.problem, 'forward', x);
    expect(relativeError(result, hi, lo)).toBeLessThanOrEqual(tolerance('half', points));
    after.forEach((memory, plane) => {
      const written = (n: number) => n >= parts * output && n < parts * (output + points);
      expect(memory.filter((_, n) => !written(n))).toEqual([...planes[plane]!].filter((_, n) => !written(n)));
    });
    plan.destroy();
  });
});
