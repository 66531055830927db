/** Options of features, checked and combined with a preset or with librosa's defaults. */
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import { isFloats, liveSamples } from '../arguments/floats.ts';
import { type WindowName, windowNames } from '../windows/window-kinds.ts';
import {
  type FeaturePreset,
  type FeatureSpec,
  type FramePadding,
  type LogKind,
  logKinds,
  padModes,
  presetNames,
  presets,
} from './feature-presets.ts';
import { type MelScale, melScales } from './mel.ts';

/** Options of a mel spectrum: librosa's names and, without a preset, librosa's defaults. */
export interface MelSpectrogramOptions {
  /** Preset that gives the options left out; default `librosa`. */
  readonly preset?: FeaturePreset | undefined;
  /** Sampling rate in hertz; required without a preset. */
  readonly fs?: number | undefined;
  /** Length of the transform; default 2048, or the least power of two that holds winLength. */
  readonly nFft?: number | undefined;
  /** Samples from one frame to the next; default a quarter of winLength. */
  readonly hopLength?: number | undefined;
  /** Samples in a window, at most nFft; default nFft. */
  readonly winLength?: number | undefined;
  /** A window by its name, or winLength values; default `hann`. */
  readonly window?: WindowName | 'povey' | Float32Array | Float64Array | undefined;
  /** Whether frame t is centred at sample t · hopLength; default true. */
  readonly center?: boolean | undefined;
  /** Extension of the signal beyond its ends where frames are centred; default `constant`, zeros. */
  readonly padMode?: FramePadding | undefined;
  /** Exponent of the magnitudes: 1 for magnitudes, 2 for powers; default 2. */
  readonly power?: number | undefined;
  /** Number of bands; default 128. */
  readonly nMels?: number | undefined;
  /** Lower edge of the first band, in hertz; default 0. */
  readonly fMin?: number | undefined;
  /** Upper edge of the last band, in hertz; default fs/2. */
  readonly fMax?: number | undefined;
  /** Mel scale; default `slaney`. */
  readonly melScale?: MelScale | undefined;
  /** librosa's option: true for the scale `htk`, false for `slaney`. */
  readonly htk?: boolean | undefined;
  /** Normalisation of bands. `slaney`, the default: bands of the same area; null: triangles of height 1; a number p: divided by the p-norm. */
  readonly norm?: 'slaney' | null | number | undefined;
  /** Pre-emphasis: the share of the sample before that is subtracted from each sample, within a frame; default 0. */
  readonly preemphasis?: number | undefined;
}

/** Options of the steps after the mel spectrum. */
export interface LogMelOptions extends MelSpectrogramOptions {
  /** Logarithm; default `db`, decibels of the power. */
  readonly log?: LogKind | undefined;
  /** Floor: smaller values are raised to it; default 10⁻¹⁰. */
  readonly amin?: number | undefined;
  /** Reference value of 0 dB: a number, default 1, or `max`, the largest value. */
  readonly ref?: number | 'max' | undefined;
  /** Dynamic range, in the logarithm's own unit: lower values are raised to the largest value less this; default 80; null without a limit. */
  readonly topDb?: number | null | undefined;
}

export const MEL_OPTIONS = [
  ...(['preset', 'fs', 'nFft', 'hopLength', 'winLength', 'window', 'center', 'padMode', 'power', 'nMels'] as const),
  ...(['fMin', 'fMax', 'melScale', 'htk', 'norm', 'preemphasis'] as const),
];
export const LOG_OPTIONS = [...MEL_OPTIONS, 'log', 'amin', 'ref', 'topDb'] as const;

/**
 * The spec of features.
 * @param own options that have been read; undefined ones are taken from the preset
 * @param usual the preset where none is named
 * @throws FftError `invalid-argument`
 */
export function featureSpec(own: LogMelOptions, usual: FeaturePreset = 'librosa'): FeatureSpec {
  if (own.preset !== undefined) checkWord('preset', own.preset, presetNames);
  const preset: FeatureSpec = presets[own.preset ?? usual];
  if (own.fs === undefined && own.preset === undefined) {
    throw new FftError('invalid-argument', 'fs is missing: samples a second, in hertz. A preset has one, too.', {
      path: 'fs',
    });
  }
  const fs = checkPositive('fs', own.fs ?? preset.fs);
  const given = isFloats(own.window) ? Float64Array.from(liveSamples(own.window, 'window')) : undefined;
  const lengths = frameLengths(own, preset, given?.length);
  const uncentred = preset.frames === 'center' ? 'whole' : preset.frames;
  if (own.center !== undefined) checkWord('center', own.center, [true, false]);
  const frames = own.center === undefined ? preset.frames : own.center ? 'center' : uncentred;
  const { preemphasis = preset.preemphasis, power = preset.power } = own;
  check('preemphasis', preemphasis, Number.isFinite(preemphasis), 'a finite number');
  const spec = {
    ...preset,
    ...lengths,
    ...{ fs, frames, preemphasis, window: given ? windowValues(given) : windowName(own.window as WindowName, preset) },
    power: checkPositive('power', power),
    padMode: checkWord('padMode', own.padMode ?? preset.padMode, padModes),
    ...bandOptions(own, preset, fs),
    ...logOptions(own, preset),
  };
  return { ...spec, isOwnBank: BANK_FIELDS.some((name) => spec[name] !== preset[name]) };
}

