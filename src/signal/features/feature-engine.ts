/**
 * The engine of all mel features, which computes a block of frames in two launches. The first is a plan that reads frames where they lie in the
 * signal, applies the window while it reads, and writes powers with a row for each bin; the second is a program of patterns, in which each band sums
 * the few bins that it covers.
 */
import type { CompiledProgram } from '../../engine/compiling/compiled-program.ts';
import type { Device, Plan } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/array.ts';
import { PlanCache } from '../../numpy/plans.ts';
import { FftError } from '../../problem/errors.ts';
import type { Callback, Callbacks, ProblemInput } from '../../problem/index.ts';
import type { FloatPrecision, Floats } from '../arguments/floats.ts';
import { unfilledOn, type WorkMemory } from '../calls/work.ts';
import { fillMeans, windowOf } from './feature-frames.ts';
import { melProgram } from './feature-levels.ts';
import { type FeatureSpec, keyOf } from './feature-presets.ts';
import { warpedFrequency } from './kaldi.ts';
import { melBank } from './mel.ts';

/** The parameters of an engine. */
export interface EngineRequest {
  readonly spec: FeatureSpec;
  /** Number of frames in a block. */
  readonly frames: number;
  readonly precision: FloatPrecision;
  /** Whether steps that refer to the largest value also run on the device, because the block is the whole signal. */
  readonly isWhole: boolean;
}

/** The powers between the two launches, in memory of the device. */
type Spectra = { readonly memory: object; free(): void };

export class FeatureEngine {
  readonly spec: FeatureSpec;
  /** Number of frames in a block. */
  readonly frames: number;
  /** Samples of a block, and one sample before. */
  readonly reach: number;
  private readonly plan: Plan;
  private readonly program: CompiledProgram;
  private readonly samples: WorkMemory;
  private readonly spectra: Spectra;
  private readonly arrays: { readonly [name: string]: Floats };
  private readonly means: Floats | undefined;
  private last: Promise<unknown> = Promise.resolve();

  static async of(device: Device, request: EngineRequest): Promise<FeatureEngine> {
    const { plan, program } = await engineParts(device, request);
    try {
      return new FeatureEngine(device, request, plan, program);
    } catch (error) {
      plan.destroy();
      program.destroy();
      throw error;
    }
  }

  private constructor(
    device: Device,
    { spec, frames, precision }: EngineRequest,
    plan: Plan,
    program: CompiledProgram,
  ) {
    this.spec = spec;
    this.frames = frames;
    this.plan = plan;
    this.program = program;
    this.reach = 1 + reachOf(spec, frames);
    this.samples = unfilledOn(device, this.reach, precision);
    const bytes = precision === 'single' ? 4 : 8;
    const memory = device.alloc(binsOf(spec) * frames * bytes, precision);
    this.spectra = { memory, free: () => memory.free() };
    const isSingle = precision === 'single';
    this.arrays = windowArrays(spec, (values) => (isSingle ? Float32Array.from(values) : values));
    this.means = spec.removeDcOffset ? floatZeros(frames, isSingle) : undefined;
  }

  /**
   * Computes the features of a block.
   * @param fill writes the block's samples, beginning with the sample before the first frame
   * @param output nMels rows with a value for each frame; for whole signals in the order of the spec
   */
  block(fill: (target: Floats) => void, output: unknown): Promise<void> {
    const run = async () => {
      const samples = this.samples.array();
      fill(samples);
      const { means, plan, program } = this;
      if (means) fillMeans(means, samples.subarray(1), this.spec);
      const own = {
        ...this.arrays,
        ...(means ? { means } : {}),
        ...('before' in this.arrays ? { samples: samples.subarray(0, this.reach - 1) } : {}),
      };
      const spectra = this.spectra.memory as Floats;
      // Calls run one after another, because they share the memory between the launches.
      const ready = plan.forward(samples.subarray(1) as never, spectra as never, { arrays: own } as never);
      await Promise.all([ready, program.run({ spectra } as never, output as never)]);
    };
    const done = this.last.then(run, run);
    this.last = done;
    return done;
  }

  destroy(): void {
    this.plan.destroy();
    this.program.destroy();
    this.samples.free();
    this.spectra.free();
  }
}

/** The two launches of an engine. @throws FftError (as a rejection) the errors of `device.plan` and `device.compile` */
export async function engineParts(
  device: Device,
  request: EngineRequest,
): Promise<{ readonly plan: Plan; readonly program: CompiledProgram }> {
  const { spec, frames, precision, isWhole } = request;
  const plan = (await device.plan(frameProblem(request))) as Plan;
  try {
    const { vtln, fMin, fMax = spec.fs / 2 } = spec;
    const warped = vtln ? (frequency: number) => warpedFrequency(frequency, vtln, fMin, fMax) : undefined;
    const bank = melBank(bankOptions(spec), spec.isOwnBank, warped);
    const text = await melProgram(spec, bank, frames, isWhole);
    return { plan, program: (await device.compile(text, { precision })) as unknown as CompiledProgram };
  } catch (error) {
    plan.destroy();
    throw error;
  }
}

