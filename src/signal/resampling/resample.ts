/** Resampling by transforms, as `scipy.signal.resample`. */

import type { Device, Plan } from '../../engine/index.ts';
import type { ArrayInput, DtypeOf, NumpyArray, ShapeOf } from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { check } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';
import type { Floats } from '../arguments/floats.ts';
import {
  geometryOf,
  type LineGeometry,
  type Lines,
  linesAlong,
  linesOfArray,
  newLines,
  readLine,
  writeLine,
} from '../arguments/lines.ts';
import { called, type PlanRequest, planRequest, type Workplace, withWorkplace } from '../calls/plans.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import { placesFor, reaching, type WorkMemory, workOn } from '../calls/work.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { type WindowArguments, type WindowOptions, windowFunction } from '../windows/windows.ts';

export interface ResampleOptions extends DeviceChoice {
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /**
   * Factors of the spectrum: a window by its name, with its middle at frequency 0, or one value for each bin of the signal, from frequency 0 on,
   * negative frequencies last.
   */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window given by name. */
  readonly windowOptions?: WindowOptions | undefined;
}

/** The result: an array of x's type, with another length along an axis. */
export type Resampled<X extends ArrayInput> = NumpyArray<DtypeOf<X>, ShapeOf<X>>;

/** The most numbers in one batch. */
const POINTS_AT_ONCE = 2 ** 20;

/**
 * The band-limited, periodic signal through all samples of x, at `num` points of the same period: its spectrum cut off or filled up with
 * zeros. The bin at half the lower rate, where that has an even number of samples, stands for both signs of its frequency. As
 * `scipy.signal.resample` of signals in time.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @param num samples of the result along the axis: the one at k is at k/num of the period
 * @throws FftError (as a rejection) `invalid-size` for a length, `invalid-argument` for options out of range, `unknown-field`,
 *   `wrong-array-type`, `wrong-length` for a window of another length, `detached-array`, `out-of-memory`, and the errors of
 *   `device.plan`
 */
export async function resample<X extends ArrayInput>(
  x: X,
  num: number,
  options: ResampleOptions = {},
): Promise<Resampled<X>> {
  const { arrays, job, device } = calls.read([x], options, [num]);
  const lines = linesOfArray(job.lines, arrays[0]!);
  return (await resampled(lines, job, device ?? (await sharedDevice()))) as Resampled<X>;
}

/** Factors on the bins, one for each number of them. */
function binWeights({ window, windowOptions }: ResampleOptions, { n, complex }: Lines): Float64Array | undefined {
  if (window === undefined) return undefined;
  const isArray = arrayClass(window) !== undefined;
  if (isArray) check('window', window, windowOptions === undefined, 'no windowOptions beside values');
  const given = isArray
    ? realCoefficients(window as Float64Array, 'window')
    : windowFunction(window as WindowName, n, ...([windowOptions] as WindowArguments<WindowName>));
  if (isArray) check('window', window, given.length === n, `${n} values, as many as the signal has samples`);
  const half = Math.floor(n / 2);
  const at = (bin: number) => given[isArray ? bin : (bin + half) % n]!;
  if (complex) return Float64Array.from({ length: n }, (_, bin) => at(bin));
  // A bin of a real signal stands for both signs of its frequency.
  return Float64Array.from({ length: half + 1 }, (_, bin) => (bin === 0 ? at(0) : (at(bin) + at(n - bin)) / 2));
}

interface ResampleJob {
  readonly lines: LineGeometry;
  readonly num: number;
  readonly weights: Float64Array | undefined;
  readonly batches: number;
  /** Numbers from the spectrum of one line to the next: the longer spectrum's length. */
  readonly row: number;
  readonly forward: PlanRequest;
  readonly inverse: PlanRequest;
}

const calls = /* @__PURE__ */ new PreparedCalls<ResampleOptions, ResampleJob>({
  ...{ name: 'resample', works: ['axis', 'window', 'windowOptions', 'device'], levels: 3 },
  prepare: ([x], own, [num]) => {
    checkLength(num as number, 'num');
    const lines = linesAlong(x!, own.axis ?? -1);
    return resampleJob(lines, num as number, binWeights(own, lines));
  },
  bytesOf: ({ weights }) => 8 * (weights?.length ?? 0),
});

