/**
 * Features of speech as their makers define them, written down as they stand, in doubles: librosa's `melspectrogram`, `power_to_db` and `mfcc`,
 * torchaudio's `compliance.kaldi.fbank`, and the feature extractors of Whisper and AST.
 */

/** |X|² of a frame for bins 0 … ⌊n/2⌋, by the sum that defines them. */
export function powerSpectrum(frame: readonly number[]): number[] {
  const n = frame.length;
  if (frame.every((value) => value === 0)) return Array.from({ length: Math.floor(n / 2) + 1 }, () => 0);
  const turns = Array.from(
    { length: n },
    (_, k) => [Math.cos((2 * Math.PI * k) / n), Math.sin((2 * Math.PI * k) / n)] as const,
  );
  return Array.from({ length: Math.floor(n / 2) + 1 }, (_, bin) => {
    let [re, im] = [0, 0];
    for (let t = 0; t < n; t++) {
      const [cos, sin] = turns[(bin * t) % n]!;
      re += frame[t]! * cos;
      im += frame[t]! * sin;
    }
    return re * re + im * im;
  });
}

/** numpy.pad. */
export function padded(x: readonly number[], left: number, right: number, mode: string): number[] {
  const at = (n: number): number => {
    if (n >= 0 && n < x.length) return x[n]!;
    if (mode === 'constant') return 0;
    if (mode === 'edge') return x[n < 0 ? 0 : x.length - 1]!;
    if (mode === 'reflect') return x[n < 0 ? -n : 2 * (x.length - 1) - n]!;
    return x[n < 0 ? -n - 1 : 2 * x.length - 1 - n]!;
  };
  return Array.from({ length: x.length + left + right }, (_, n) => at(n - left));
}

/** Hann's window: periodic, or symmetric. */
export function hann(n: number, symmetric = false): number[] {
  return Array.from({ length: n }, (_, k) => 0.5 - 0.5 * Math.cos((2 * Math.PI * k) / (symmetric ? n - 1 : n)));
}

const toMel = (f: number, htk: boolean) =>
  htk ? 2595 * Math.log10(1 + f / 700) : f < 1000 ? (f * 3) / 200 : 15 + (27 * Math.log(f / 1000)) / Math.log(6.4);
const toHz = (m: number, htk: boolean) =>
  htk ? 700 * (10 ** (m / 2595) - 1) : m < 15 ? (m * 200) / 3 : 1000 * Math.exp((Math.log(6.4) * (m - 15)) / 27);

export interface MelDefinition {
  readonly fs: number;
  readonly nFft: number;
  readonly nMels: number;
  readonly fMin?: number;
  readonly fMax?: number;
  readonly htk?: boolean;
  readonly norm?: 'slaney' | null;
}

/** librosa.filters.mel, and torchaudio.functional.melscale_fbanks. */
export function melFilters({ fs, nFft, nMels, fMin = 0, fMax = fs / 2, htk = false, norm = 'slaney' }: MelDefinition) {
  const [low, high] = [toMel(fMin, htk), toMel(fMax, htk)];
  const edges = Array.from({ length: nMels + 2 }, (_, k) => toHz(low + ((high - low) * k) / (nMels + 1), htk));
  return Array.from({ length: nMels }, (_, m) =>
    Array.from({ length: Math.floor(nFft / 2) + 1 }, (_, k) => {
      const f = (k * fs) / nFft;
      const up = (f - edges[m]!) / (edges[m + 1]! - edges[m]!);
      const down = (edges[m + 2]! - f) / (edges[m + 2]! - edges[m + 1]!);
      const height = norm === 'slaney' ? 2 / (edges[m + 2]! - edges[m]!) : 1;
      return height * Math.max(0, Math.min(up, down));
    }),
  );
}

export interface SpectrogramDefinition extends MelDefinition {
  readonly hop: number;
  readonly window: readonly number[];
  readonly center?: boolean;
  readonly padMode?: string;
  readonly power?: number;
}

