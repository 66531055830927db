/** What only a large GPU can show: transforms of more than 4 GiB, and thousands of plans that leave nothing behind. */
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import type { Backend } from '../../src/devices/device.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import type { Random } from '../support/random.ts';
import type { Verdict } from './correctness.ts';

/** Single precision, so many bytes each way. */
const HUGE: readonly { readonly length: number; readonly batches: number }[] = [
  { length: 2 ** 30, batches: 1 },
  { length: 3 ** 18, batches: 2 },
  { length: 1000, batches: 700_001 },
  { length: 2 ** 17, batches: 5000 },
];

/** Reals that are filled and looked at together. */
const PIECE = 2 ** 22;
const BINS = 64;

/** Impulses at random places of the first and the last transform: exponentials come out, looked at in random bins. */
export async function checkHuge(device: Device, backend: Backend, random: Random): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { length, batches } of HUGE) {
    const reals = 2 * length * batches;
    const input = new DeviceMemory(backend.allocate(4 * reals), 'f32');
    const output = new DeviceMemory(backend.allocate(4 * reals), 'f32');
    const plan = await device.plan({ size: [length], batches, precision: 'single', directions: 'forward' });
    try {
      const zeros = new Float32Array(PIECE);
      for (let at = 0; at < reals; at += PIECE) {
        const part = zeros.subarray(0, Math.min(PIECE, reals - at));
        await backend.upload({ buffer: DeviceMemory.bufferOf(input)!, byteOffset: 4 * at }, part);
      }
      const batch = [...new Set([0, batches - 1])].map((number) => ({ number, place: random.integer(1, length - 1) }));
      for (const { number, place } of batch) {
        const at = 2 * (number * length + place);
        await backend.upload({ buffer: DeviceMemory.bufferOf(input)!, byteOffset: 4 * at }, Float32Array.of(1, 0));
      }
      await plan.forward(input, output);
      for (const { number, place } of batch) {
        const bins = Array.from({ length: BINS }, () => random.integer(0, length - 1));
        bins[0] = length - 1;
        const got: number[] = [];
        const expected: number[] = [];
        for (const k of bins) {
          const bin = new Float32Array(2);
          await backend.download(
            { buffer: DeviceMemory.bufferOf(output)!, byteOffset: 8 * (number * length + k) },
            bin,
          );
          got.push(...bin);
          const turn = Number((BigInt(k) * BigInt(place)) % BigInt(length)) / length;
          expected.push(Math.cos(2 * Math.PI * turn), -Math.sin(2 * Math.PI * turn));
        }
        verdicts.push({
          what: `impulse ${place} in transform ${number} of ${batches} × ${length}, ${(reals / 2 ** 28).toFixed(1)} GiB`,
          error: relativeError(got, expected),
          allowed: tolerance('single', length),
          damage: [],
        });
      }
    } finally {
      plan.destroy();
      input.free();
      output.free();
    }
  }
  return verdicts;
}

const PLANS: readonly ProblemInput[] = [
  { size: [1024] },
  { size: [2 ** 15] },
  { size: [2 ** 18] },
  { size: [64, 64], precision: 'double' },
  { size: [100000] },
];

export interface Leak {
  readonly plans: number;
  /** Bytes that the device has less, and the process more, than after the first of each. */
  readonly deviceBytes: number;
  readonly hostBytes: number;
  /** Milliseconds to make and destroy a plan. */
  readonly ms: number;
}

export async function checkLeaks(device: Device, backend: CudaBackend, plans: number): Promise<Leak> {
  const make = async (count: number) => {
    for (let n = 0; n < count; n++) (await device.plan(PLANS[n % PLANS.length]!)).destroy();
    await device.finish();
    global.gc?.();
    backend.enter();
    return { device: backend.driver.api.memoryInfo().free, host: process.memoryUsage.rss() };
  };
  const before = await make(2000);
  const started = performance.now();
  const after = await make(plans);
  return {
    plans,
    deviceBytes: before.device - after.device,
    hostBytes: after.host - before.host,
    ms: (performance.now() - started) / plans,
  };
}
