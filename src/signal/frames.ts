/**
 * Spectra of the frames of a signal, many at a time: what all short-time transforms are made of.
 *
 * Where frames need nothing done to them, the plan reads them where they lie, through strides that overlap; else each is
 * written, with its window, into one buffer that holds a block of them.
 */
import type { Device, Plan } from '../engine/index.ts';
import type { ProblemInput } from '../problem/index.ts';
import { fitTrend, type Trend } from './detrend.ts';
import type { Floats } from './floats.ts';
import { withPlan } from './plans.ts';
import { type WorkMemory, workOn } from './work.ts';

/** Frames of a line, and how they are transformed. */
export interface FrameSpec {
  /** Samples in a frame. */
  readonly size: number;
  /** Whether frames are transformed as they are: without a window, and of the precision of the plan. */
  readonly flat: boolean;
  /** Samples from frame to frame. */
  readonly hop: number;
  /** Length of the transforms: what a frame lacks of it is zeros. */
  readonly nfft: number;
  /** How many there are. */
  readonly frames: number;
  readonly trend: Trend;
  /** Whether lines are of complex numbers. */
  readonly complex: boolean;
  /** All nfft bins rather than the ⌊nfft/2⌋ + 1 from 0 on; complex lines have no others. */
  readonly twoSided: boolean;
  readonly precision: 'single' | 'double';
  /** A factor on the spectra. */
  readonly scale: number;
}

/** Numbers in one batch, at most: some 16 MiB of single-precision input and output together. */
const POINTS_AT_ONCE = 2 ** 20;

/** Bins of a spectrum. */
export function binsOf({ nfft, twoSided }: Pick<FrameSpec, 'nfft' | 'twoSided'>): number {
  return twoSided ? nfft : Math.floor(nfft / 2) + 1;
}

/** Frames of a block: rounds of nearly equal size waste least. */
export function batchesOf({ frames, nfft }: Pick<FrameSpec, 'frames' | 'nfft'>): number {
  const rounds = Math.ceil(frames / Math.max(1, Math.floor(POINTS_AT_ONCE / nfft)));
  return Math.ceil(frames / rounds);
}

/** Frames that the plan reads where they lie in a line: nothing is to be done to them. */
function areBare({ flat, size, nfft, trend, complex, twoSided }: FrameSpec): boolean {
  return flat && nfft === size && trend === false && complex === twoSided;
}

/** The plan for a block of frames. */
function frameProblem(spec: FrameSpec): ProblemInput {
  const { nfft, hop, precision, scale, twoSided } = spec;
  return {
    ...{ size: [nfft], batches: batchesOf(spec), precision, directions: 'forward', scale: { forward: scale } },
    transform: twoSided ? 'c2c' : 'r2c',
    ...(areBare(spec) ? { strides: { input: [1, 1, hop] } } : {}),
  };
}

/** Transforms blocks of frames by a plan for them; `free` it in the end. */
export class FrameTransform {
  readonly spec: FrameSpec;
  /** Of a block. */
  readonly batches: number;
  /** Of each frame. */
  readonly bins: number;
  private readonly plan: Plan;
  private readonly window: Float64Array;
  private readonly frames: WorkMemory | undefined;
  private readonly spectra: WorkMemory;
  /** Level and slope of what is taken off a frame. */
  private readonly fit = new Float64Array(2);

  /** @param window one value for each sample of a frame; 1 where the spec is flat */
  constructor(device: Device, plan: Plan, spec: FrameSpec, window: Float64Array) {
    this.spec = spec;
    this.window = window;
    this.plan = plan;
    this.batches = batchesOf(spec);
    this.bins = binsOf(spec);
    const { nfft, precision, twoSided } = spec;
    this.frames = areBare(spec) ? undefined : workOn(device, (twoSided ? 2 : 1) * nfft * this.batches, precision);
    this.spectra = workOn(device, 2 * this.bins * this.batches, precision);
  }

  /**
   * Calls `visit` for each block of a line: the spectra of `count` frames from frame `first` on, `bins` complex numbers
   * each. They are there until `visit` has ended.
   *
   * @param line at least (frames − 1) · hop + size elements; for bare frames of the precision of the plan
   */
  async each(
    line: Floats,
    visit: (spectra: Floats, first: number, count: number) => void | Promise<void>,
  ): Promise<void> {
    const { frames } = this.spec;
    for (let done = 0; done < frames; done += this.batches) {
      // The last block is as long as the others: it begins with frames that are done already.
      const first = Math.min(done, frames - this.batches);
      const spectra = await this.block(line, first);
      await visit(spectra.subarray(2 * this.bins * (done - first)), done, first + this.batches - done);
    }
  }

  /** Spectra of the frames from `first` on, as many as a block has. */
  async block(line: Floats, first: number): Promise<Floats> {
    await this.plan.forward(this.frames ? this.fill(line, first) : this.bare(line, first), this.spectra.array());
    return this.spectra.array();
  }

  free(): void {
    this.frames?.free();
    this.spectra.free();
  }

  private bare(line: Floats, first: number): Floats {
    const { hop, nfft, complex } = this.spec;
    const parts = complex ? 2 : 1;
    const start = first * hop * parts;
    return line.subarray(start, start + ((this.batches - 1) * hop + nfft) * parts);
  }

  private fill(line: Floats, first: number): Floats {
    const { hop, nfft, complex, twoSided } = this.spec;
    const target = this.frames!.array();
    const [from, to] = [complex ? 2 : 1, twoSided ? 2 : 1];
    for (let frame = 0; frame < this.batches; frame++) {
      for (let part = 0; part < from; part++) {
        this.taper(line, (first + frame) * hop * from + part, from, target, frame * nfft * to + part, to);
      }
    }
    return target;
  }

  /** One frame, or the real or imaginary parts of one: less its trend, times the window. */
  private taper(line: Floats, start: number, step: number, target: Floats, at: number, stride: number): void {
    const { window } = this;
    const { size: length, trend } = this.spec;
    fitTrend(line, { start, length, step }, trend, this.fit);
    const [level = 0, slope = 0] = this.fit;
    for (let k = 0; k < length; k++) {
      target[at + k * stride] = (line[start + k * step]! - (level + slope * k)) * window[k]!;
    }
  }
}

/**
 * Lends a transform of frames whose plan is kept for the next call.
 * @throws FftError (as a rejection) those of `device.plan`, `out-of-memory`, and what `use` throws
 */
export async function withFrames<T>(
  device: Device,
  spec: FrameSpec,
  window: Float64Array,
  use: (transform: FrameTransform) => Promise<T>,
): Promise<T> {
  return withPlan(device, frameProblem(spec), async (plan) => {
    const transform = new FrameTransform(device, plan, spec, window);
    try {
      return await use(transform);
    } finally {
      transform.free();
    }
  });
}