/** librosa.feature.melspectrogram: rows of frames, one for each band. */
export function melSpectrogram(x: readonly number[], definition: SpectrogramDefinition): number[][] {
  const { nFft, hop, window, center = true, padMode = 'constant', power = 2 } = definition;
  const half = Math.floor(nFft / 2);
  const whole = center ? padded(x, half, half, padMode) : x;
  const left = Math.floor((nFft - window.length) / 2);
  const taper = Array.from({ length: nFft }, (_, k) => window[k - left] ?? 0);
  const spectra: number[][] = [];
  for (let at = 0; at + nFft <= whole.length; at += hop) {
    spectra.push(powerSpectrum(taper.map((value, k) => value * whole[at + k]!)).map((value) => value ** (power / 2)));
  }
  return melFilters(definition).map((filter) => {
    const seen = filter.flatMap((weight, k) => (weight > 0 ? [[k, weight] as const] : []));
    return spectra.map((spectrum) => seen.reduce((sum, [k, weight]) => sum + spectrum[k]! * weight, 0));
  });
}

/** librosa.power_to_db. */
export function powerToDb(
  rows: readonly number[][],
  { ref = 1, amin = 1e-10, topDb = 80 as number | null } = {},
): number[][] {
  const levels = rows.map((row) =>
    row.map((s) => 10 * Math.log10(Math.max(amin, s)) - 10 * Math.log10(Math.max(amin, ref))),
  );
  if (topDb === null) return levels;
  const most = Math.max(...levels.map((row) => Math.max(...row)));
  return levels.map((row) => row.map((level) => Math.max(level, most - topDb)));
}

/** scipy.fft.dct(type=2, norm='ortho') along the first axis, of which so many coefficients are kept. */
export function cepstrum(rows: readonly number[][], count: number): number[][] {
  const n = rows.length;
  return Array.from({ length: count }, (_, k) =>
    rows[0]!.map((_, t) => {
      const sum = rows.reduce((all, row, m) => all + row[t]! * Math.cos((Math.PI * k * (m + 0.5)) / n), 0);
      return sum * Math.sqrt((k === 0 ? 1 : 2) / n);
    }),
  );
}

export interface KaldiDefinition {
  readonly fs?: number;
  readonly nMels?: number;
  readonly lowFrequency?: number;
  readonly highFrequency?: number;
  readonly preemphasis?: number;
  readonly removeDcOffset?: boolean;
  readonly snipEdges?: boolean;
  readonly window?: 'povey' | 'hanning';
  readonly useEnergy?: boolean;
  readonly rawEnergy?: boolean;
  readonly energyFloor?: number;
  readonly vtlnWarp?: number;
  readonly vtlnLow?: number;
  readonly vtlnHigh?: number;
}

/** torchaudio.compliance.kaldi.vtln_warp_freq, a line for each of its pieces. */
function vtlnWarp(f: number, [low, high]: readonly number[], [cutLow, cutHigh]: readonly number[], warp: number) {
  const l = cutLow! * Math.max(1, warp);
  const h = cutHigh! * Math.min(1, warp);
  const scaleLeft = (l / warp - low!) / (l - low!);
  const scaleRight = (high! - h / warp) / (high! - h);
  let result = high! + scaleRight * (f - high!);
  if (f < h) result = f / warp;
  if (f < l) result = low! + scaleLeft * (f - low!);
  return f < low! || f > high! ? f : result;
}

