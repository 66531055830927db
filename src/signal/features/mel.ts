/**
 * Mel scales, and filter banks that sum a spectrum over bands of equal width on them.
 *
 * Meanings are those of `librosa.filters.mel` (librosa's reference manual). Sources: M. Slaney, "Auditory Toolbox", version
 * 2, Interval Research Corporation, technical report 1998-010, for the scale that is linear up to 1 kHz, and for its
 * norm; S. Young et al., "The HTK Book", for the other scale; S. S. Stevens, J. Volkmann and E. B. Newman, "A scale for the
 * measurement of the psychological magnitude pitch", Journal of the Acoustical Society of America 8 (1937).
 */
import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { didYouMean } from '../../problem/input/meant.ts';

/**
 * Mel scales. `slaney` is linear up to 1000 Hz and logarithmic beyond; `htk` is 2595 · log₁₀(1 + f/700). `kaldi` is 1127 · ln(1 + f/700), nearly the
 * same, and its filters are triangles over mels, where filters of the other scales are triangles over hertz.
 */
export type MelScale = 'slaney' | 'htk' | 'kaldi';
export const melScales: readonly MelScale[] = ['slaney', 'htk', 'kaldi'];

export interface MelOptions {
  /** Sampling rate, in hertz. */
  readonly fs: number;
  /** Length of the transform: the spectrum has ⌊nFft/2⌋ + 1 bins, bin k at k · fs / nFft Hz. */
  readonly nFft: number;
  /** Number of bands; default 128. */
  readonly nMels?: number | undefined;
  /** Lower edge of the first band, in hertz; default 0. */
  readonly fMin?: number | undefined;
  /** Upper edge of the last band, in hertz; default half the sampling rate. */
  readonly fMax?: number | undefined;
  /** Mel scale; default `slaney`. */
  readonly melScale?: MelScale | undefined;
  /** librosa's option: true for the scale `htk`, false for `slaney`. */
  readonly htk?: boolean | undefined;
  /**
   * Normalisation. `slaney` (the default) divides each band by half its width in hertz, so that all bands have about the same area; a number p from 1
   * on, `Infinity` too, divides by the band's p-norm; null leaves triangles of height 1.
   */
  readonly norm?: 'slaney' | null | number | undefined;
}

/** Former names of options; this version accepts them with a warning, the next one does not. */
export interface OldMelOptions {
  /** @deprecated `fs` */
  readonly sampleRate: number;
  /** @deprecated `nFft` */
  readonly size: number;
  /** @deprecated `nMels` */
  readonly bands?: number | undefined;
  readonly fMin?: number | undefined;
  readonly fMax?: number | undefined;
  /** @deprecated `melScale` */
  readonly scale?: MelScale | undefined;
  /** `none` is now null. */
  readonly norm?: 'slaney' | 'none' | null | number | undefined;
}

/** Constants of Slaney's scale: hertz per mel up to the corner, and the logarithm of the factor per mel beyond it. */
const LINEAR = 200 / 3;
const CORNER = 1000;
const STEP = Math.log(6.4) / 27;

/** A frequency in hertz on a mel scale. @throws FftError `invalid-argument` */
export function hzToMel(frequency: number, scale: MelScale = 'slaney'): number {
  checkMelNumber('frequency', frequency, 'a frequency from 0 on', (value) => value >= 0);
  if (checkScale(scale) === 'htk') return 2595 * Math.log10(1 + frequency / 700);
  if (scale === 'kaldi') return 1127 * Math.log1p(frequency / 700);
  return frequency < CORNER ? frequency / LINEAR : CORNER / LINEAR + Math.log(frequency / CORNER) / STEP;
}

/** The frequency in hertz at a place of a mel scale. @throws FftError `invalid-argument` */
export function melToHz(mel: number, scale: MelScale = 'slaney'): number {
  checkMelNumber('mel', mel, 'a number from 0 on', (value) => value >= 0);
  if (checkScale(scale) === 'htk') return 700 * (10 ** (mel / 2595) - 1);
  if (scale === 'kaldi') return 700 * Math.expm1(mel / 1127);
  const corner = CORNER / LINEAR;
  return mel < corner ? mel * LINEAR : CORNER * Math.exp(STEP * (mel - corner));
}

/**
 * A bank of triangular filters, side by side on a mel scale: each rises from the middle of the one before and falls to the
 * middle of the next.
 *
 * @returns float64 of shape `[nMels, ⌊nFft/2⌋ + 1]`: the mel spectrum is its product with a power spectrum. A band that
 *   lies between two bins is 0 throughout; a warning on the console names it, and fewer bands or a longer transform that
 *   would have none.
 * @throws FftError `invalid-argument` for options that are missing or out of range, `unknown-field`, `out-of-memory`
 */