export function binsOf({ nFft }: FeatureSpec): number {
  return Math.floor(nFft / 2) + 1;
}

/** The number of samples from the first to the last of `frames` frames. */
export function reachOf({ hopLength, nFft }: FeatureSpec, frames: number): number {
  return (frames - 1) * hopLength + nFft;
}

function bankOptions({ fs, nFft, nMels, fMin, fMax, melScale, norm }: FeatureSpec) {
  return { fs, nFft, nMels, fMin, fMax, melScale, norm } as const;
}

function isEmphasised({ preemphasis, removeDcOffset }: FeatureSpec): boolean {
  return preemphasis !== 0 || removeDcOffset;
}

/** Arrays of the callbacks: the window, and the window's factor of the sample before (pre-emphasis). */
export function windowArrays(
  spec: FeatureSpec,
  stored: (values: Float64Array) => Floats,
): { readonly [name: string]: Floats } {
  const window = windowOf(spec);
  if (!isEmphasised(spec)) return { window: stored(window) };
  const { preemphasis } = spec;
  // For the first sample of a frame, the sample itself stands for the sample before.
  const own = window.map((value, k) => (k === 0 ? value * (1 - preemphasis) : value));
  return { window: stored(own), before: stored(window.map((value, k) => (k === 0 ? 0 : value * preemphasis))) };
}

function frameProblem({ spec, frames, precision }: EngineRequest): ProblemInput {
  const { nFft, hopLength } = spec;
  return {
    ...{ size: [nFft], transform: 'r2c', batches: frames, precision, directions: 'forward' },
    strides: { input: [1, 1, hopLength], output: [1, frames, 1] },
    callbacks: callbacksOf(spec, frames, precision),
  };
}

function callbacksOf(spec: FeatureSpec, frames: number, precision: FloatPrecision): Callbacks {
  const { nFft, hopLength, power, removeDcOffset } = spec;
  const load: Callback = (x, value, at) => {
    const [k] = at.axis as [(typeof at.axis)[number]];
    if (!isEmphasised(spec)) return x.mul(x.load('window', k), value);
    const earlier = x.load('samples', x.index.add(x.index.mul(at.batch, hopLength), k));
    const own = (sample: typeof earlier) => (removeDcOffset ? x.sub(sample, x.load('means', at.batch)) : sample);
    return x.sub(x.mul(x.load('window', k), own(value)), x.mul(x.load('before', k), own(earlier)));
  };
  const store: Callback = (x, { re, im }) => {
    const square = x.add(x.mul(re, re), x.mul(im, im));
    return power === 2 ? square : x.sqrt(square);
  };
  const type = precision === 'single' ? 'f32' : 'f64';
  const window = { window: { type, length: nFft } } as const;
  const others = { before: { type, length: nFft }, samples: { type, length: reachOf(spec, frames) } } as const;
  const means = removeDcOffset ? ({ means: { type, length: frames } } as const) : {};
  return { forward: { load, store }, arrays: isEmphasised(spec) ? { ...window, ...others, ...means } : window };
}

/** Kept engines of each device; they are released with the device. */
const enginesOf = new WeakMap<Device, PlanCache<EngineRequest, Promise<FeatureEngine>>>();

/**
 * Lends an engine: one that an earlier call has left, or a new one.
 * @throws FftError (as a rejection) the errors of `device.plan` and `device.compile`, `device-closed`, and errors that `use` throws
 */
export async function withEngine<T>(
  device: Device,
  request: EngineRequest,
  use: (engine: FeatureEngine) => Promise<T>,
): Promise<T> {
  let engines = enginesOf.get(device);
  if (!engines) {
    engines = new PlanCache<EngineRequest, Promise<FeatureEngine>>({
      make: (wanted) => FeatureEngine.of(device, wanted),
      destroy: (engine) => engine.then((made) => made.destroy()).catch(() => undefined),
      bytesOf: ({ spec, frames, precision }) =>
        (binsOf(spec) * frames + reachOf(spec, frames)) * (precision === 'single' ? 4 : 8),
    });
    enginesOf.set(device, engines);
  }
  const { spec, ...others } = request;
  const lease = engines.take(request, JSON.stringify([others, keyOf(spec)]));
  try {
    return await use(await lease.plan);
  } catch (error) {
    engines.forget(lease);
    // Closing a device destroys its plans; a closed device reports that when it is asked for a new plan.
    if (error instanceof FftError && error.code === 'destroyed')
      ((await device.plan(frameProblem(request))) as Plan).destroy();
    throw error;
  } finally {
    engines.give(lease);
  }
}
