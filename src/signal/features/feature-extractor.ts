/** Feature extractors of speech and audio models, by the models' names. */
import { readOptions } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import { floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { checkWord } from '../arguments/check.ts';
import { areSingles, type Floats } from '../arguments/floats.ts';
import { completeFrames, framesOf, paddingOf, requireLength } from './feature-frames.ts';
import { finish, largest } from './feature-levels.ts';
import { featureSpec, LOG_OPTIONS, type LogMelOptions } from './feature-options.ts';
import { type FeaturePreset, type FeatureSpec, presetNames } from './feature-presets.ts';
import { asFeatures, checkedSamples, type Features, featuresInto, featuresOf, frameLevels } from './features.ts';

/** Name of an extractor: a preset of `logMel`, or `wav2vec`, which gives the samples themselves with mean 0 and variance 1. */
export type ExtractorPreset = FeaturePreset | 'wav2vec';

/** Device to compute on, and options that differ from the preset's. */
export type ExtractorOptions = Omit<LogMelOptions, 'preset'> & DeviceChoice;

export interface ExtractOptions {
  /** Memory of the extractor's device, a `GPUBuffer` for instance, to write the features to; they are not copied to the host then. */
  readonly output?: object | undefined;
}

/**
 * The feature extractor of a model, which makes the model's input from samples: `featureExtractor('whisper', { device })`.
 *
 * @param preset `whisper` (80 bands), `whisper-large-v3` (128 bands), `ast`, `wav2vec`, `kaldi`, `librosa` or `torchaudio`
 * @param options a device, by default a CPU device that all calls share; and options of `logMel` that differ from the preset's
 * @throws FftError `invalid-argument`, `unknown-field`
 */
export function featureExtractor(preset: ExtractorPreset, options: ExtractorOptions = {}): FeatureExtractor {
  return new FeatureExtractor(preset, options);
}

export class FeatureExtractor {
  readonly preset: ExtractorPreset;
  /** Sampling rate that the extractor expects, in hertz. */
  readonly fs: number;
  private readonly spec: FeatureSpec;
  private readonly device: Device | undefined;

  /** @internal Made by `featureExtractor`. */
  constructor(preset: ExtractorPreset, options: ExtractorOptions) {
    checkWord<ExtractorPreset>('preset', preset, [...presetNames, 'wav2vec']);
    const works =
      preset === 'wav2vec' ? ['device', 'fs'] : [...LOG_OPTIONS.filter((name) => name !== 'preset'), 'device'];
    const own = readOptions(options, { works }, 'featureExtractor', 2);
    this.device = checkDevice(own.device);
    this.preset = preset;
    this.spec = featureSpec({ ...own, preset: preset === 'wav2vec' ? 'whisper' : preset });
    this.fs = this.spec.fs;
  }

  /**
   * The features of a whole signal.
   * @param x samples of one channel at `fs`; it must stay as it is until the promise resolves
   * @returns shape `[nMels, frames]`; `[frames, nMels]` for presets of Kaldi's kind, `[samples]` for `wav2vec`; its data is `output` where that is
   *   given
   * @throws FftError (as a rejection) as `logMel`, and `unsupported-feature` for an `output` of `wav2vec`
   */
  async extract<X extends Floats>(x: X, options: ExtractOptions = {}): Promise<Features<X>> {
    const { output } = readOptions(options, { works: ['output'] }, 'extract');
    const samples = checkedSamples(x);
    const { spec, device } = this;
    if (this.preset === 'wav2vec') {
      if (output === undefined) return normalised(samples) as Features<X>;
      throw new FftError('unsupported-feature', 'wav2vec gives samples on the host; leave output out.', {
        path: 'output',
      });
    }
    if (output === undefined) return featuresOf(samples, spec, device) as Promise<Features<X>>;
    return featuresInto(output, samples, spec, device ?? (await sharedDevice())) as Promise<Features<X>>;
  }

  /**
   * A stream of features, from samples as they arrive. Signals are neither cut nor padded; a step that refers to the largest value takes the largest
   * so far.
   * @throws FftError `unsupported-feature` for `wav2vec`, which needs the mean of all samples
   */
  stream(): FeatureStream {
    if (this.preset === 'wav2vec') {
      throw new FftError('unsupported-feature', 'wav2vec needs the mean of all samples: call extract.', {
        path: 'preset',
      });
    }
    return new FeatureStream({ ...this.spec, samples: null, maxFrames: null }, this.device);
  }
}

/** Samples with mean 0 and variance 1. */
function normalised(samples: Floats): NumpyArray {
  let [sum, squares] = [0, 0];
  for (let n = 0; n < samples.length; n++) sum += samples[n]!;
  const mean = sum / samples.length;
  for (let n = 0; n < samples.length; n++) squares += (samples[n]! - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / samples.length + 1e-7);
  const isSingle = areSingles(samples);
  const data = floatZeros(samples.length, isSingle);
  for (let n = 0; n < samples.length; n++) data[n] = (samples[n]! - mean) * scale;
  return { data, shape: [samples.length], dtype: isSingle ? 'float32' : 'float64' } as NumpyArray;
}

/** Features of a signal that arrives in chunks. */
export class FeatureStream {
  private readonly spec: FeatureSpec;
  private readonly device: Device | undefined;
  /** Samples from number `base` on; earlier samples that no frame needs have been dropped. */
  private held: Floats = new Float32Array(0);
  private base = 0;
  private length = 0;
  private frame = 0;
  private top = Number.NEGATIVE_INFINITY;
  private last: Promise<unknown> = Promise.resolve();

  /** @internal Made by `FeatureExtractor.stream`. */
  constructor(spec: FeatureSpec, device: Device | undefined) {
    this.spec = spec;
    this.device = device;
  }

  /**
   * Takes a chunk of any number of samples, which are copied. Calls are served in order.
   * @param x real samples; the first chunk decides between single and double precision
   * @returns the frames completed by the chunk, none or more: shape `[nMels, frames]`, or `[frames, nMels]`
   * @throws FftError (as a rejection) `invalid-argument`, `detached-array`, and the errors of a device
   */
  async push(x: Floats): Promise<Features> {
    const samples = checkedSamples(x).slice() as Floats;
    return this.inTurn(() => {
      this.append(samples);
      return this.until(completeFrames(this.spec, this.length));
    });
  }

  /**
   * Ends the signal and gives the frames that reach beyond its end. Then the stream begins anew.
   * @returns shape `[nMels, frames]`, or `[frames, nMels]`
   * @throws FftError (as a rejection) `invalid-argument` where the whole signal is shorter than a window
   */
  async finish(): Promise<Features> {
    return this.inTurn(async () => {
      if (this.length > 0) requireLength(this.spec, this.length);
      const features = await this.until(this.length > 0 ? framesOf(this.spec, this.length) : 0);
      this.reset();
      return features;
    });
  }

  private reset(): void {
    this.base = this.length = this.frame = 0;
    this.held = new Float32Array(0);
    this.top = Number.NEGATIVE_INFINITY;
  }

  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.last.then(act, act);
    this.last = done;
    return done;
  }

  private append(samples: Floats): void {
    if (this.length === 0) this.held = samples;
    else {
      const { hopLength } = this.spec;
      const needed = Math.min(
        this.frame * hopLength - paddingOf(this.spec) - 1,
        this.length - paddingOf(this.spec) - 2,
      );
      const from = Math.max(0, Math.min(this.held.length, needed - this.base));
      const kept = this.held.length - from;
      const longer = floatZeros(kept + samples.length, areSingles(this.held));
      longer.set(this.held.subarray(from));
      longer.set(samples, kept);
      this.held = longer;
      this.base += from;
    }
    this.length += samples.length;
  }

  private async until(end: number): Promise<Features> {
    const { spec, held, base, length, frame } = this;
    const frames = Math.max(0, end - frame);
    const device = this.device ?? (await sharedDevice());
    const values = await frameLevels({ data: held, base, length }, { spec, first: frame, frames }, device);
    this.frame += frames;
    this.top = largest(values, this.top);
    finish(values, spec, this.top);
    return asFeatures(values, spec, frames);
  }
}
