/**
 * Complex forward transforms out of place, timed by the device's own clock, beside cuFFT and a copy of as many bytes:
 * where the device is CUDA's, in its stream and on the same buffers; on WebGPU beside a copy of its own only. Each figure is the median of samples in turns, each
 * sample the mean of transforms in a row.
 */
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import type { OpenVendorFft, VendorFftPlan } from '../../src/devices/cuda/vendor-fft.ts';
import type { Backend, PeerProblem } from '../../src/devices/device.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import type { Device, Plan, PlanKernel, Precision, ProblemInput } from '../../src/index.ts';
import { realBytes } from '../../src/problem/index.ts';
import type { Timed } from './cases.ts';

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
  /** What it is compared with, and how long that takes. */
  readonly peer: string | undefined;
  readonly peerMs: number | undefined;
  /** The peer's time over ours: over 1 where ours is shorter. */
  readonly ratio: number | undefined;
}

/** Milliseconds of one of several runs in a row. */
export type Run = (repeats: number) => Promise<number>;

/** A plan of ours to time, and what beside it. */
export interface Timing {
  readonly region: string;
  readonly what: string;
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: Precision;
  readonly problem: ProblemInput;
  /** Kernels that the plan has for other things. */
  readonly otherKernels?: readonly PlanKernel['direction'][];
  /** Bytes in and out, half of both. */
  readonly bytes: number;
  /** @returns what is timed of the plan, and the peer where there is one. */
  readonly subjects: (plan: Plan) => Promise<{ readonly ours: Run; readonly theirs?: Run | undefined }>;
  readonly peer?: string | undefined;
}

export interface Effort {
  readonly samples: number;
  /** Milliseconds that a sample takes, at least. */
  readonly sampleMs: number;
}

/** Milliseconds of one of several copies of so many bytes, on the device itself. */
export type Copier = (input: DeviceMemory, output: DeviceMemory, bytes: number, repeats: number) => Promise<number>;

export class Bench {
  readonly device: Device;
  readonly backend: Backend;
  /** For the copy and for cuFFT. */
  readonly gpu: CudaBackend | undefined;
  private readonly cufft: OpenVendorFft | undefined;
  private readonly effort: Effort;
  private readonly copier: Copier | undefined;
  private readonly buffers = new Map<Backend, DeviceMemory[]>();
  /** As doubles, some are larger than others, and none is infinite. */
  private readonly noise = new Float32Array(2 ** 20).map(() => Math.random() - 0.5);
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
    cufft: OpenVendorFft | undefined,
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
    const complexBytes = 2 * realBytes(precision);
    // Of real data, as many bytes on both sides together as an average of theirs is, twice.
    const bins = (points / size[0]!) * (Math.floor(size[0]! / 2) + 1);
    const bytes = real ? ((points / 2 + bins) / 2) * complexBytes : points * complexBytes;
    const room = real ? bins * complexBytes : bytes;
    const problem = {
      ...{ size, batches, precision, directions: 'forward' },
      ...(real ? { transform: 'r2c' } : {}),
      ...(inPlace ? { placement: 'in-place' } : {}),
    } as ProblemInput;
    const peer = this.peerPlan({ size, batches, precision, real, direction: 'forward' });
    const subjects = async (plan: Plan) => {
      const [input, output] = await this.memory(room);
      const ours = (repeats: number) =>
        plan.measure('forward', { input: input!, output: inPlace ? input! : output!, repeats });
      const [a, b] = peer ? (await this.memory(room, this.gpu)).map(address) : [];
      const theirs = peer && ((repeats: number) => this.timed(repeats, () => peer.run(a!, inPlace ? a! : b!)));
      return { ours, theirs };
    };
    const what = `${real ? 'real ' : ''}${size.join('x')} × ${batches}${inPlace ? ' in place' : ''}`;
    try {
      return await this.compare({ region, what, size, batches, precision, problem, bytes, subjects, peer: 'cuFFT' });
    } finally {
      peer?.close();
    }
  }

  /** Plans a problem twice, and times what the plan is for and the peer in turns. */
  async compare(timing: Timing): Promise<Result> {
    const { region, what, size, batches, precision, problem, otherKernels = [], bytes, subjects, peer } = timing;
    const planned = async () => {
      const started = performance.now();
      const plan = await this.device.plan(problem);
      return { plan: plan as unknown as Plan, ms: performance.now() - started };
    };
    const first = await planned();
    first.plan.destroy();
    const { plan, ms: warmPlanMs } = await planned();
    try {
      const { ours, theirs } = await subjects(plan);
      const [ms, peerMs] = (await this.medians(theirs ? [ours, theirs] : [ours])) as [number, number?];
      const copyMs = await this.copyMs(bytes);
      return {
        ...{ region, what, size, batches, precision },
        kernels: plan.kernels.filter(({ direction }) => !otherKernels.includes(direction)).length,
        planMs: first.ms,
        warmPlanMs,
        ms,
        gigabytes: (2 * bytes) / ms / 1e6,
        copyFraction: copyMs && copyMs / ms,
        peer: theirs && peer,
        peerMs,
        ratio: peerMs === undefined ? undefined : peerMs / ms,
      };
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

  private async copy(bytes: number): Promise<Run | undefined> {
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
    const bytes = size.reduce((a, b) => a * b, 1) * 2 * realBytes(precision);
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

  /** cuFFT's plan; undefined where there is none. */
  peerPlan(problem: Omit<PeerProblem, 'precision'> & { readonly precision: Precision }): VendorFftPlan | undefined {
    const { precision } = problem;
    if (precision === 'double-double') return undefined;
    try {
      return this.cufft?.plan({ ...problem, precision }, this.gpu!.driver.stream);
    } catch (error) {
      console.log(`${problem.size.join('x')} × ${problem.batches}: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** So many buffers of at least so many bytes each, which had small numbers in them at first. */
  async memory(bytes: number, backend: Backend = this.backend, count = 2): Promise<DeviceMemory[]> {
    const known = this.buffers.get(backend) ?? [];
    const fitting = known.filter((memory) => memory.bytes >= bytes);
    if (fitting.length < known.length) for (const memory of known) memory.free();
    const made = fitting.length < known.length ? [] : fitting;
    while (made.length < count) {
      const memory = new DeviceMemory(backend.allocate(bytes), 'f32');
      made.push(memory);
      await this.fill(memory, bytes, backend);
    }
    this.buffers.set(backend, made);
    return made;
  }

  /** The same small numbers every time. */
  async fill(memory: DeviceMemory, bytes: number, backend: Backend): Promise<void> {
    const buffer = DeviceMemory.bufferOf(memory)!;
    for (let at = 0; at < bytes; at += this.noise.byteLength) {
      const part = this.noise.subarray(0, Math.min(this.noise.length, Math.floor((bytes - at) / 4)));
      await backend.upload({ buffer, byteOffset: at }, part);
    }
  }

  /** Milliseconds of one of several launches in the GPU's stream. */
  timed(repeats: number, launch: () => void): Promise<number> {
    const { driver } = this.gpu!;
    this.gpu!.enter();
    const submit = async (work: () => void) => {
      work();
      driver.synchronize(driver.stream);
    };
    return driver.timed(repeats, submit, launch);
  }

  private async medians(subjects: readonly Run[]): Promise<number[]> {
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

export function address(memory: DeviceMemory): bigint {
  return (DeviceMemory.bufferOf(memory) as unknown as { readonly handle: bigint }).handle;
}
