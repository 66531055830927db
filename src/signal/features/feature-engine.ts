/**
 * The engine of all mel features, which computes a block of frames. A plan reads frames where they lie in the signal, applies the window while it
 * reads, sums the powers of bins over bands, and writes the logarithms of these sums: one launch, unless frames are very long. Where the block is a
 * whole signal, a program of patterns does what refers to the largest value.
 */
import type { CompiledProgram } from '../../engine/compiling/compiled-program.ts';
import type { Device, Plan } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { PlanCache } from '../../numpy/calls/plans.ts';
import { FftError } from '../../problem/errors.ts';
import type { Callback, Callbacks, ProblemInput, Tuning } from '../../problem/index.ts';
import type { FloatPrecision, Floats } from '../arguments/floats.ts';
import { unfilledOn, type WorkMemory } from '../calls/work.ts';
import { fillMeans, windowOf } from './feature-frames.ts';
import { isFinal, lastProgram, levelScale } from './feature-levels.ts';
import { type FeatureSpec, specKey } from './feature-presets.ts';
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

/** The levels before the last steps, in memory of the device. */
type Levels = { readonly memory: object; free(): void };

export class FeatureEngine {
  readonly spec: FeatureSpec;
  /** Number of frames in a block. */
  readonly frames: number;
  /** Samples of a block, and one sample before. */
  readonly reach: number;
  private readonly plan: Plan;
  private readonly last: { readonly program: CompiledProgram; readonly levels: Levels } | undefined;
  private readonly samples: WorkMemory;
  private readonly arrays: { readonly [name: string]: Floats };
  private readonly means: Floats | undefined;
  private done: Promise<unknown> = Promise.resolve();

  static async of(device: Device, request: EngineRequest): Promise<FeatureEngine> {
    const plan = await levelPlan(device, request);
    try {
      const program = await featureProgram(device, request);
      return new FeatureEngine(device, request, plan, program);
    } catch (error) {
      plan.destroy();
      throw error;
    }
  }

  private constructor(
    device: Device,
    { spec, frames, precision }: EngineRequest,
    plan: Plan,
    program: CompiledProgram | undefined,
  ) {
    this.spec = spec;
    this.frames = frames;
    this.plan = plan;
    this.reach = 1 + samplesOfFrames(spec, frames);
    this.samples = unfilledOn(device, this.reach, precision);
    const isSingle = precision === 'single';
    if (program) {
      const memory = device.alloc(spec.nMels * frames * (isSingle ? 4 : 8), precision);
      this.last = { program, levels: { memory, free: () => memory.free() } };
    }
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
      const { means, plan, last } = this;
      if (means) fillMeans(means, samples.subarray(1), this.spec);
      const own = {
        ...this.arrays,
        ...(means ? { means } : {}),
        ...('before' in this.arrays ? { samples: samples.subarray(0, this.reach - 1) } : {}),
      };
      const levels = (last?.levels.memory ?? output) as Floats;
      // Calls run one after another, because they share the memory between plan and program.
      const ready = plan.forward(samples.subarray(1) as never, levels as never, { arrays: own } as never);
      await Promise.all([ready, last?.program.run({ levels } as never, output as never)]);
    };
    const done = this.done.then(run, run);
    this.done = done;
    return done;
  }

  destroy(): void {
    this.plan.destroy();
    this.last?.program.destroy();
    this.last?.levels.free();
    this.samples.free();
  }
}

/** The plan of an engine. @throws FftError (as a rejection) the errors of `device.plan` */
export async function levelPlan(device: Device, request: EngineRequest, tuning: Tuning = {}): Promise<Plan> {
  return (await device.plan({ ...levelProblem(request), tuning })) as Plan;
}

/** The program that a whole signal's levels go through. @throws FftError (as a rejection) the errors of `device.compile` */
async function featureProgram(
  device: Device,
  { spec, frames, precision, isWhole }: EngineRequest,
): Promise<CompiledProgram | undefined> {
  if (!isWhole || isFinal(spec, frames)) return undefined;
  return (await device.compile(await lastProgram(spec, frames), { precision })) as unknown as CompiledProgram;
}