/** What bands are made of. */
const BANK_FIELDS = ['fs', 'nFft', 'nMels', 'fMin', 'fMax', 'melScale', 'norm'] as const;

function frameLengths(own: LogMelOptions, preset: FeatureSpec, windowLength: number | undefined) {
  const most = 2 ** 30;
  if (own.nFft !== undefined) checkInteger('nFft', own.nFft, 1, most);
  const winLength =
    own.winLength ??
    windowLength ??
    (own.nFft === undefined ? preset.winLength : Math.min(own.nFft, defaultWindow(preset, own.nFft)));
  checkInteger('winLength', winLength, 1, most);
  const least = winLength <= preset.nFft ? preset.nFft : 2 ** Math.ceil(Math.log2(winLength));
  const nFft = checkInteger('nFft', own.nFft ?? least, 1, most);
  check('winLength', winLength, winLength <= nFft, `an integer up to nFft, ${nFft}`);
  if (windowLength !== undefined) {
    check('winLength', winLength, winLength === windowLength, `the length of the window, ${windowLength}`);
  }
  const isPreset = own.nFft === undefined && own.winLength === undefined && windowLength === undefined;
  const hopLength = own.hopLength ?? (isPreset ? preset.hopLength : Math.max(1, Math.floor(winLength / 4)));
  return { winLength, nFft, hopLength: checkInteger('hopLength', hopLength, 1, most) };
}

/** A window is as long as the transform, unless the preset has a shorter one. */
function defaultWindow({ winLength, nFft }: FeatureSpec, given: number): number {
  return winLength === nFft ? given : winLength;
}

function windowName(name: unknown, preset: FeatureSpec): FeatureSpec['window'] {
  if (name === undefined) return preset.window;
  return checkWord('window', name as WindowName | 'povey', ['povey', ...windowNames]);
}

function windowValues(values: Float64Array): Float64Array {
  if (values.every(Number.isFinite) && values.some((value) => value !== 0)) return values;
  const message = 'window has values that are no finite numbers, or none that is not zero.';
  throw new FftError('invalid-argument', message, { path: 'window' });
}

function bandOptions(own: LogMelOptions, preset: FeatureSpec, fs: number) {
  const { htk, fMin = preset.fMin, fMax = preset.fMax, norm = preset.norm } = own;
  if (htk !== undefined) checkWord('htk', htk, [true, false]);
  const named = htk === undefined ? preset.melScale : htk ? 'htk' : 'slaney';
  const melScale = checkWord('melScale', own.melScale ?? named, melScales);
  if (htk !== undefined && melScale !== named) {
    throw new FftError('invalid-argument', `htk says ${named} and melScale ${melScale}; leave one of them out.`, {
      path: 'htk',
    });
  }
  check('fMin', fMin, Number.isFinite(fMin) && fMin >= 0, 'a frequency from 0 on');
  const top = fMax ?? fs / 2;
  const isBand = Number.isFinite(top) && top > fMin && top <= fs / 2;
  check('fMax', top, isBand, `a frequency above fMin, ${fMin}, up to half of fs, ${fs / 2}`);
  const isNorm = norm === null || norm === 'slaney' || (typeof norm === 'number' && norm >= 1);
  check('norm', norm, isNorm, "'slaney', null or a number from 1 on");
  return { fMin, fMax, norm, melScale, nMels: checkInteger('nMels', own.nMels ?? preset.nMels, 1, 2 ** 16) };
}

function logOptions(own: LogMelOptions, preset: FeatureSpec) {
  const { amin = preset.amin, ref = preset.ref, topDb = preset.topDb } = own;
  checkPositive('amin', amin);
  check('ref', ref, ref === 'max' || (Number.isFinite(ref) && ref > 0), "a positive number or 'max'");
  check('topDb', topDb, topDb === null || (Number.isFinite(topDb) && topDb >= 0), 'a number from 0 on, or null');
  return { amin, ref, topDb, log: checkWord('log', own.log ?? preset.log, logKinds) };
}
