/** Mel spectra, their logarithms and cepstra. */
import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { checkDevice, type DeviceChoice } from '../../numpy/calls/choice.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { areSingles, type Floats } from '../arguments/floats.ts';
import {
  featureSpec,
  LOG_OPTIONS,
  type LogMelOptions,
  MEL_OPTIONS,
  type MelSpectrogramOptions,
} from './feature-options.ts';
import type { FeaturePreset, FeatureSpec } from './feature-presets.ts';
import { asFeatures, checkedSamples, type Features, featuresOf } from './features.ts';
import { energyOptions, frameEnergies, KALDI_OPTIONS, type KaldiOptions, kaldiSpec, warpedSpec } from './kaldi.ts';

/** Feature options together with those of a window. */
const LEVELS = 2;

/**
 * Mel spectrogram: the powers of overlapping frames, summed by a bank of triangular filters, as `librosa.feature.melspectrogram`.
 *
 * @param x samples of one channel; it must stay as it is until the promise resolves. A Float32Array is computed in single precision, a Float64Array
 *   in double.
 * @param options librosa's in camel case; `fs` or a `preset` has to be given
 * @returns shape `[nMels, frames]`, row-major; of presets of Kaldi's kind `[frames, nMels]`. A band that no bin lies in is 0; a warning on the
 *   console names it.
 * @throws FftError (as a rejection) `invalid-argument` for options out of range and for signals shorter than a window or than what is mirrored at
 *   their ends, `unknown-field`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function melSpectrogram<X extends Floats>(
  x: X,
  options: MelSpectrogramOptions & DeviceChoice = {},
): Promise<Features<X>> {
  const own = readOptions(options, { works: [...MEL_OPTIONS, 'device'] }, 'melSpectrogram', LEVELS);
  const device = checkDevice(own.device);
  const spec: FeatureSpec = { ...featureSpec(own), log: 'none', add: 0, multiply: 1 };
  return featuresOf(checkedSamples(x), spec, device) as Promise<Features<X>>;
}

/**
 * The logarithm of a mel spectrogram: in decibels, at most 80 below the largest one, as `librosa.power_to_db` of `librosa.feature.melspectrogram`; or
 * what the preset says, whole: `logMel(x, { preset: 'whisper' })` is what Whisper is given.
 *
 * @param x as for `melSpectrogram`
 * @throws FftError (as a rejection) as `melSpectrogram`
 */
export async function logMel<X extends Floats>(x: X, options: LogMelOptions & DeviceChoice = {}): Promise<Features<X>> {
  const own = readOptions(options, { works: [...LOG_OPTIONS, 'device'] }, 'logMel', LEVELS);
  const device = checkDevice(own.device);
  return featuresOf(checkedSamples(x), featureSpec(own), device) as Promise<Features<X>>;
}

/** Options of `fbank`, with Kaldi's defaults. */
export interface FbankOptions extends Omit<LogMelOptions, 'center'>, KaldiOptions, DeviceChoice {
  /** Whether the mean of each frame is subtracted; default true. */
  readonly removeDcOffset?: boolean | undefined;
  /** Whether only whole frames are taken (default true); false: as many frames as hops, of a signal that is mirrored at its ends. */
  readonly snipEdges?: boolean | undefined;
}

/**
 * Kaldi's filter-bank features, as `torchaudio.compliance.kaldi.fbank` without dither: frames of 25 ms every 10 ms, less their mean,
 * pre-emphasised, with Povey's window, in transforms of the next power of two; 23 triangles over mels from 20 Hz on; natural logarithms.
 *
 * @param x as for `melSpectrogram`. Kaldi's own samples are integers up to 32767: multiply those of −1 … 1 where that matters
 * @returns shape `[frames, nMels]`; with `useEnergy` `[frames, 1 + nMels]`, the energies first, or last with `htkCompat`
 * @throws FftError (as a rejection) as `melSpectrogram`
 */
export async function fbank<X extends Floats>(x: X, options: FbankOptions = {}): Promise<Features<X>> {
  const works = [...LOG_OPTIONS.filter((name) => name !== 'center'), ...KALDI_OPTIONS, 'device'];
  const own = readOptions(options, { works: [...works, 'removeDcOffset', 'snipEdges'] }, 'fbank', LEVELS);
  const device = checkDevice(own.device);
  const spec = fbankSpec(own);
  const energy = energyOptions(own, spec);
  const samples = checkedSamples(x);
  const bands = await featuresOf(samples, spec, device);
  if (!energy.wanted) return bands as Features<X>;
  return withEnergies(bands, frameEnergies(samples, spec, energy), energy.last) as Features<X>;
}

function fbankSpec(own: FbankOptions): FeatureSpec {
  const { removeDcOffset = true, snipEdges = true } = own;
  checkWord('removeDcOffset', removeDcOffset, [true, false]);
  checkWord('snipEdges', snipEdges, [true, false]);
  const spec = kaldiSpec(own);
  return { ...spec, removeDcOffset, frames: snipEdges ? 'snip' : 'round' };
}

/** Features with one more number, the energy, in front of each frame, or behind it. */
function withEnergies({ data, shape }: Features, energies: Float64Array, last: boolean): Features {
  const [frames, nMels] = shape as readonly [number, number];
  const all = floatZeros(frames * (nMels + 1), areSingles(data));
  for (let t = 0; t < frames; t++) {
    all[t * (nMels + 1) + (last ? nMels : 0)] = energies[t]!;
    all.set(data.subarray(t * nMels, (t + 1) * nMels), t * (nMels + 1) + (last ? 0 : 1));
  }
  return asFeatures(all, { rows: 'frames', nMels: nMels + 1 }, frames);
}

