/** Local maxima of a signal, their prominences and their widths, as `scipy.signal.peak_prominences` and `peak_widths`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, allocated } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { check } from '../arguments/check.ts';
import { realArray } from '../arguments/coefficients.ts';

/** Flat tops: first and last sample, and the one in the middle, which is the peak. */
export interface Plateaus {
  readonly peaks: Uint32Array;
  readonly leftEdges: Uint32Array;
  readonly rightEdges: Uint32Array;
}

/** Local maxima: samples, or runs of equal samples, that are higher than both neighbours; the ends of the signal are none. */
export function plateausOf(x: Float64Array): Plateaus {
  const [peaks, leftEdges, rightEdges]: [number[], number[], number[]] = [[], [], []];
  for (let k = 1; k < x.length - 1; k++) {
    if (!(x[k - 1]! < x[k]!)) continue;
    let ahead = k + 1;
    while (ahead < x.length - 1 && x[ahead] === x[k]) ahead++;
    if (x[ahead]! < x[k]!) {
      leftEdges.push(k);
      rightEdges.push(ahead - 1);
      peaks.push(Math.floor((k + ahead - 1) / 2));
      k = ahead - 1;
    }
  }
  const list = (values: readonly number[]) => allocated(values.length, () => Uint32Array.from(values));
  return { peaks: list(peaks), leftEdges: list(leftEdges), rightEdges: list(rightEdges) };
}

export interface Prominences {
  /** Prominence: the height of a peak above the higher of the lowest points on either side, up to where the signal is higher than the peak. */
  readonly prominences: Float64Array;
  /** Samples of these lowest points; among points of equal height the nearest. */
  readonly leftBases: Uint32Array;
  readonly rightBases: Uint32Array;
}

/** @param reach samples on either side that are searched; all without a reach */
export function prominencesOf(x: Float64Array, peaks: Uint32Array, reach: number | undefined): Prominences {
  const bases = reach === undefined ? prominenceBases(x, peaks) : basesWithin(x, peaks, reach);
  const prominences = Float64Array.from(
    peaks,
    (peak, k) => x[peak]! - Math.max(x[bases.leftBases[k]!]!, x[bases.rightBases[k]!]!),
  );
  return { prominences, ...bases };
}

function basesWithin(x: Float64Array, peaks: Uint32Array, reach: number): Omit<Prominences, 'prominences'> {
  const baseOf = (peak: number, step: 1 | -1) => {
    const end = Math.min(reach, step > 0 ? x.length - 1 - peak : peak);
    let base = peak;
    for (let k = 0; k <= end; k++) {
      const at = peak + step * k;
      if (!(x[at]! <= x[peak]!)) break;
      if (x[at]! < x[base]!) base = at;
    }
    return base;
  };
  return {
    leftBases: peaks.map((peak) => baseOf(peak, -1)),
    rightBases: peaks.map((peak) => baseOf(peak, 1)),
  };
}

/** Prominences in one pass from either side, whatever the order of peaks: a stack holds the samples that no later sample reaches. */
function prominenceBases(x: Float64Array, peaks: Uint32Array): Omit<Prominences, 'prominences'> {
  const n = x.length;
  const leftBases = lowestBefore((k) => x[k]!, n, peaks);
  const mirrored = peaks.map((peak) => n - 1 - peak).reverse();
  const rightBases = lowestBefore((k) => x[n - 1 - k]!, n, mirrored).map((base) => n - 1 - base);
  return { leftBases, rightBases: rightBases.reverse() };
}

/** For each of some increasing indices the lowest sample since the last higher one; among equal ones the latest. */
function lowestBefore(at: (k: number) => number, n: number, indices: Uint32Array): Uint32Array {
  const bases = new Uint32Array(indices.length);
  const higher: number[] = [];
  /** The lowest sample between an entry of the stack and the entry below it, including the entry itself. */
  const lowest: number[] = [];
  for (let k = 0, next = 0; k < n && next < indices.length; k++) {
    let base = k;
    while (higher.length > 0 && at(higher.at(-1)!) <= at(k)) {
      higher.pop();
      const other = lowest.pop()!;
      if (at(other) < at(base)) base = other;
    }
    higher.push(k);
    lowest.push(base);
    if (indices[next] === k) bases[next++] = base;
  }
  return bases;
}

export interface Widths {
  /** Widths in samples. */
  readonly widths: Float64Array;
  /** Heights at which widths are measured: the peak's height less `relHeight` of its prominence. */
  readonly widthHeights: Float64Array;
  /** Interpolated positions where the signal crosses that height. */
  readonly leftIps: Float64Array;
  readonly rightIps: Float64Array;
}

