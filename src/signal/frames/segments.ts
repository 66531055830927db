/** Options that short-time transforms share: the division of a signal into frames, and the window of each frame. */
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger } from '../arguments/check.ts';
import { type Floats, isFloats, liveSamples } from '../arguments/floats.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { isFlat, type WindowArguments, type WindowOptions, windowFunction } from '../windows/windows.ts';

/** Options by SciPy's names. */
export interface SegmentOptions {
  /** Sampling rate, in hertz; default 1. */
  readonly fs?: number | undefined;
  /** A window by its name, in periodic form, or its values; default `hann`. */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window given by name. */
  readonly windowOptions?: WindowOptions | undefined;
  /** Samples in a frame; default the length of a given window, else 256, or the signal's length if that is less. */
  readonly nperseg?: number | undefined;
  /** Samples that a frame shares with the next one: less than `nperseg`; default half of it. */
  readonly noverlap?: number | undefined;
  /** Samples from the start of one frame to the start of the next, instead of `noverlap`: any number from 1 on. */
  readonly hopLength?: number | undefined;
  /** Length of the transforms, at least `nperseg`, which is the default; frames are padded with zeros. */
  readonly nfft?: number | undefined;
}

export const SEGMENT_OPTIONS = ['fs', 'window', 'windowOptions', 'nperseg', 'noverlap', 'hopLength', 'nfft'] as const;

/** Options together with those of a window. */
export const SEGMENT_LEVELS = 3;

/**
 * Scaling of spectra. `spectrum`: a sine of amplitude 2 gives 1 in its bin; `psd`: squares are powers per hertz; `null`: unscaled sums.
 */
export type StftScaling = 'spectrum' | 'psd' | null;
export const stftScalings: readonly StftScaling[] = ['spectrum', 'psd', null];

/** The division of a signal into frames, with window and scaling. */
export interface Segments {
  readonly fs: number;
  readonly window: Float64Array;
  /** Whether all window values are 1. */
  readonly flat: boolean;
  readonly nperseg: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  readonly nfft: number;
}

const USUAL = 256;

/**
 * Reads the options of frames.
 *
 * @param length samples of the signal, or of a frame where the options do not say
 * @param longest the most samples of a frame
 * @throws FftError `invalid-argument` for options out of range, the errors of windows, `detached-array`
 */
export function readSegments(options: SegmentOptions, length: number, longest = length): Segments {
  const { fs = 1, window = 'hann', windowOptions } = options;
  check('fs', fs, Number.isFinite(fs) && fs > 0, 'a positive number');
  const given = isFloats(window) ? liveSamples(window as Floats, 'window') : undefined;
  if (given && windowOptions !== undefined) {
    const message = 'windowOptions are those of a window that is named; one that is given as values has none.';
    throw new FftError('invalid-argument', message, { path: 'windowOptions' });
  }
  const nperseg = options.nperseg ?? given?.length ?? Math.min(USUAL, length);
  check('nperseg', nperseg, Number.isSafeInteger(nperseg) && nperseg >= 1, 'a positive integer');
  const hop = hopOf(options, nperseg);
  const nfft = options.nfft ?? nperseg;
  check('nfft', nfft, Number.isSafeInteger(nfft) && nfft >= nperseg, `an integer from nperseg, ${nperseg}, on`);
  check(
    ...(['nperseg', nperseg, nperseg <= longest, `at most the length of the signal, ${longest}`] as const),
    ' Take fewer, or fill the signal up with zeros.',
  );
  const values = given ? windowFromValues(given, nperseg) : windowOfName(window as WindowName, nperseg, windowOptions);
  const flat = given ? values.every((value) => value === 1) : isFlat(window as WindowName);
  return { fs, window: values, flat, nperseg, hop, nfft };
}

/**
 * The hop: samples from one frame to the next.
 * @param usual samples that frames share by default; half of them if left out
 */
export function hopOf(
  { noverlap, hopLength }: Pick<SegmentOptions, 'noverlap' | 'hopLength'>,
  nperseg: number,
  usual = Math.floor(nperseg / 2),
): number {
  if (hopLength !== undefined) {
    if (noverlap !== undefined) {
      const message = 'noverlap and hopLength say the same: noverlap is nperseg less hopLength. Give one of them.';
      throw new FftError('invalid-argument', message, { path: 'hopLength' });
    }
    return checkInteger('hopLength', hopLength, 1);
  }
  const shared = noverlap ?? usual;
  const isOverlap = Number.isSafeInteger(shared) && shared >= 0 && shared < nperseg;
  check('noverlap', shared, isOverlap, `an integer from 0 to ${nperseg - 1}, nperseg being ${nperseg}`);
  return nperseg - shared;
}

function windowOfName(name: WindowName, size: number, options: WindowOptions | undefined): Float64Array {
  return windowFunction(name, size, ...([options] as WindowArguments<WindowName>));
}

function windowFromValues(given: Floats, nperseg: number): Float64Array {
  check('nperseg', nperseg, nperseg === given.length, `the length of the window, ${given.length}`);
  const values = Float64Array.from(given);
  if (values.every(Number.isFinite) && values.some((value) => value !== 0)) return values;
  const message = 'window has values that are no finite numbers, or none that is not zero.';
  throw new FftError('invalid-argument', message, { path: 'window' });
}

/**
 * The divisor of the spectra of windowed frames.
 * @throws FftError `invalid-argument` where it is 0
 */
export function spectrumDivisor(window: Float64Array, fs: number, scaling: StftScaling): number {
  if (scaling === null) return 1;
  const sum = (of: (value: number) => number) => window.reduce((total, value) => total + of(value), 0);
  const gain = scaling === 'spectrum' ? Math.abs(sum((value) => value)) : Math.sqrt(fs * sum((value) => value * value));
  if (gain > 0 && Number.isFinite(1 / gain)) return gain;
  const message = `window has values that sum up to ${gain}, by which nothing can be divided; take the scaling 'psd'.`;
  throw new FftError('invalid-argument', message, { path: 'window' });
}

/** The number of whole frames in a signal. */
export function framesIn(length: number, { nperseg, hop }: Pick<Segments, 'nperseg' | 'hop'>): number {
  return 1 + Math.floor((length - nperseg) / hop);
}

/** Frequencies of the bins, in the unit of `fs`; for two-sided spectra the second half is negative. */
export function binFrequencies({ nfft, fs }: Pick<Segments, 'nfft' | 'fs'>, twoSided: boolean): Float64Array {
  const half = Math.ceil(nfft / 2);
  const bins = twoSided ? nfft : Math.floor(nfft / 2) + 1;
  return Float64Array.from({ length: bins }, (_, k) => ((twoSided && k >= half ? k - nfft : k) * fs) / nfft);
}

/** Warnings given so far: each is given once in a process. */
const told = new Set<string>();

/** Warns on the console that an option has a new name, once for each name. */
export function warnOnce(message: string): void {
  if (told.has(message)) return;
  told.add(message);
  console.warn(`omnifft: ${message}`);
}

/**
 * Options in which old names are replaced by new ones. Where both are given, the new one counts.
 * @param names the new name of each old name
 */
export function withNewNames<T extends object>(options: T, what: string, names: Readonly<Record<string, string>>): T {
  const old = Object.keys(names).filter((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (old.length === 0) return options;
  const all = { ...options } as Record<string, unknown>;
  for (const name of old) {
    warnOnce(`${what}: ${name} is ${names[name]} now; the old name goes with the next version.`);
    all[names[name]!] ??= all[name];
    delete all[name];
  }
  return all as T;
}
