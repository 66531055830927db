/**
 * What the feature extractors of well-known programs and models do, as data.
 *
 * Sources: librosa's reference manual (version 0.11); torchaudio's (`transforms.MelSpectrogram`, `compliance.kaldi`); Kaldi's documentation of feature
 * extraction; A. Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (Whisper); Y. Gong, Y.-A. Chung and J. Glass, "AST: Audio
 * Spectrogram Transformer".
 */

import type { PadMode } from '../frames/framing.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import type { MelScale } from './mel.ts';

/** What a signal is beyond its ends: zeros, the edge's value, mirrored at the edge, mirrored with the edge twice. */
/** How a signal goes on beyond its ends. Kaldi's frames are mirrored with the end itself repeated: `symmetric`. */
export type FramePadding = PadMode | 'symmetric';
export const padModes: readonly FramePadding[] = ['constant', 'edge', 'reflect', 'symmetric'];

/** Natural logarithm, decimal logarithm, decibels of a power (`db`) or none. */
export type LogKind = 'ln' | 'log10' | 'db' | 'none';
export const logKinds: readonly LogKind[] = ['ln', 'log10', 'db', 'none'];

/** Kaldi's warping of the edges of bands: between the cut-offs frequencies are divided by `warp`, beyond them lines lead back to fMin and fMax. */
export interface VocalTract {
  readonly warp: number;
  /** Cut-offs, in hertz. */
  readonly low: number;
  readonly high: number;
}

/** How features are made of a signal. */
export interface FeatureSpec {
  readonly fs: number;
  readonly nFft: number;
  readonly hopLength: number;
  readonly winLength: number;
  readonly window: WindowName | 'povey' | Float64Array;
  /** Windows in the symmetric form rather than the periodic one. */
  readonly sym: boolean;
  /**
   * `center`: frame t is centred at sample t · hopLength, beyond the ends is what `padMode` says. `whole`: only whole frames, of nFft samples.
   * `snip`: only whole frames, of winLength samples. `round`: as many frames as hops, mirrored at both ends (Kaldi's snip_edges=false).
   */
  readonly frames: 'center' | 'whole' | 'snip' | 'round';
  readonly padMode: FramePadding;
  /** What is taken off each sample of the sample before, within a frame. */
  readonly preemphasis: number;
  readonly removeDcOffset: boolean;
  /** Exponent of magnitudes. */
  readonly power: number;
  readonly nMels: number;
  readonly fMin: number;
  /** Undefined for half the rate. */
  readonly fMax: number | undefined;
  readonly melScale: MelScale;
  readonly norm: 'slaney' | null | number;
  /** How frequencies are warped to the length of a speaker's vocal tract. */
  readonly vtln: VocalTract | null;
  readonly log: LogKind;
  /** Values below are taken for this one, before the logarithm. */
  readonly amin: number;
  /** Which value is 0 dB; of the largest one with `max`. */
  readonly ref: number | 'max';
  /** How far values may be below the largest one, after the logarithm; null without a limit. */
  readonly topDb: number | null;
  /** What is added to the result, and what it is multiplied by then. */
  readonly add: number;
  readonly multiply: number;
  /** Samples that the signal is cut or filled up with zeros to; null for what it has. */
  readonly samples: number | null;
  /** Frames that features are cut or filled up with zeros to, before `add`. */
  readonly maxFrames: number | null;
  /** Whether the last frame is left out. */
  readonly dropLast: boolean;
  /** Which axis comes first in the result. */
  readonly rows: 'mels' | 'frames';
  /** Whether the bands are the caller's choice, who wants to know which of them no bin lies in. */
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

/** 30 seconds; clamped 8 below the largest value, and brought to about −1 … 1. */
const whisper: FeatureSpec = {
  ...librosa,
  ...{ fs: 16000, nFft: 400, hopLength: 160, winLength: 400, padMode: 'reflect', nMels: 80, fMax: 8000 },
  ...{ log: 'log10', topDb: 8, add: 4, multiply: 1 / 4, samples: 480_000, dropLast: true },
};

/** Frames of 25 ms every 10 ms, and the smallest number by which 1 can grow in single precision as the floor. */
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

/** Normalised by the mean and twice the standard deviation of AudioSet. */
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

/** The name that a spec is remembered by: equal for equal ones. */
export function keyOf({ window, ...others }: FeatureSpec): string {
  return JSON.stringify({ ...others, window: typeof window === 'string' ? window : Array.from(window) });
}