export function melFilterBank(options: MelOptions | OldMelOptions): NumpyArray<'float64'> {
  return melBank(options, true);
}

/**
 * The filter bank, with control over warnings and band edges.
 * @param warns whether bands without a bin are reported on the console
 * @param warped maps an edge of a band, in hertz, to its warped frequency
 */
export function melBank(
  options: MelOptions | OldMelOptions,
  warns: boolean,
  warped: (frequency: number) => number = (frequency) => frequency,
): NumpyArray<'float64'> {
  const read = readMel(options);
  const bank = { ...read, edges: read.edges.map(warped) };
  const { fs, nFft, nMels, melScale, edges, norm } = bank;
  const bins = Math.floor(nFft / 2) + 1;
  /** The frequency scale on which the triangles' sides are straight. */
  const place = (frequency: number) => (melScale === 'kaldi' ? hzToMel(frequency, melScale) : frequency);
  const data = floatZeros(nMels * bins, false) as NewFloat64Array;
  const places = Float64Array.from({ length: bins }, (_, bin) => place((bin * fs) / nFft));
  for (let band = 0; band < nMels; band++) {
    const [from, middle, to] = [edges[band]!, edges[band + 1]!, edges[band + 2]!];
    const row = data.subarray(band * bins, (band + 1) * bins);
    const [left, top, right] = [place(from), place(middle), place(to)];
    for (let bin = 0; bin < bins; bin++) {
      const at = places[bin]!;
      row[bin] = Math.max(0, Math.min((at - left) / (top - left), (right - at) / (right - top)));
    }
    const divisor = norm === 'slaney' ? (to - from) / 2 : norm === null ? 1 : pNorm(row, norm);
    // A band without a bin has norm 0.
    if (divisor > 0) for (let bin = 0; bin < bins; bin++) row[bin]! /= divisor;
  }
  if (warns) warnOfEmpty(bank);
  return { data, shape: [nMels, bins], dtype: 'float64' };
}

/** The most bands that a warning lists. */
const BANDS_TOLD = 8;
/** The longest transform that a warning recommends. */
const LONGEST_ADVISED = 2 ** 30;

/** Warns of bands without a bin, as librosa does, and says which options would avoid them. */
function warnOfEmpty({ fs, nFft, nMels, edges, ...how }: Bank): void {
  const empty = emptyBands(edges, fs / nFft, fs / 2);
  if (empty.length === 0) return;
  const told = empty.slice(0, BANDS_TOLD).join(', ');
  const others = empty.length - BANDS_TOLD;
  const which = empty.length === 1 ? `band ${told} is` : `bands ${told}${others > 0 ? ` and ${others} more` : ''} are`;
  console.warn(`omnifft: melFilterBank: ${which} 0 throughout, as no bin lies in them${adviceOn()}.`);

  function adviceOn(): string {
    if (edges[nMels + 1]! > fs / 2) return `: take fMax up to half the sample rate, ${fs / 2}`;
    let longer = nFft;
    while (longer <= LONGEST_ADVISED && isAnyEmpty(edges, longer)) longer *= 2;
    // The largest number of bands found by halving; fewer bands are wider.
    let [fewer, more] = [0, nMels];
    while (more - fewer > 1) {
      const between = Math.floor((fewer + more) / 2);
      if (isAnyEmpty(edgesOf(between, how), nFft)) more = between;
      else fewer = between;
    }
    const advice = [fewer > 0 ? `nMels: ${fewer}` : '', longer <= LONGEST_ADVISED ? `nFft: ${longer}` : ''];
    const known = advice.filter((option) => option !== '').join(' or ');
    return known === '' ? '' : `: take ${known}`;
  }

  function isAnyEmpty(between: Float64Array, points: number): boolean {
    return emptyBands(between, fs / points, fs / 2).length > 0;
  }
}

/** Bands without a bin inside. @param spacing of bins, in hertz, up to `last` */
function emptyBands(edges: Float64Array, spacing: number, last: number): number[] {
  const empty: number[] = [];
  for (let band = 0; band + 2 < edges.length; band++) {
    const next = (Math.floor(edges[band]! / spacing) + 1) * spacing;
    if (next >= edges[band + 2]! || next > last) empty.push(band);
  }
  return empty;
}

