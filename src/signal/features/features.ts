/** Features of a whole signal: an engine computes them block by block, and steps that refer to the largest value come at the end. */
import type { Device } from '../../engine/index.ts';
import { floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { check } from '../arguments/check.ts';
import { areSingles, type FloatPrecision, type Floats, isFloats, liveSamples } from '../arguments/floats.ts';
import { builtFeatures } from './built-features.ts';
import { type FeatureEngine, withEngine } from './feature-engine.ts';
import { fillFrom, framesOf, paddingOf, requireLength, type Samples } from './feature-frames.ts';
import { finish } from './feature-levels.ts';
import type { FeatureSpec } from './feature-presets.ts';

/** Features: `[nMels, frames]`, or `[frames, nMels]` by presets of Kaldi's kind, row-major. */
export type Features<T extends Floats = Floats> = NumpyArray<T extends Float32Array ? 'float32' : 'float64'>;

/**
 * Frames in a block of a signal of any length: smaller blocks make launches short, larger blocks compute more surplus frames. The list is short,
 * because each block size needs a plan of its own.
 */
const FRAMES_OF_BLOCKS = { cpu: [16, 256], others: [16, 256, 2048] };
/** The most frames of a signal of fixed length that are computed as one block, and of any signal by a built module, which nothing interrupts. */
const MOST_FRAMES = 8192;

/** Samples of an argument. @throws FftError `invalid-argument`, `detached-array` */
export function checkedSamples(x: unknown): Floats {
  check('x', x, isFloats(x), 'a Float32Array or a Float64Array: the samples of one channel');
  const samples = liveSamples(x as Floats, 'x');
  if (samples.length > 0) return samples;
  throw new FftError('invalid-argument', 'x has no samples; at least one is needed.', { path: 'x' });
}

/**
 * The block size for a number of frames. A few small blocks take a CPU less time than surplus frames of a large one.
 * @param kind the kind of the device
 */
export function blockFrames(frames: number, kind: string): number {
  const [sizes, few] = kind === 'cpu' ? [FRAMES_OF_BLOCKS.cpu, 4] : [FRAMES_OF_BLOCKS.others, 1];
  return sizes.find((size) => few * size >= frames) ?? sizes.at(-1)!;
}

/**
 * The features of a signal, as the spec says.
 * @param x samples from `checkedSamples`
 */
export async function featuresOf(x: Floats, spec: FeatureSpec, chosen: Device | undefined): Promise<Features> {
  const samples = wholeSignal(x, spec);
  const frames = usedFrames(spec, samples.length);
  if (!chosen && areSingles(x) && frames <= MOST_FRAMES) {
    const found = await builtFeatures(x as Float32Array, spec);
    if (found) return asFeatures(found.data, spec, spec.maxFrames ?? frames);
  }
  const device = chosen ?? (await sharedDevice());
  const values = await frameLevels(samples, { spec, first: 0, frames }, device);
  finish(values, spec);
  return asFeatures(values, spec, spec.maxFrames ?? frames);
}

/** The signal, cut or zero-padded if the spec says so. @throws FftError `invalid-argument` */
function wholeSignal(x: Floats, spec: FeatureSpec): Samples {
  const length = spec.samples ?? x.length;
  requireLength(spec, length);
  return { data: x.subarray(0, length), base: 0, length };
}

function usedFrames(spec: FeatureSpec, length: number): number {
  return Math.min(framesOf(spec, length), spec.maxFrames ?? Number.POSITIVE_INFINITY);
}

export function asFeatures(
  data: Floats,
  { rows, nMels }: Pick<FeatureSpec, 'rows' | 'nMels'>,
  frames: number,
): Features {
  const shape = rows === 'mels' ? [nMels, frames] : [frames, nMels];
  return { data, shape, dtype: areSingles(data) ? 'float32' : 'float64' } as unknown as Features;
}

/** The range of frames. */
export interface FrameRange {
  readonly spec: FeatureSpec;
  readonly first: number;
  readonly frames: number;
}

/** Levels of frames, before the steps that refer to the largest level; the array has room for `maxFrames` frames. */
export async function frameLevels(samples: Samples, range: FrameRange, device: Device): Promise<Floats> {
  const { spec, frames } = range;
  const isSingle = areSingles(samples.data);
  const precision: FloatPrecision = isSingle ? 'single' : 'double';
  const size = spec.samples !== null && frames <= MOST_FRAMES ? frames : blockFrames(frames, device.kind);
  const values = floatZeros(spec.nMels * Math.max(frames, spec.maxFrames ?? 0), isSingle);
  if (frames === 0) return values;
  return withEngine(device, { spec, frames: size, precision, isWhole: false }, async (engine) => {
    if (size === frames && spec.rows === 'mels') {
      await engine.block((target) => fillBlock(target, samples, spec, range.first), values);
      return values;
    }
    await framesInBlocks(engine, samples, range, values);
    return values;
  });
}

/**
 * The features of a signal in memory of the device.
 * @throws FftError (as a rejection) the errors of `CompiledProgram.run` for the output
 */
export async function featuresInto(output: object, x: Floats, spec: FeatureSpec, device: Device): Promise<Features> {
  const samples = wholeSignal(x, spec);
  const frames = usedFrames(spec, samples.length);
  const precision: FloatPrecision = areSingles(x) ? 'single' : 'double';
  await withEngine(device, { spec, frames, precision, isWhole: true }, (engine) =>
    engine.block((target) => fillBlock(target, samples, spec, 0), output),
  );
  return { ...asFeatures(x, spec, spec.maxFrames ?? frames), data: output } as unknown as Features;
}

async function framesInBlocks(
  engine: FeatureEngine,
  samples: Samples,
  range: FrameRange,
  values: Floats,
): Promise<void> {
  const { spec, first, frames } = range;
  const { nMels, rows } = spec;
  const size = engine.frames;
  const block = floatZeros(nMels * size, areSingles(values));
  for (let done = 0; done < frames; done += size) {
    await engine.block((target) => fillBlock(target, samples, spec, first + done), block);
    const count = Math.min(size, frames - done);
    for (let mel = 0; mel < nMels; mel++) {
      if (rows === 'mels') values.set(block.subarray(mel * size, mel * size + count), mel * frames + done);
      else for (let t = 0; t < count; t++) values[(done + t) * nMels + mel] = block[mel * size + t]!;
    }
  }
}

/** Copies the samples of frames from a given frame on, and the sample before. */
function fillBlock(target: Floats, samples: Samples, spec: FeatureSpec, frame: number): void {
  fillFrom(target, samples, frame * spec.hopLength - paddingOf(spec) - 1, spec);
}