/** Options of `mfcc`. */
export interface MfccOptions extends LogMelOptions, KaldiOptions, DeviceChoice {
  /** Number of coefficients; default 20, for preset `torchaudio` 40, for `kaldi` 13. */
  readonly nMfcc?: number | undefined;
  /** Liftering of higher coefficients, which are multiplied by 1 + lifter/2 · sin(π·k/lifter); default 0, none; for `kaldi` 22. */
  readonly lifter?: number | undefined;
  /** Normalisation of the cosine transform: `ortho`, the default, or null for the plain definition with 2·Σ. */
  readonly dctNorm?: 'ortho' | null | undefined;
}

/**
 * Mel-frequency cepstral coefficients: the cosine transform (II) of `logMel`, as `librosa.feature.mfcc`.
 *
 * @param x as for `melSpectrogram`
 * @returns shape `[nMfcc, frames]`; of presets of Kaldi's kind `[frames, nMfcc]`, with `useEnergy` the energies in the place of coefficient 0, and with
 *   `htkCompat` that one last
 * @throws FftError (as a rejection) as `melSpectrogram`
 */
export async function mfcc<X extends Floats>(x: X, options: MfccOptions = {}): Promise<Features<X>> {
  const works = [...LOG_OPTIONS, ...KALDI_OPTIONS, 'device', 'nMfcc', 'lifter', 'dctNorm'];
  const own = readOptions(options, { works }, 'mfcc', LEVELS);
  const device = checkDevice(own.device);
  const spec = own.preset === 'kaldi' ? kaldiSpec(own) : warpedSpec(own, featureSpec(own));
  const energy = energyOptions(own, spec);
  const {
    nMfcc = COEFFICIENTS[own.preset ?? 'librosa'] ?? 20,
    lifter = own.preset === 'kaldi' ? 22 : 0,
    dctNorm = 'ortho',
  } = own;
  checkInteger('nMfcc', nMfcc, 1, spec.nMels);
  check('lifter', lifter, Number.isFinite(lifter) && lifter >= 0, 'a number from 0 on');
  checkWord('dctNorm', dctNorm, ['ortho', null]);
  const samples = checkedSamples(x);
  const levels = await featuresOf(samples, spec, device);
  const matrix = cepstralMatrix(spec, nMfcc, lifter, dctNorm);
  const result = cepstra(levels, matrix, spec, nMfcc) as Features<X>;
  const data = result.data as Floats;
  if (energy.wanted) frameEnergies(samples, spec, energy).forEach((value, t) => (data[t * nMfcc] = value));
  if (energy.last) moveFirst(data, nMfcc, energy.wanted ? 1 : Math.SQRT2);
  return result;
}

/** Moves the first number of each row to its end, times a factor. */
function moveFirst(data: Floats, length: number, factor: number): void {
  for (let row = 0; row < data.length; row += length) {
    const first = data[row]!;
    data.copyWithin(row, row + 1, row + length);
    data[row + length - 1] = factor * first;
  }
}

const COEFFICIENTS: { readonly [preset in FeaturePreset]?: number } = { torchaudio: 40, kaldi: 13 };

/** Rows of the cosine transform, multiplied by the liftering factors. */
function cepstralMatrix(
  { nMels, rows }: FeatureSpec,
  nMfcc: number,
  lifter: number,
  norm: 'ortho' | null,
): Float64Array {
  const matrix = new Float64Array(nMfcc * nMels);
  for (let k = 0; k < nMfcc; k++) {
    const scale = norm === null ? 2 : Math.sqrt((k === 0 ? 1 : 2) / nMels);
    // Coefficients are counted from 1 in librosa's liftering, from 0 in Kaldi's.
    const lift = lifter === 0 ? 1 : 1 + (lifter / 2) * Math.sin((Math.PI * (rows === 'mels' ? k + 1 : k)) / lifter);
    for (let mel = 0; mel < nMels; mel++) {
      matrix[k * nMels + mel] = scale * lift * Math.cos((Math.PI * k * (2 * mel + 1)) / (2 * nMels));
    }
  }
  return matrix;
}

function cepstra({ data, shape }: Features, matrix: Float64Array, spec: FeatureSpec, nMfcc: number): Features {
  const { nMels, rows } = spec;
  const isRows = rows === 'mels';
  const frames = (isRows ? shape[1] : shape[0])!;
  const result = floatZeros(nMfcc * frames, areSingles(data as Floats));
  const sums = new Float64Array(isRows ? frames : nMfcc);
  if (isRows) {
    for (let k = 0; k < nMfcc; k++) {
      sums.fill(0);
      for (let mel = 0; mel < nMels; mel++) {
        const factor = matrix[k * nMels + mel]!;
        for (let t = 0, at = mel * frames; t < frames; t++, at++) sums[t]! += factor * data[at]!;
      }
      result.set(sums, k * frames);
    }
  } else {
    for (let t = 0; t < frames; t++) {
      for (let k = 0; k < nMfcc; k++) {
        let sum = 0;
        for (let mel = 0; mel < nMels; mel++) sum += matrix[k * nMels + mel]! * data[t * nMels + mel]!;
        sums[k] = sum;
      }
      result.set(sums, t * nMfcc);
    }
  }
  return asFeatures(result, { ...spec, nMels: nMfcc }, frames);
}
