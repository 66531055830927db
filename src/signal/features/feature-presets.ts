/**
 * The feature extractors of well-known programs and models, as data.
 *
 * Sources: librosa's reference manual (version 0.11); torchaudio's (`transforms.MelSpectrogram`, `compliance.kaldi`); Kaldi's documentation of
 * feature extraction; A. Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (Whisper); Y. Gong, Y.-A. Chung and J. Glass,
 * "AST: Audio Spectrogram Transformer".
 */

import type { PadMode } from '../frames/framing.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import type { MelScale } from './mel.ts';

/**
 * Extension of a signal beyond its ends: zeros (`constant`), the end value (`edge`), mirrored at the end sample (`reflect`), or mirrored with the end
 * sample repeated (`symmetric`, as in Kaldi's frames).
 */
export type FramePadding = PadMode | 'symmetric';
export const padModes: readonly FramePadding[] = ['constant', 'edge', 'reflect', 'symmetric'];

/** Natural logarithm, decimal logarithm, decibels of a power (`db`) or none. */
export type LogKind = 'ln' | 'log10' | 'db' | 'none';
export const logKinds: readonly LogKind[] = ['ln', 'log10', 'db', 'none'];

/** Kaldi's warping of band edges: between the cut-offs frequencies are divided by `warp`; beyond them straight lines lead back to fMin and fMax. */
export interface VocalTract {
  readonly warp: number;
  /** Cut-off frequencies, in hertz. */
  readonly low: number;
  readonly high: number;
}

/** The spec of features: all steps from a signal to its features. */
export interface FeatureSpec {
  readonly fs: number;
  readonly nFft: number;
  readonly hopLength: number;
  readonly winLength: number;
  readonly window: WindowName | 'povey' | Float64Array;
  /** Whether windows have the symmetric form rather than the periodic one. */
  readonly sym: boolean;
  /**
   * Position of frames. `center`: frame t is centred at sample t · hopLength, and the signal is extended as `padMode` says. `whole`: only whole
   * frames, of nFft samples. `snip`: only whole frames, of winLength samples. `round`: as many frames as hops, with the signal mirrored at both ends
   * (Kaldi's snip_edges=false).
   */
  readonly frames: 'center' | 'whole' | 'snip' | 'round';
  readonly padMode: FramePadding;
  /** Pre-emphasis: the share of the sample before that is subtracted from each sample, within a frame. */
  readonly preemphasis: number;
  readonly removeDcOffset: boolean;
  /** Exponent of magnitudes. */
  readonly power: number;
  readonly nMels: number;
  readonly fMin: number;
  /** Upper edge of the last band; undefined for half the rate. */
  readonly fMax: number | undefined;
  readonly melScale: MelScale;
  readonly norm: 'slaney' | null | number;
  /** Warping of frequencies to the length of a speaker's vocal tract. */
  readonly vtln: VocalTract | null;
  readonly log: LogKind;
  /** Floor: smaller values are raised to it before the logarithm. */
  readonly amin: number;
  /** Reference value of 0 dB; `max` for the largest value. */
  readonly ref: number | 'max';
  /** Dynamic range after the logarithm: lower values are raised to the largest value less this; null without a limit. */
  readonly topDb: number | null;
  /** Summand of the result, and the factor applied after it. */
  readonly add: number;
  readonly multiply: number;
  /** Samples that the signal is cut or zero-padded to; null for the signal's own length. */
  readonly samples: number | null;
  /** Frames that features are cut or zero-padded to, before `add`. */
  readonly maxFrames: number | null;
  /** Whether the last frame is left out. */
  readonly dropLast: boolean;
  /** Axis that comes first in the result. */
  readonly rows: 'mels' | 'frames';
  /** Whether the caller has chosen other bands than the preset, and is to be warned of bands without a bin. */
  readonly isOwnBank: boolean;
}

const librosa: FeatureSpec = {
  ...{ fs: 22050, nFft: 2048, hopLength: 512, winLength: 2048, window: 'hann', sym: false },
  ...{ frames: 'center', padMode: 'constant', preemphasis: 0, removeDcOffset: false, power: 2 },
  ...{ nMels: 128, fMin: 0, fMax: undefined, melScale: 'slaney', norm: 'slaney', vtln: null },
  ...{ log: 'db', amin: 1e-10, ref: 1, topDb: 80, add: 0, multiply: 1 },
  ...{ samples: null, maxFrames: null, dropLast: false, rows: 'mels', isOwnBank: false },
};

const torchaudio: FeatureSpec = {
  ...librosa,
  ...{ fs: 16000, nFft: 400, hopLength: 200, winLength: 400, padMode: 'reflect', melScale: 'htk', norm: null },
};

/** Whisper's features: 30 seconds, clamped 8 below the largest value, and scaled to about −1 … 1. */
const whisper: FeatureSpec = {
  ...librosa,
  ...{ fs: 16000, nFft: 400, hopLength: 160, winLength: 400, padMode: 'reflect', nMels: 80, fMax: 8000 },
  ...{ log: 'log10', topDb: 8, add: 4, multiply: 1 / 4, samples: 480_000, dropLast: true },
};

/** Kaldi's features: frames of 25 ms every 10 ms; the floor is the smallest number by which 1 can grow in single precision. */
const kaldi: FeatureSpec = {
  ...librosa,
  ...{ fs: 16000, nFft: 512, hopLength: 160, winLength: 400, window: 'povey', sym: true, frames: 'snip' },
  ...{
    padMode: 'symmetric',
    preemphasis: 0.97,
    removeDcOffset: true,
    nMels: 23,
    fMin: 20,
    melScale: 'kaldi',
    norm: null,
  },
  ...{ log: 'ln', amin: 2 ** -23, topDb: null, rows: 'frames' },
};

/** AST's features, normalised by the mean and twice the standard deviation of AudioSet. */
const ast: FeatureSpec = {
  ...kaldi,
  ...{ window: 'hann', nMels: 128, maxFrames: 1024, add: 4.2677393, multiply: 1 / (2 * 4.5689974) },
};

export const presets = {
  librosa,
  torchaudio,
  whisper,
  'whisper-large-v3': { ...whisper, nMels: 128 },
  kaldi,
  ast,
} as const satisfies { readonly [name: string]: FeatureSpec };

export type FeaturePreset = keyof typeof presets;
export const presetNames = Object.keys(presets) as readonly FeaturePreset[];

/** The preset that a spec is, in all its fields. */
export function presetOf(spec: FeatureSpec): FeaturePreset | undefined {
  const fields = Object.keys(spec) as (keyof FeatureSpec)[];
  return presetNames.find((name) => fields.every((field) => spec[field] === (presets[name] as FeatureSpec)[field]));
}

/** The name of a spec among kept engines: equal specs have equal names. */
export function specKey({ window, ...others }: FeatureSpec): string {
  return JSON.stringify({ ...others, window: typeof window === 'string' ? window : Array.from(window) });
}
