/** Peaks of a signal, selected by their properties, as `scipy.signal.find_peaks`. */
import { readOptions } from '../../engine/arguments/options.ts';
import type { ArrayInput } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { check } from '../arguments/check.ts';
import { type Floats, isFloats, liveSamples } from '../arguments/floats.ts';
import { checkRelHeight, plateausOf, prominencesOf, searchReach, signalOf, widthsOf } from './peak-shapes.ts';

/** A bound: a number, one for each sample of the signal, or none. */
export type PeakBound = number | Float32Array | Float64Array | null;

/** The least value, or the least and the most. */
export type PeakInterval = PeakBound | readonly [least: PeakBound, most: PeakBound];

export interface FindPeaksOptions {
  /** Bounds on the peaks' values. */
  readonly height?: PeakInterval | undefined;
  /** Bounds on the height above the samples right beside a peak, on both sides. */
  readonly threshold?: PeakInterval | undefined;
  /** Least distance between two peaks in samples, from 1 on: lower peaks are removed first. */
  readonly distance?: number | undefined;
  /** Bounds on the prominence: see `peakProminences`. */
  readonly prominence?: PeakInterval | undefined;
  /** Bounds on the width, in samples: see `peakWidths`. */
  readonly width?: PeakInterval | undefined;
  /** Window in samples around a peak for its prominence; default the whole signal. */
  readonly wlen?: number | undefined;
  /** Height at which widths are measured, as a fraction of the prominence; default 0.5. */
  readonly relHeight?: number | undefined;
  /** Bounds on the length of a flat top, in samples. */
  readonly plateauSize?: PeakInterval | undefined;
}

/** Properties of the peaks found: for each condition given, the quantities that it was tested on. */
export interface PeakProperties {
  readonly plateauSizes?: Float64Array;
  readonly leftEdges?: Uint32Array;
  readonly rightEdges?: Uint32Array;
  readonly peakHeights?: Float64Array;
  readonly leftThresholds?: Float64Array;
  readonly rightThresholds?: Float64Array;
  readonly prominences?: Float64Array;
  readonly leftBases?: Uint32Array;
  readonly rightBases?: Uint32Array;
  readonly widths?: Float64Array;
  readonly widthHeights?: Float64Array;
  readonly leftIps?: Float64Array;
  readonly rightIps?: Float64Array;
}

export interface Peaks {
  /** Samples of the peaks, in increasing order: for a flat top the middle one. */
  readonly peaks: Uint32Array;
  readonly properties: PeakProperties;
}

const WORKS = ['height', 'threshold', 'distance', 'prominence', 'width', 'wlen', 'relHeight', 'plateauSize'];

/**
 * Samples that are higher than those beside them, and meet conditions. Options, defaults, the order in which they are tried, and results are those of
 * `scipy.signal.find_peaks`; signals with NaN have no peaks beside it.
 *
 * @param x real, one signal
 * @throws FftError `invalid-argument` for conditions that are no numbers or out of range, `wrong-length` for bounds that are not as many as
 *   samples, or more than one axis, `unknown-field`, `wrong-array-type`, `detached-array`, `out-of-memory`
 */
export function findPeaks(x: ArrayInput, options: FindPeaksOptions = {}): Peaks {
  const own = readOptions(options, { works: WORKS }, 'findPeaks', 2);
  const signal = signalOf(x);
  const interval = (key: 'height' | 'threshold' | 'prominence' | 'width' | 'plateauSize') =>
    own[key] === undefined ? undefined : readInterval(own[key], key, signal.length);
  const intervals = {
    ...{ height: interval('height'), threshold: interval('threshold'), prominence: interval('prominence') },
    ...{ width: interval('width'), plateauSize: interval('plateauSize') },
  };
  const { distance, relHeight = 0.5 } = own;
  check('distance', distance, distance === undefined || distance >= 1, 'a number from 1 on');
  checkRelHeight(relHeight);
  const reach = searchReach(own.wlen);
  const { leftEdges, rightEdges, peaks } = plateausOf(signal);
  let found: Peaks = { peaks, properties: {} };
  if (intervals.plateauSize) {
    const plateauSizes = Float64Array.from(peaks, (_, k) => rightEdges[k]! - leftEdges[k]! + 1);
    found = kept(found, { plateauSizes, leftEdges, rightEdges }, intervals.plateauSize, plateauSizes);
  }
  if (intervals.height) {
    const peakHeights = Float64Array.from(found.peaks, (peak) => signal[peak]!);
    found = kept(found, { peakHeights }, intervals.height, peakHeights);
  }
  if (intervals.threshold) found = selectByThreshold(signal, found, intervals.threshold);
  if (distance !== undefined) found = selectByDistance(signal, found, Math.ceil(distance));
  if (intervals.prominence || intervals.width) {
    const known = prominencesOf(signal, found.peaks, reach);
    found = kept(found, { ...known }, intervals.prominence ?? everything, known.prominences);
  }
  if (!intervals.width) return found;
  const { prominences, leftBases, rightBases } = found.properties;
  const known = { prominences: prominences!, leftBases: leftBases!, rightBases: rightBases! };
  const shapes = widthsOf(signal, found.peaks, relHeight, known);
  return kept(found, { ...shapes }, intervals.width, shapes.widths);
}

