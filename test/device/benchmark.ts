/**
 * Complex forward transforms out of place, timed by the device's own clock, beside cuFFT and a copy of as many bytes:
 * where the device is CUDA's, in its stream and on the same buffers; on WebGPU beside a copy of its own only. Each figure is the median of samples in turns, each
 * sample the mean of transforms in a row.
 */
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import type { Cufft } from '../../src/devices/cuda/cufft.ts';
import type { Backend } from '../../src/devices/device.ts';
import { DeviceMemory } from '../../src/engine/memory.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { Timed } from './cases.ts';

type Precision = 'single' | 'double';

export interface Result {
  readonly region: string;
  readonly what: string;
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: Precision;
  readonly kernels: number;
  readonly planMs: number;
  /** The same problem planned once more, when its plan was destroyed. */
  readonly warmPlanMs: number;
  readonly ms: number;
  /** Bytes in plus bytes out, in 10⁹ a second. */
  readonly gigabytes: number;
  /** Undefined where there is nothing to copy with. */
  readonly copyFraction: number | undefined;
  readonly cufftMs: number | undefined;
  /** cuFFT's time over ours: over 1 where omnifft is faster. */
  readonly ratio: number | undefined;
}

export interface Effort {
  readonly samples: number;
  /** Milliseconds that a sample takes, at least. */
  readonly sampleMs: number;
}

/** Milliseconds of one of several copies of so many bytes, on the device itself. */
export type Copier = (input: DeviceMemory, output: DeviceMemory, bytes: number, repeats: number) => Promise<number>;

export class Bench {
  private readonly device: Device;
  private readonly backend: Backend;
  /** For the copy and for cuFFT. */
  private readonly gpu: CudaBackend | undefined;
  private readonly cufft: Cufft | undefined;
  private readonly effort: Effort;
  private readonly copier: Copier | undefined;
  private readonly buffers = new Map<Backend, DeviceMemory[]>();
  /** Milliseconds to copy so many bytes. */
  private readonly copies = new Map<number, number>();

  /**
   * @param gpu a device of CUDA, this one or another on the same GPU.
   * @param cufft where there is both.
   * @param copier instead of CUDA's copy.
   */
  constructor(
    device: Device,
    backend: Backend,
    gpu: CudaBackend | undefined,
    effort: Effort,
    cufft: Cufft | undefined,
    copier?: Copier,
  ) {
    this.device = device;
    this.backend = backend;
    this.gpu = gpu;
    this.effort = effort;
    this.copier = copier;
    this.cufft = gpu && cufft;
  }

  get peer(): string {
    return this.cufft ? `cuFFT ${this.cufft.version}` : 'no cuFFT';
  }

  async time({ region, size, batches, real = false, inPlace = false }: Timed, precision: Precision): Promise<Result> {
    const points = size.reduce((a, b) => a * b, 1) * batches;
    const complexBytes = precision === 'single' ? 8 : 16;
    // Of real data, as many bytes on both sides together as an average of theirs is, twice.
    const bins = (points / size[0]!) * (Math.floor(size[0]! / 2) + 1);
    const bytes = real ? ((points / 2 + bins) / 2) * complexBytes : points * complexBytes;
    const room = real ? bins * complexBytes : bytes;
    const [input, output] = await this.memory(room);
    const planned = async () => {
      const started = performance.now();
      const plan = await this.device.plan({
        ...{ size, batches, precision, directions: 'forward' },
        ...(real ? { transform: 'r2c' } : {}),
        ...(inPlace ? { placement: 'in-place' } : {}),
      } as ProblemInput);
      return { plan, ms: performance.now() - started };
    };
    const first = await planned();
    first.plan.destroy();
    const { plan, ms: warmPlanMs } = await planned();
    const planMs = first.ms;
    try {
      const peer = this.peerPlan(size, batches, precision, real);
      const ours = (repeats: number) =>
        plan.measure('forward', { input: input!, output: inPlace ? input! : output!, repeats });
      const [a, b] = peer ? (await this.memory(room, this.gpu)).map(address) : [];
      const theirs = peer && (async (repeats: number) => this.timed(repeats, () => peer.run(a!, inPlace ? a! : b!)));
      try {
        const medians = await this.medians(theirs ? [ours, theirs] : [ours]);
        const ms = medians[0]!;
        const cufftMs = medians[1];
        const copyMs = await this.copyMs(bytes);
        return {
          region,
          what: `${real ? 'real ' : ''}${size.join('x')} × ${batches}${inPlace ? ' in place' : ''}`,
          size,
          batches,
          precision,
          kernels: plan.kernels.length,
          planMs,
          warmPlanMs,
          ms,
          gigabytes: (2 * bytes) / ms / 1e6,
          copyFraction: copyMs && copyMs / ms,
          cufftMs,
          ratio: cufftMs === undefined ? undefined : cufftMs / ms,
        };
      } finally {
        peer?.close();
      }
    } finally {
      plan.destroy();
    }
  }