export function widthsOf(x: Float64Array, peaks: Uint32Array, relHeight: number, known: Prominences): Widths {
  const { prominences, leftBases, rightBases } = known;
  const widthHeights = Float64Array.from(peaks, (peak, k) => x[peak]! - prominences[k]! * relHeight);
  const crossing = (k: number, step: 1 | -1) => {
    const [end, height] = [(step < 0 ? leftBases : rightBases)[k]!, widthHeights[k]!];
    let at = peaks[k]!;
    while (at !== end && height < x[at]!) at += step;
    return x[at]! < height ? at - (step * (height - x[at]!)) / (x[at - step]! - x[at]!) : at;
  };
  const leftIps = Float64Array.from(peaks, (_, k) => crossing(k, -1));
  const rightIps = Float64Array.from(peaks, (_, k) => crossing(k, 1));
  return { widths: rightIps.map((right, k) => right - leftIps[k]!), widthHeights, leftIps, rightIps };
}

/** The number of samples to search on either side, for a window length. @throws FftError `invalid-argument` */
export function searchReach(wlen: number | undefined): number | undefined {
  if (wlen === undefined) return undefined;
  check('wlen', wlen, Number.isFinite(wlen) && wlen > 1, 'a number over 1');
  return Math.floor(Math.ceil(wlen) / 2);
}

/** One signal, as doubles. @throws FftError `wrong-length`, and the errors of arrays */
export function signalOf(given: ArrayInput): Float64Array {
  const { data, shape } = realArray(given, 'x');
  if (shape.length === 1) return Float64Array.from(data);
  throw new FftError('wrong-length', `x has ${shape.length} axes; peaks are looked for in one signal.`, { path: 'x' });
}

function peaksIn(given: ArrayLike<number>, samples: number): Uint32Array {
  const isList = Array.isArray(given) || ArrayBuffer.isView(given);
  check('peaks', given, isList, 'a list of samples');
  return Uint32Array.from(given, (peak) => {
    check(
      'peaks',
      peak,
      Number.isInteger(peak) && peak >= 0 && peak < samples,
      `samples of x, from 0 to ${samples - 1}`,
    );
    return peak;
  });
}

export interface PeakWindow {
  /** Window in samples around a peak, more than 1; default the whole signal. */
  readonly wlen?: number | undefined;
}

/**
 * Prominences of peaks: the least descent from a peak that is needed to reach higher ground.
 *
 * @param x real, one signal
 * @param peaks samples of it, as `findPeaks` gives them; a sample that is not a peak has the prominence 0
 * @throws FftError `invalid-argument`, `unknown-field`, `wrong-array-type`, `wrong-length`, `detached-array`
 */
export function peakProminences(x: ArrayInput, peaks: ArrayLike<number>, options: PeakWindow = {}): Prominences {
  const { wlen } = readOptions(options, { works: ['wlen'] }, 'peakProminences');
  const reach = searchReach(wlen);
  const signal = signalOf(x);
  return sortedProminences(signal, peaksIn(peaks, signal.length), reach);
}

/** Prominences of peaks in any order. */
function sortedProminences(x: Float64Array, peaks: Uint32Array, reach: number | undefined): Prominences {
  const unique = Uint32Array.from(new Set(peaks)).sort();
  const found = prominencesOf(x, unique, reach);
  const place = new Map(Array.from(unique, (peak, k) => [peak, k]));
  const pick =
    <T extends Float64Array | Uint32Array>(values: T) =>
    (k: number) =>
      values[place.get(peaks[k]!)!]!;
  return {
    prominences: Float64Array.from({ length: peaks.length }, (_, k) => pick(found.prominences)(k)),
    leftBases: Uint32Array.from({ length: peaks.length }, (_, k) => pick(found.leftBases)(k)),
    rightBases: Uint32Array.from({ length: peaks.length }, (_, k) => pick(found.rightBases)(k)),
  };
}

export interface PeakWidthOptions extends PeakWindow {
  /** Depth at which widths are measured, as a fraction of the prominence; default 0.5. */
  readonly relHeight?: number | undefined;
}

/** Widths of peaks, in samples. @throws FftError as `peakProminences` */
export function peakWidths(x: ArrayInput, peaks: ArrayLike<number>, options: PeakWidthOptions = {}): Widths {
  const { wlen, relHeight = 0.5 } = readOptions(options, { works: ['wlen', 'relHeight'] }, 'peakWidths');
  const reach = searchReach(wlen);
  checkRelHeight(relHeight);
  const signal = signalOf(x);
  const own = peaksIn(peaks, signal.length);
  return widthsOf(signal, own, relHeight, sortedProminences(signal, own, reach));
}

export function checkRelHeight(relHeight: number): void {
  check('relHeight', relHeight, Number.isFinite(relHeight) && relHeight >= 0, 'a number from 0 on');
}
