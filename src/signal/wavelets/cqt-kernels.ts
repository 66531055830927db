/**
 * Spectra of the filters of constant-Q transforms, octave by octave. They are kept for the next call, because making them takes as long as a
 * transform.
 */
import type { Device, Plan } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { planRequest, withPlan } from '../calls/plans.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { windowFunction } from '../windows/windows.ts';

export interface CqtSpec {
  readonly fs: number;
  readonly fMin: number;
  readonly nBins: number;
  readonly binsPerOctave: number;
  readonly filterScale: number;
  readonly window: WindowName;
  readonly scale: boolean;
  readonly precision: 'single' | 'double';
}

/** The filter of a bin: complex factors, interleaved, of a range of the spectrum's bins; for positive and for negative frequencies. */
interface CqtRow {
  readonly bin: number;
  readonly from: number;
  readonly values: Float64Array;
  readonly mirroredFrom: number;
  readonly mirrored: Float64Array;
}

/** Bins whose filters fit transforms of one length. */
export interface CqtOctave {
  readonly nfft: number;
  readonly rows: readonly CqtRow[];
}

/** The factor, as a fraction of a filter's largest one, below which factors at the ends of the filter are left out. */
const NEGLIGIBLE = { single: 1e-7, double: 1e-12 } as const;
/** The longest filter, in samples. */
const LONGEST = 2 ** 24;
/** The most sets of filters that are kept. */
const MOST_KEPT = 4;

const kept = new Map<string, Promise<readonly CqtOctave[]>>();

/**
 * The filters of a constant-Q transform.
 * @param key name of the spec
 * @throws FftError (as a rejection) `invalid-argument` for filters that are too long, and the errors of windows and of `device.plan`
 */
export function octavesOf(spec: CqtSpec, key: string, device: Device): Promise<readonly CqtOctave[]> {
  const found = kept.get(key);
  if (found) {
    // The set that was asked for last becomes the last one.
    kept.delete(key);
    kept.set(key, found);
    return found;
  }
  const made = makeOctaves(spec, device);
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  for (const old of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_KEPT))) kept.delete(old);
  return made;
}

async function makeOctaves(spec: CqtSpec, device: Device): Promise<readonly CqtOctave[]> {
  const groups = new Map<number, number[]>();
  for (let bin = 0; bin < spec.nBins; bin++) {
    const taps = 2 * Math.ceil(windowLength(spec, bin) / 2) + 2;
    if (!(taps <= LONGEST)) {
      const message = `The filter of ${frequencyOf(spec, bin)} Hz has ${taps} samples, of which ${LONGEST} are the most; take a higher fMin, fewer binsPerOctave or a smaller filterScale.`;
      throw new FftError('invalid-argument', message, { path: 'fMin' });
    }
    const nfft = 2 ** Math.max(2, Math.ceil(Math.log2(taps)));
    groups.set(nfft, [...(groups.get(nfft) ?? []), bin]);
  }
  const octaves: CqtOctave[] = [];
  for (const [nfft, bins] of groups) {
    const precision = device.kind === 'webgpu' ? 'single' : 'double';
    const problem = { size: [nfft], precision, directions: 'inverse' } as const;
    const rows = await withPlan(device, planRequest(problem), async (plan) => {
      const all: CqtRow[] = [];
      for (const bin of bins) all.push(await cqtRow(spec, bin, nfft, plan));
      return all;
    });
    octaves.push({ nfft, rows });
  }
  return octaves;
}

function frequencyOf({ fMin, binsPerOctave }: CqtSpec, bin: number): number {
  return fMin * 2 ** (bin / binsPerOctave);
}

/** The length of a bin's window in samples, not rounded: Q periods, where Q follows from the distance between neighbouring bins. */
function windowLength(spec: CqtSpec, bin: number): number {
  const ratio = 2 ** (2 / spec.binsPerOctave);
  const width = (ratio - 1) / (ratio + 1);
  return (spec.filterScale * spec.fs) / width / frequencyOf(spec, bin);
}

async function cqtRow(spec: CqtSpec, bin: number, nfft: number, plan: Plan): Promise<CqtRow> {
  const length = windowLength(spec, bin);
  const [first, last] = [-Math.floor(length / 2) + 1, Math.ceil(length / 2)];
  const taps = Math.max(1, last - first + 1);
  const window = windowFunction(spec.window as 'hann', taps);
  const sum = window.reduce((total, value) => total + Math.abs(value), 0);
  const gain = (spec.scale ? Math.sqrt(length) : length) / sum / nfft;
  const omega = (2 * Math.PI * frequencyOf(spec, bin)) / spec.fs;
  const filter = floatZeros(2 * nfft, false) as Float64Array;
  for (let k = 0; k < taps; k++) {
    const n = last - k;
    const at = 2 * (n + nfft / 2);
    filter[at] = gain * window[k]! * Math.cos(omega * n);
    filter[at + 1] = -gain * window[k]! * Math.sin(omega * n);
  }
  const single = plan.problem.precision === 'single';
  const spectrum = Float64Array.from(
    (await plan.inverse((single ? Float32Array.from(filter) : filter) as never)) as Float64Array,
  );
  return { bin, ...significantRanges(spectrum, nfft, NEGLIGIBLE[spec.precision]) };
}

/**
 * The range of a filter's factors that are not negligible: for frequencies from 0 on, and for negative ones in the order of their absolute values.
 */
function significantRanges(spectrum: Float64Array, nfft: number, negligible: number): Omit<CqtRow, 'bin'> {
  const half = nfft / 2;
  const sizeAt = (k: number) => Math.hypot(spectrum[2 * k]!, spectrum[2 * k + 1]!);
  let largest = 0;
  for (let k = 0; k < nfft; k++) largest = Math.max(largest, sizeAt(k));
  const side = (begin: number, end: number, place: (k: number) => number) => {
    let [from, to] = [begin, end];
    while (from < to && sizeAt(place(from)) < negligible * largest) from++;
    while (to > from && sizeAt(place(to - 1)) < negligible * largest) to--;
    const values = Float64Array.from(
      { length: 2 * (to - from) },
      (_, k) => spectrum[2 * place(from + (k >> 1)) + (k & 1)]!,
    );
    return { from, values };
  };
  const positive = side(0, half + 1, (k) => k);
  const negative = side(1, half, (k) => nfft - k);
  return { ...positive, mirroredFrom: negative.from, mirrored: negative.values };
}
