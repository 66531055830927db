/** Options of features, checked, on top of a preset or of librosa's defaults. */
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

/** How mel spectra are made of a signal: librosa's words and, without a preset, librosa's defaults. */
export interface MelSpectrogramOptions {
  /** What the options that are left out are; default `librosa`. */
  readonly preset?: FeaturePreset | undefined;
  /** Samples a second, in hertz; has to be given where there is no preset. */
  readonly fs?: number | undefined;
  /** Points of the transform; default 2048, or the least power of two that holds winLength. */
  readonly nFft?: number | undefined;
  /** Samples from frame to frame; default a quarter of winLength. */
  readonly hopLength?: number | undefined;
  /** Samples in a window, up to nFft, which is the default. */
  readonly winLength?: number | undefined;
  /** A window by its name, or winLength values; default `hann`. */
  readonly window?: WindowName | 'povey' | Float32Array | Float64Array | undefined;
  /** Whether frame t is centred at sample t · hopLength; default true. */
  readonly center?: boolean | undefined;
  /** What is beyond the ends of the signal where frames are centred; default `constant`, zeros. */
  readonly padMode?: FramePadding | undefined;
  /** Exponent of the magnitudes; default 2. */
  readonly power?: number | undefined;
  /** Bands; default 128. */
  readonly nMels?: number | undefined;
  /** Where the first band begins, in hertz; default 0. */
  readonly fMin?: number | undefined;
  /** Where the last band ends, in hertz; default fs/2. */
  readonly fMax?: number | undefined;
  /** Default `slaney`. */
  readonly melScale?: MelScale | undefined;
  /** librosa's word: true for the scale `htk`, false for `slaney`. */
  readonly htk?: boolean | undefined;
  /** `slaney`, the default: bands of the same area; null: triangles of height 1; a number p: divided by the p-norm. */
  readonly norm?: 'slaney' | null | number | undefined;
  /** What is taken off each sample of the sample before, in a frame; default 0. */
  readonly preemphasis?: number | undefined;
}

/** What follows the mel spectrum. */
export interface LogMelOptions extends MelSpectrogramOptions {
  /** Default `db`, decibels of the power. */
  readonly log?: LogKind | undefined;
  /** Values below are taken for this one; default 10⁻¹⁰. */
  readonly amin?: number | undefined;
  /** Which value is 0 dB: a number, default 1, or `max`, the largest one. */
  readonly ref?: number | 'max' | undefined;
  /** How far, in the logarithm's own unit, values may be below the largest one; default 80; null without a limit. */
  readonly topDb?: number | null | undefined;
}

export const MEL_OPTIONS = [
  ...(['preset', 'fs', 'nFft', 'hopLength', 'winLength', 'window', 'center', 'padMode', 'power', 'nMels'] as const),
  ...(['fMin', 'fMax', 'melScale', 'htk', 'norm', 'preemphasis'] as const),
];
export const LOG_OPTIONS = [...MEL_OPTIONS, 'log', 'amin', 'ref', 'topDb'] as const;

/**
 * @param own options that have been read; those that are undefined are as the preset has them
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
  return {
    ...preset,
    ...lengths,
    ...{ fs, frames, preemphasis, window: given ? windowValues(given) : windowName(own.window as WindowName, preset) },
    power: checkPositive('power', power),
    padMode: checkWord('padMode', own.padMode ?? preset.padMode, padModes),
    ...bandOptions(own, preset, fs),
    ...logOptions(own, preset),
    isOwnBank: own.preset === undefined || BANK_OPTIONS.some((name) => own[name] !== undefined),
  };
}

const BANK_OPTIONS = ['fs', 'nFft', 'nMels', 'fMin', 'fMax', 'melScale', 'htk', 'norm'] as const;

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

/** Windows are as long as transforms, unless the preset has shorter ones. */
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