/** Both plans work on the same spectra: they share the first bins; the other bins stay zero or are not read. */
function resampleJob(lines: Lines, num: number, weights: Float64Array | undefined): ResampleJob {
  const { n, complex, precision, count } = lines;
  const rounds = Math.ceil(count / Math.max(1, Math.floor(POINTS_AT_ONCE / Math.max(n, num))));
  const batches = Math.ceil(count / rounds);
  const bins = (length: number) => (complex ? length : Math.floor(length / 2) + 1);
  const row = Math.max(bins(n), bins(num));
  const strides = { output: [1, 1, row] };
  const common = { batches, precision, strides, transform: complex ? 'c2c' : 'r2c' } as const;
  const forward = planRequest({ ...common, size: [n], directions: 'forward', scale: { forward: 1 / n } });
  const inverse = planRequest({ ...common, size: [num], directions: 'inverse' });
  // The memory of one plan is used by the other.
  const key = `${forward.key} to ${num}`;
  return { lines: geometryOf(lines), num, weights, batches, row, forward: { ...forward, key }, inverse };
}

type ResamplePlace = Workplace & Record<'from' | 'bins' | 'to', WorkMemory>;

function resampleMemory(
  device: Device,
  { n, complex, precision }: Lines,
  { num, batches, row }: ResampleJob,
): ResamplePlace {
  const parts = complex ? 2 : 1;
  const lengths = { from: n * parts * batches, bins: 2 * row * batches, to: num * parts * batches };
  const places = placesFor(lengths, (length) => workOn(device, length, precision));
  return { ...places, free: () => Object.values(places).forEach((memory) => memory.free()) };
}

function resampled(lines: Lines, job: ResampleJob, device: Device): Promise<NumpyArray> {
  const { num, weights, batches, row, forward, inverse } = job;
  const { n, complex, count } = lines;
  const parts = complex ? 2 : 1;
  // The part of the memory that lines of a length reach.
  const reach = (length: number) => 2 * ((batches - 1) * row + (complex ? length : Math.floor(length / 2) + 1));
  const make = () => resampleMemory(device, lines, job);
  const use = async (there: Plan, { from, bins, to }: ResamplePlace, [back]: readonly Plan[]) => {
    // Tables are made after the plans: the device refuses lengths that are too long.
    const result = newLines(lines, num, complex);
    for (let first = 0; first < count; first += batches) {
      const some = Math.min(batches, count - first);
      const waves = from.array();
      for (let k = 0; k < some; k++) readLine(lines, first + k, waves, k * n * parts);
      waves.fill(0, some * n * parts);
      const spectra = called(there, 'forward', from.data, reaching(bins, reach(n)));
      if (spectra) await spectra;
      for (let k = 0; k < some; k++) {
        const spectrum = bins.array().subarray(2 * k * row, 2 * (k + 1) * row);
        if (weights) weigh(spectrum, weights);
        if (complex) changeBoth(spectrum, n, num);
        else changeHalf(spectrum, n, num);
      }
      const signals = called(back!, 'inverse', reaching(bins, reach(num)), to.data);
      if (signals) await signals;
      for (let k = 0; k < some; k++) writeLine(result, first + k, to.array(), k * num * parts);
    }
    return result.array;
  };
  return withWorkplace(device, forward, make, use, [inverse]);
}

function weigh(spectrum: Floats, weights: Float64Array): void {
  for (let bin = 0; bin < weights.length; bin++) {
    spectrum[2 * bin]! *= weights[bin]!;
    spectrum[2 * bin + 1]! *= weights[bin]!;
  }
}

/**
 * The spectrum of a real line of n samples, followed by zeros, as the spectrum of a line of m samples. The last bin of an even length stands for both
 * signs of its frequency.
 */
export function changeHalf(spectrum: Floats, n: number, m: number): void {
  const least = Math.min(n, m);
  if (least % 2 === 0 && n !== m) for (const part of [least, least + 1]) spectrum[part]! *= m < n ? 2 : 0.5;
}

/** The spectrum of a complex line of n samples as that of a line of m samples: negative frequencies are moved to the end. */
export function changeBoth(spectrum: Floats, n: number, m: number): void {
  if (n === m) return;
  const least = Math.min(n, m);
  const positive = Math.floor(least / 2) + 1;
  const negative = least - positive;
  // The bin at half the rate stands at two positions of the longer spectrum.
  const half = least % 2 === 0 ? spectrum.slice(least, least + 2) : undefined;
  const other = half && m < n ? spectrum.slice(2 * n - least, 2 * n - least + 2) : undefined;
  spectrum.copyWithin(2 * (m - negative), 2 * (n - negative), 2 * n);
  if (m > n) spectrum.fill(0, 2 * positive, 2 * (m - negative));
  if (!half) return;
  for (const part of [0, 1]) {
    if (other) spectrum[least + part] = half[part]! + other[part]!;
    else spectrum[least + part] = spectrum[2 * m - least + part] = half[part]! / 2;
  }
}
