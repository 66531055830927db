/**
 * Features of Kaldi beyond bands: frames of 25 ms in transforms of the next power of two, the energies of frames, and frequencies warped to the
 * length of a speaker's vocal tract (L. Lee and R. Rose, "A frequency warping approach to speaker normalization", IEEE Transactions on Speech and
 * Audio Processing 6 (1998)). Definitions are those of `torchaudio.compliance.kaldi`.
 */
import { FftError } from '../../problem/errors.ts';
import { check, checkPositive, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import { fillFrom, framesOf, paddingOf, windowOf } from './feature-frames.ts';
import { featureSpec, type LogMelOptions } from './feature-options.ts';
import type { FeatureSpec, VocalTract } from './feature-presets.ts';

/** Kaldi's own options of `fbank`, and of `mfcc` with a preset of Kaldi's kind. */
export interface KaldiOptions {
  /** Whether the logarithm of each frame's energy is added to its bands, or replaces coefficient 0; default false. */
  readonly useEnergy?: boolean | undefined;
  /** Whether energies are taken before pre-emphasis and window; default true. */
  readonly rawEnergy?: boolean | undefined;
  /** Floor of energies, 0 for none; default 1. */
  readonly energyFloor?: number | undefined;
  /**
   * Whether the energy is the last number of a frame, as in HTK, in the place of the first; of `mfcc` coefficient 0, times √2, where no energy replaces
   * it. Default false.
   */
  readonly htkCompat?: boolean | undefined;
  /** Warping factor by which frequencies between the cut-offs are divided; default 1, no warping. */
  readonly vtlnWarp?: number | undefined;
  /** The lower cut-off, in hertz, above fMin; default 100. */
  readonly vtlnLow?: number | undefined;
  /** The upper cut-off, in hertz, below fMax; a value that is not positive is added to half the rate. Default −500. */
  readonly vtlnHigh?: number | undefined;
}

const ENERGY_OPTIONS = ['useEnergy', 'rawEnergy', 'energyFloor', 'htkCompat'] as const;
export const KALDI_OPTIONS = [...ENERGY_OPTIONS, 'vtlnWarp', 'vtlnLow', 'vtlnHigh'] as const;

/** Frames of 25 ms every 10 ms at any rate, transformed in the next power of two. @throws FftError `invalid-argument` */
export function kaldiSpec(own: LogMelOptions & KaldiOptions): FeatureSpec {
  const { preset = 'kaldi', fs = 16000 } = own;
  const rated =
    Number.isFinite(fs) && fs > 0 ? { winLength: Math.floor(fs * 0.025), hopLength: Math.floor(fs * 0.01) } : {};
  const winLength =
    own.winLength ?? (own.window !== undefined && typeof own.window !== 'string' ? own.window.length : rated.winLength);
  const isLength = winLength !== undefined && winLength >= 1;
  const nFft = own.nFft ?? (isLength ? 2 ** Math.ceil(Math.log2(winLength)) : undefined);
  return warpedSpec(own, featureSpec({ ...rated, ...own, preset, winLength, nFft }));
}

/** The spec with its warping. @throws FftError `invalid-argument` for cut-offs out of range */
export function warpedSpec({ vtlnWarp, vtlnLow, vtlnHigh }: KaldiOptions, spec: FeatureSpec): FeatureSpec {
  const warp = checkPositive('vtlnWarp', vtlnWarp ?? 1);
  const [low, given] = [vtlnLow ?? 100, vtlnHigh ?? -500];
  const { fs, fMin, fMax = fs / 2 } = spec;
  const high = given > 0 ? given : fs / 2 + given;
  if (warp === 1) return spec;
  const isLow = Number.isFinite(low) && low > fMin && low * Math.max(1, warp) < fMax;
  check('vtlnLow', low, isLow, `a frequency above fMin, ${fMin}, that stays below fMax, ${fMax}, times vtlnWarp`);
  const isHigh = Number.isFinite(high) && high > low && high < fMax && high * Math.min(1, warp) > fMin;
  check(
    'vtlnHigh',
    given,
    isHigh,
    `a frequency above vtlnLow, ${low}, and below fMax, ${fMax}, or one from half of fs on`,
  );
  return { ...spec, vtln: { warp, low, high }, isOwnBank: true };
}

/** The warped frequency: divided by the factor between the cut-offs, on straight lines from there to fMin and fMax, and unchanged beyond them. */
export function warpedFrequency(
  frequency: number,
  { warp, low, high }: VocalTract,
  fMin: number,
  fMax: number,
): number {
  const [left, right] = [low * Math.max(1, warp), high * Math.min(1, warp)];
  if (frequency < fMin || frequency > fMax) return frequency;
  if (frequency < left) return fMin + ((left / warp - fMin) / (left - fMin)) * (frequency - fMin);
  if (frequency < right) return frequency / warp;
  return fMax + ((fMax - right / warp) / (fMax - right)) * (frequency - fMax);
}

/** The way in which energies are taken. */
interface EnergyOptions {
  readonly wanted: boolean;
  readonly raw: boolean;
  readonly floor: number;
  /** Whether they stand at the end of a frame. */
  readonly last: boolean;
}

/** The energy options. @throws FftError `invalid-argument` */
export function energyOptions(own: KaldiOptions, { rows, maxFrames }: FeatureSpec): EnergyOptions {
  const { useEnergy = false, rawEnergy = true, energyFloor = 1, htkCompat = false } = own;
  checkWord('useEnergy', useEnergy, [true, false]);
  checkWord('rawEnergy', rawEnergy, [true, false]);
  check('energyFloor', energyFloor, Number.isFinite(energyFloor) && energyFloor >= 0, 'a number from 0 on');
  checkWord('htkCompat', htkCompat, [true, false]);
  const path = useEnergy ? 'useEnergy' : htkCompat ? 'htkCompat' : undefined;
  if (path === undefined || (rows === 'frames' && maxFrames === null)) {
    return { wanted: useEnergy, raw: rawEnergy, floor: energyFloor, last: htkCompat };
  }
  const message = `${path} goes with preset 'kaldi', whose features are frame by frame.`;
  throw new FftError('invalid-argument', message, { path });
}

/** The least energy without a floor: the rounding error of singles. */
const EPSILON = 2 ** -23;

/** The logarithm of the energy of each frame, after subtracting the frame's mean if the spec says so. */
export function frameEnergies(data: Floats, spec: FeatureSpec, { raw, floor }: EnergyOptions): Float64Array {
  const { winLength, hopLength, preemphasis, removeDcOffset } = spec;
  const samples = { data, base: 0, length: data.length };
  const window = windowOf(spec);
  const frame = new Float64Array(winLength);
  const least = Math.max(EPSILON, floor);
  return Float64Array.from({ length: framesOf(spec, data.length) }, (_, t) => {
    fillFrom(frame, samples, t * hopLength - paddingOf(spec), spec);
    const mean = removeDcOffset ? frame.reduce((sum, value) => sum + value, 0) / winLength : 0;
    let energy = 0;
    let before = frame[0]! - mean;
    for (let k = 0; k < winLength; k++) {
      const own = frame[k]! - mean;
      energy += (raw ? own : (own - preemphasis * before) * window[k]!) ** 2;
      before = own;
    }
    return Math.log(Math.max(energy, least));
  });
}