  /** Milliseconds of a device-to-device copy, which reads and writes as many bytes as an ideal transform. */
  async copyMs(bytes: number): Promise<number | undefined> {
    const known = this.copies.get(bytes);
    const copy = known === undefined ? await this.copy(bytes) : undefined;
    if (!copy) return known;
    const [ms] = await this.medians([copy]);
    this.copies.set(bytes, ms!);
    return ms;
  }

  private async copy(bytes: number): Promise<((repeats: number) => Promise<number>) | undefined> {
    const { copier, gpu } = this;
    if (copier) {
      const [input, output] = await this.memory(bytes);
      return (repeats) => copier(input!, output!, bytes, repeats);
    }
    if (!gpu) return undefined;
    const [input, output] = (await this.memory(bytes, gpu)).map(address);
    const { api, stream } = gpu.driver;
    return (repeats) => this.timed(repeats, () => api.call('MemcpyDtoDAsync', output!, input!, bytes, stream));
  }

  /** Microseconds from the call to its result in device memory, one call at a time. */
  async latency(size: readonly number[], precision: Precision): Promise<{ us: number; deviceUs: number }> {
    const bytes = size.reduce((a, b) => a * b, 1) * (precision === 'single' ? 8 : 16);
    const [input, output] = await this.memory(bytes);
    const plan = await this.device.plan({ size, precision, directions: 'forward' });
    try {
      const deviceUs = 1000 * (await plan.measure('forward', { input: input!, output: output!, repeats: 200 }));
      const samples: number[] = [];
      for (let n = 0; n < 200; n++) {
        const started = performance.now();
        await plan.forward(input!, output!);
        samples.push(1000 * (performance.now() - started));
      }
      return { us: median(samples.slice(50)), deviceUs };
    } finally {
      plan.destroy();
    }
  }

  close(): void {
    for (const memory of [...this.buffers.values()].flat()) memory.free();
    this.buffers.clear();
  }

  private peerPlan(size: readonly number[], batches: number, precision: Precision, real: boolean) {
    try {
      return this.cufft?.plan({ size, batches, precision, direction: 'forward', real }, this.gpu!.driver.stream);
    } catch (error) {
      console.log(`${size.join('x')} × ${batches}: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Two buffers of at least so many bytes, full of small numbers. */
  private async memory(bytes: number, backend: Backend = this.backend): Promise<DeviceMemory[]> {
    const known = this.buffers.get(backend);
    if (known && known[0]!.bytes >= bytes) return known;
    for (const memory of known ?? []) memory.free();
    const noise = new Float32Array(2 ** 20).map(() => Math.random() - 0.5);
    const made = [0, 1].map(() => new DeviceMemory(backend.allocate(bytes), 'f32'));
    this.buffers.set(backend, made);
    for (const memory of made) {
      const buffer = DeviceMemory.bufferOf(memory)!;
      for (let at = 0; at < bytes; at += noise.byteLength) {
        const part = noise.subarray(0, Math.min(noise.length, Math.floor((bytes - at) / 4)));
        await backend.upload({ buffer, byteOffset: at }, part);
      }
    }
    return made;
  }

  /** Milliseconds of one of several launches in the GPU's stream. */
  private timed(repeats: number, launch: () => void): Promise<number> {
    const { driver } = this.gpu!;
    this.gpu!.enter();
    const submit = async (work: () => void) => {
      work();
      driver.synchronize(driver.stream);
    };
    return driver.timed(repeats, submit, launch);
  }

  private async medians(subjects: readonly ((repeats: number) => Promise<number>)[]): Promise<number[]> {
    const repeats: number[] = [];
    for (const subject of subjects) {
      await subject(1);
      repeats.push(Math.max(1, Math.ceil(this.effort.sampleMs / (await subject(2)))));
    }
    const samples = subjects.map((): number[] => []);
    for (let round = 0; round < this.effort.samples; round++) {
      for (const [n, subject] of subjects.entries()) samples[n]!.push(await subject(repeats[n]!));
    }
    return samples.map(median);
  }
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function address(memory: DeviceMemory): bigint {
  return (DeviceMemory.bufferOf(memory) as unknown as { readonly handle: bigint }).handle;
}