/** Bounds for the peak at a sample. */
interface Interval {
  readonly least: (sample: number) => number;
  readonly most: (sample: number) => number;
}

const everything: Interval = { least: () => Number.NEGATIVE_INFINITY, most: () => Number.POSITIVE_INFINITY };

/** @throws FftError `invalid-argument`, `wrong-length` */
function readInterval(given: PeakInterval, path: string, samples: number): Interval {
  const isPair = Array.isArray(given);
  if (isPair) check(path, given, given.length === 2, 'a number, or the least and the most');
  const [least, most] = (isPair ? given : [given, null]) as readonly [PeakBound, PeakBound];
  return {
    least: readBound(least, path, samples, Number.NEGATIVE_INFINITY),
    most: readBound(most, path, samples, Number.POSITIVE_INFINITY),
  };
}

function readBound(given: PeakBound, path: string, samples: number, none: number): (sample: number) => number {
  if (given === null || given === undefined) return () => none;
  if (arrayClass(given) === undefined) {
    check(
      path,
      given,
      typeof given === 'number' && !Number.isNaN(given),
      'a number, a list of two, or one for each sample',
    );
    return () => given as number;
  }
  check(path, given, isFloats(given), 'a Float32Array or a Float64Array of bounds');
  const bounds = Float64Array.from(liveSamples(given as Floats, path));
  if (bounds.length === samples) return (sample) => bounds[sample]!;
  const message = `${path} has ${bounds.length} bounds; the signal has ${samples} samples, each of which takes one.`;
  throw new FftError('wrong-length', message, { path });
}

/** The peaks whose value is in an interval, with new properties added. */
function kept(found: Peaks, more: PeakProperties, { least, most }: Interval, values: Float64Array): Peaks {
  const { peaks, properties } = found;
  return picked({ peaks, properties: { ...properties, ...more } }, (k) => {
    return least(peaks[k]!) <= values[k]! && values[k]! <= most(peaks[k]!);
  });
}

function picked({ peaks, properties }: Peaks, isKept: (k: number) => boolean): Peaks {
  const keep = Array.from(peaks, (_, k) => isKept(k));
  const pick = <T extends Float64Array | Uint32Array>(values: T) => values.filter((_, k) => keep[k]) as T;
  const entries = Object.entries(properties as Record<string, Float64Array>).map(([name, values]) => [
    name,
    pick(values),
  ]);
  return { peaks: pick(peaks), properties: Object.fromEntries(entries) as PeakProperties };
}

function selectByThreshold(x: Float64Array, { peaks, properties }: Peaks, { least, most }: Interval): Peaks {
  const over = (step: 1 | -1) => Float64Array.from(peaks, (peak) => x[peak]! - x[peak + step]!);
  const [leftThresholds, rightThresholds] = [over(-1), over(1)];
  return picked({ peaks, properties: { ...properties, leftThresholds, rightThresholds } }, (k) => {
    const [left, right] = [leftThresholds[k]!, rightThresholds[k]!];
    return least(peaks[k]!) <= Math.min(left, right) && Math.max(left, right) <= most(peaks[k]!);
  });
}

/** Removes peaks that are too near to a higher one, beginning with the highest. */
function selectByDistance(x: Float64Array, found: Peaks, distance: number): Peaks {
  const { peaks } = found;
  const keep = new Uint8Array(peaks.length).fill(1);
  const order = Array.from(peaks, (_, k) => k).sort((a, b) => x[peaks[a]!]! - x[peaks[b]!]! || a - b);
  for (const k of order.reverse()) {
    if (!keep[k]) continue;
    for (let j = k - 1; j >= 0 && peaks[k]! - peaks[j]! < distance; j--) keep[j] = 0;
    for (let j = k + 1; j < peaks.length && peaks[j]! - peaks[k]! < distance; j++) keep[j] = 0;
  }
  return picked(found, (k) => keep[k] === 1);
}