/** torchaudio.compliance.kaldi.fbank, dither 0: a row for each frame. */
export function kaldiFbank(x: readonly number[], definition: KaldiDefinition = {}): number[][] {
  const { fs = 16000, nMels = 23, lowFrequency = 20, highFrequency = fs / 2, preemphasis = 0.97 } = definition;
  const { removeDcOffset = true, snipEdges = true, window = 'povey' } = definition;
  const { useEnergy = false, rawEnergy = true, energyFloor = 1, vtlnLow = 100, vtlnHigh = -500 } = definition;
  const cuts = [vtlnLow, vtlnHigh < 0 ? vtlnHigh + fs / 2 : vtlnHigh];
  const [size, shift] = [Math.floor(fs * 0.025), Math.floor(fs * 0.01)];
  const nFft = 2 ** Math.ceil(Math.log2(size));
  let [whole, count] = [x, 1 + Math.floor((x.length - size) / shift)];
  if (!snipEdges) {
    count = Math.floor((x.length + Math.floor(shift / 2)) / shift);
    const left = Math.floor(size / 2) - Math.floor(shift / 2);
    whole = padded(x, left, x.length, 'symmetric');
  }
  const taper = hann(size, true).map((value) => (window === 'povey' ? value ** 0.85 : value));
  const mel = (f: number) => 1127 * Math.log(1 + f / 700);
  const [low, high] = [mel(lowFrequency), mel(highFrequency)];
  const step = (high - low) / (nMels + 1);
  const edge = (m: number) => {
    const f = 700 * (Math.exp((low + m * step) / 1127) - 1);
    return mel(vtlnWarp(f, [lowFrequency, highFrequency], cuts, definition.vtlnWarp ?? 1));
  };
  const epsilon = 1.1920928955078125e-7;
  const energy = (frame: readonly number[]) => {
    const level = Math.log(
      Math.max(
        frame.reduce((sum, value) => sum + value * value, 0),
        epsilon,
      ),
    );
    return energyFloor === 0 ? level : Math.max(level, Math.log(energyFloor));
  };
  return Array.from({ length: count }, (_, t) => {
    let frame = whole.slice(t * shift, t * shift + size);
    if (removeDcOffset) {
      const mean = frame.reduce((a, b) => a + b) / size;
      frame = frame.map((value) => value - mean);
    }
    const emphasised = frame.map((value, k) => value - preemphasis * frame[Math.max(0, k - 1)]!);
    const tapered = Array.from({ length: nFft }, (_, k) => (k < size ? emphasised[k]! * taper[k]! : 0));
    const power = powerSpectrum(tapered);
    const bands = Array.from({ length: nMels }, (_, m) => {
      const [left, center, right] = [edge(m), edge(m + 1), edge(m + 2)];
      // The bin of half the rate has no weight.
      const sum = power.slice(0, nFft / 2).reduce((all, value, k) => {
        const at = mel((k * fs) / nFft);
        return all + value * Math.max(0, Math.min((at - left) / (center - left), (right - at) / (right - center)));
      }, 0);
      return Math.log(Math.max(sum, epsilon));
    });
    return useEnergy ? [energy(rawEnergy ? frame : tapered), ...bands] : bands;
  });
}

/** WhisperFeatureExtractor: 30 s, whatever the signal has. */
export function whisperFeatures(x: readonly number[], nMels = 80): number[][] {
  const whole = Array.from({ length: 480_000 }, (_, n) => x[n] ?? 0);
  const definition = { fs: 16000, nFft: 400, hop: 160, nMels, window: hann(400), padMode: 'reflect' };
  const levels = melSpectrogram(whole, definition).map((row) =>
    row.slice(0, -1).map((value) => Math.log10(Math.max(1e-10, value))),
  );
  const most = Math.max(...levels.map((row) => Math.max(...row)));
  return levels.map((row) => row.map((level) => (Math.max(level, most - 8) + 4) / 4));
}

/** ASTFeatureExtractor: 1024 frames. */
export function astFeatures(x: readonly number[]): number[][] {
  const rows = kaldiFbank(x, { nMels: 128, window: 'hanning' });
  return Array.from({ length: 1024 }, (_, t) =>
    Array.from({ length: 128 }, (_, m) => ((rows[t]?.[m] ?? 0) + 4.2677393) / (2 * 4.5689974)),
  );
}