/** The number of samples from the first to the last of `frames` frames. */
export function samplesOfFrames({ hopLength, nFft }: FeatureSpec, frames: number): number {
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

function levelProblem({ spec, frames, precision, isWhole }: EngineRequest): ProblemInput {
  const { nFft, hopLength, nMels, vtln, fMin, fMax = spec.fs / 2 } = spec;
  const warped = vtln ? (frequency: number) => warpedFrequency(frequency, vtln, fMin, fMax) : undefined;
  const bank = melBank(bankOptions(spec), spec.isOwnBank, warped);
  // Of blocks, frames lie side by side in a row of each band.
  const inRows = !isWhole || spec.rows === 'mels';
  return {
    ...{ size: [nFft], transform: 'r2c', batches: frames, precision, directions: 'forward', bands: bank.data },
    strides: { input: [1, 1, hopLength], output: inRows ? [1, frames, 1] : [1, 1, nMels] },
    callbacks: featureCallbacks(spec, frames, precision),
  };
}

function featureCallbacks(spec: FeatureSpec, frames: number, precision: FloatPrecision): Callbacks {
  const { nFft, hopLength, power, removeDcOffset, log, amin } = spec;
  const load: Callback = (x, value, at) => {
    const [k] = at.axis as [(typeof at.axis)[number]];
    if (!isEmphasised(spec)) return x.mul(x.load('window', k), value);
    const earlier = x.load('samples', x.index.add(x.index.mul(at.batch, hopLength), k));
    const own = (sample: typeof earlier) => (removeDcOffset ? x.sub(sample, x.load('means', at.batch)) : sample);
    return x.sub(x.mul(x.load('window', k), own(value)), x.mul(x.load('before', k), own(earlier)));
  };
  const bin: Callback = (x, { re, im }) => {
    const square = x.add(x.mul(re, re), x.mul(im, im));
    if (power === 2) return square;
    const magnitude = x.sqrt(square);
    // Powers of magnitudes with any other exponent p are e^(p · ln m).
    const raised = () => x.exp(x.mul(x.constant(power), x.log(x.max(x.constant(1e-30), magnitude))));
    return power === 1 ? magnitude : raised();
  };
  const { factor, offset } = levelScale(spec);
  const store: Callback = (x, sum) => {
    // Constants that small are products of two.
    const root = x.constant(Math.sqrt(amin));
    const least = amin < 2 ** -100 ? x.mul(root, root) : x.constant(amin);
    const level = x.mul(x.log(x.max(least, sum)), x.constant(factor));
    return offset === 0 ? level : x.add(level, x.constant(offset));
  };
  const type = precision === 'single' ? 'f32' : 'f64';
  const window = { window: { type, length: nFft } } as const;
  const others = { before: { type, length: nFft }, samples: { type, length: samplesOfFrames(spec, frames) } } as const;
  const means = removeDcOffset ? ({ means: { type, length: frames } } as const) : {};
  return {
    forward: { load, bin, ...(log === 'none' ? {} : { store }) },
    arrays: isEmphasised(spec) ? { ...window, ...others, ...means } : window,
  };
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
        (spec.nMels * frames + samplesOfFrames(spec, frames)) * (precision === 'single' ? 4 : 8),
    });
    enginesOf.set(device, engines);
  }
  const { spec, ...others } = request;
  const lease = engines.take(request, JSON.stringify([others, specKey(spec)]));
  try {
    return await use(await lease.plan);
  } catch (error) {
    engines.forget(lease);
    // Closing a device destroys its plans; a closed device reports that when it is asked for a new plan.
    if (error instanceof FftError && error.code === 'destroyed') (await levelPlan(device, request)).destroy();
    throw error;
  } finally {
    engines.give(lease);
  }
}