/** The edges of bands in hertz, two more than bands, equally spaced on the mel scale. */
function edgesOf(nMels: number, { fMin, fMax, melScale }: Pick<Bank, 'fMin' | 'fMax' | 'melScale'>): Float64Array {
  const edges = floatZeros(nMels + 2, false) as NewFloat64Array;
  const [first, last] = [hzToMel(fMin, melScale), hzToMel(fMax, melScale)];
  for (let k = 0; k < edges.length; k++) edges[k] = melToHz(first + ((last - first) * k) / (nMels + 1), melScale);
  return edges;
}

interface Bank {
  readonly fs: number;
  readonly nFft: number;
  readonly nMels: number;
  readonly fMin: number;
  readonly fMax: number;
  readonly melScale: MelScale;
  readonly edges: Float64Array;
  readonly norm: 'slaney' | null | number;
}

const OPTIONS = ['fs', 'nFft', 'nMels', 'fMin', 'fMax', 'melScale', 'htk', 'norm'];
const OLD_NAMES = { sampleRate: 'fs', size: 'nFft', bands: 'nMels', scale: 'melScale' } as const;
let hasWarned = false;

function readMel(given: MelOptions | OldMelOptions): Bank {
  const works = [...OPTIONS, ...Object.keys(OLD_NAMES)];
  const options = presentMelOptions(readOptions(given, { works }, 'melFilterBank'));
  const { fs, nFft, nMels = 128, fMin = 0, norm = 'slaney', htk } = options;
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1;
  checkMelNumber('fs', fs, 'a positive number', (value) => value > 0);
  checkMelNumber('nFft', nFft, 'a positive integer', isCount);
  checkMelNumber('nMels', nMels, 'a positive integer', isCount);
  checkMelNumber('fMin', fMin, 'a frequency from 0 on', (value) => value >= 0);
  const fMax = options.fMax ?? fs / 2;
  checkMelNumber('fMax', fMax, `a frequency above fMin, which is ${fMin}`, (value) => value > fMin);
  if (htk !== undefined && typeof htk !== 'boolean') throw melError('htk', htk, 'true or false');
  const melScale = checkScale(options.melScale ?? (htk ? 'htk' : 'slaney'), 'melScale');
  if (htk !== undefined && htk !== (melScale === 'htk')) throw melError('htk', htk, `what melScale is, '${melScale}'`);
  if (norm !== 'slaney' && norm !== null && !(typeof norm === 'number' && norm >= 1)) {
    throw melError('norm', norm, "'slaney', null or a number from 1 on", ['slaney']);
  }
  return { fs, nFft, nMels, fMin, fMax, melScale, edges: edgesOf(nMels, { fMin, fMax, melScale }), norm };
}

/** Options under their present names. */
function presentMelOptions(given: MelOptions | OldMelOptions): MelOptions {
  const own: Record<string, unknown> = { ...given };
  const old = Object.keys(OLD_NAMES).filter((name) => own[name] !== undefined) as (keyof typeof OLD_NAMES)[];
  for (const name of old) {
    own[OLD_NAMES[name]] ??= own[name];
    delete own[name];
  }
  const isNone = own.norm === 'none';
  if (isNone) own.norm = null;
  if ((old.length > 0 || isNone) && !hasWarned) {
    hasWarned = true;
    const changes = [
      ...old.map((name) => `${name} is ${OLD_NAMES[name]} now`),
      ...(isNone ? ["norm 'none' is null now"] : []),
    ];
    console.warn(`omnifft: melFilterBank: ${changes.join(', ')}; the next version does not take the old names.`);
  }
  return own as unknown as MelOptions;
}

/** The p-norm of a band. */
function pNorm(row: Float64Array, p: number): number {
  if (p === Number.POSITIVE_INFINITY) return row.reduce((most, value) => Math.max(most, value), 0);
  return row.reduce((sum, value) => sum + value ** p, 0) ** (1 / p);
}

function checkScale(scale: unknown, path = 'scale'): MelScale {
  if (melScales.includes(scale as MelScale)) return scale as MelScale;
  throw melError(path, scale, "'slaney', 'htk' or 'kaldi'", melScales);
}

function checkMelNumber(path: string, value: number, accepted: string, test: (value: number) => boolean): void {
  if (!Number.isFinite(value) || !test(value)) throw melError(path, value, accepted);
}

function melError(path: string, value: unknown, accepted: string, words: readonly string[] = []): FftError {
  const message = `${path} is ${show(value)}; it takes ${accepted}.${didYouMean(value, words)}`;
  return new FftError('invalid-argument', message, { path });
}
