/** Resampling by transforms, as `scipy.signal.resample`. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device, Plan } from '../engine/index.ts';
import { type ArrayInput, asArray, type DtypeOf, type NumpyArray, type ShapeOf } from '../numpy/array.ts';
import { checkLength } from '../numpy/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { arrayClass } from '../problem/bytes.ts';
import type { ProblemInput } from '../problem/index.ts';
import { check } from './check.ts';
import { realCoefficients } from './coefficients.ts';
import type { Floats } from './floats.ts';
import { type Lines, linesAlong, newLines, readLine, writeLine } from './lines.ts';
import { type Workplace, withWorkplace } from './plans.ts';
import type { WindowName } from './window-kinds.ts';
import { type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';
import { unfilledOn, type WorkMemory } from './work.ts';

export interface ResampleOptions extends DeviceChoice {
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
  /**
   * What the spectrum is multiplied by before: a window by its name, with its middle at frequency 0, or one value for each bin of the
   * signal, that of frequency 0 first and those of negative frequencies last.
   */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window that is named. */
  readonly windowOptions?: WindowOptions | undefined;
}

/** Of the type of x, with another length along an axis. */
export type Resampled<X extends ArrayInput> = NumpyArray<DtypeOf<X>, ShapeOf<X>>;

/** Numbers in one batch, at most. */
const POINTS_AT_ONCE = 2 ** 20;

/**
 * The band-limited, periodic signal through all samples of x, at `num` points of the same period: its spectrum cut off or filled up with
 * zeros. The bin at half the lower rate, where that has an even number of samples, stands for both signs of its frequency. As
 * `scipy.signal.resample` of signals in time.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @param num samples of the result along the axis: the one at k is at k/num of the period
 * @throws FftError (as a rejection) `invalid-size` for a length, `invalid-argument` for options out of range, `unknown-field`,
 *   `wrong-array-type`, `wrong-length` for a window of another length, `detached-array`, `out-of-memory`, and those of
 *   `device.plan`
 */
export async function resample<X extends ArrayInput>(
  x: X,
  num: number,
  options: ResampleOptions = {},
): Promise<Resampled<X>> {
  const own = readOptions(options, { works: ['axis', 'window', 'windowOptions', 'device'] }, 'resample', 3);
  const device = checkDevice(own.device);
  checkLength(num, 'num');
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const weights = binWeights(own, lines);
  return (await resampled({ lines, num, weights }, device ?? (await sharedDevice()))) as Resampled<X>;
}

/** Factors on the bins that there are, one for each number of them. */
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
  // A bin of a real signal is also that of the other sign.
  return Float64Array.from({ length: half + 1 }, (_, bin) => (bin === 0 ? at(0) : (at(bin) + at(n - bin)) / 2));
}

interface ResampleJob {
  readonly lines: Lines;
  readonly num: number;
  readonly weights: Float64Array | undefined;
}

/** Memory for the samples and the bins of one plan. */
interface Spectra extends Workplace {
  readonly waves: WorkMemory;
  readonly bins: WorkMemory;
}

function spectraOn(
  device: Device,
  { lines: { complex, precision } }: ResampleJob,
  n: number,
  batches: number,
): Spectra {
  const [samples, numbers] = complex ? [2 * n, 2 * n] : [n, 2 * (Math.floor(n / 2) + 1)];
  const waves = unfilledOn(device, samples * batches, precision);
  try {
    const bins = unfilledOn(device, numbers * batches, precision);
    return {
      ...{ waves, bins },
      free() {
        waves.free();
        bins.free();
      },
    };
  } catch (error) {
    waves.free();
    throw error;
  }
}

async function resampled(job: ResampleJob, device: Device): Promise<NumpyArray> {
  const { lines, num } = job;
  const { n, complex, precision, count } = lines;
  const rounds = Math.ceil(count / Math.max(1, Math.floor(POINTS_AT_ONCE / Math.max(n, num))));
  const batches = Math.ceil(count / rounds);
  const common = { batches, precision, transform: complex ? 'c2c' : 'r2c' } as const;
  const forward: ProblemInput = { ...common, size: [n], directions: 'forward', scale: { forward: 1 / n } };
  const inverse: ProblemInput = { ...common, size: [num], directions: 'inverse' };
  return withWorkplace(
    device,
    forward,
    () => spectraOn(device, job, n, batches),
    (there, from) =>
      withWorkplace(
        device,
        inverse,
        () => spectraOn(device, job, num, batches),
        async (back, to) => {
          // Only now: the device knows which lengths are too long.
          const result = newLines(lines, num, complex);
          for (let first = 0; first < count; first += batches) {
            await round(job, { there, back, from, to, result, first, batches });
          }
          return result.array;
        },
      ),
  );
}

interface Round {
  readonly there: Plan;
  readonly back: Plan;
  readonly from: Spectra;
  readonly to: Spectra;
  readonly result: Lines;
  /** The first line, of so many. */
  readonly first: number;
  readonly batches: number;
}

async function round({ lines, num, weights }: ResampleJob, { there, back, from, to, result, first, batches }: Round) {
  const { n, complex, count } = lines;
  const some = Math.min(batches, count - first);
  const parts = complex ? 2 : 1;
  const waves = from.waves.array();
  for (let k = 0; k < some; k++) readLine(lines, first + k, waves, k * n * parts);
  waves.fill(0, some * n * parts);
  await there.forward(from.waves.array() as never, from.bins.array() as never);
  const [source, target] = [from.bins.array(), to.bins.array()];
  const [inLine, outLine] = [n, num].map((length) => 2 * (complex ? length : Math.floor(length / 2) + 1)) as [
    number,
    number,
  ];
  for (let k = 0; k < batches; k++) {
    const spectrum = source.subarray(k * inLine, (k + 1) * inLine);
    if (weights) for (let bin = 0; bin < inLine; bin++) spectrum[bin]! *= weights[bin >> 1]!;
    (complex ? moveBoth : moveHalf)(spectrum, n, target.subarray(k * outLine, (k + 1) * outLine), num);
  }
  await back.inverse(to.bins.array() as never, to.waves.array() as never);
  for (let k = 0; k < some; k++) writeLine(result, first + k, to.waves.array(), k * num * parts);
}

/** The bins of a real line of n samples as those of one of m. */
function moveHalf(from: Floats, n: number, to: Floats, m: number): void {
  const least = Math.min(n, m);
  const bins = Math.floor(least / 2) + 1;
  to.set(from.subarray(0, 2 * bins));
  to.fill(0, 2 * bins);
  if (least % 2 === 0 && n !== m) for (const part of [least, least + 1]) to[part]! *= m < n ? 2 : 0.5;
}

/** The same of a complex line. */
function moveBoth(from: Floats, n: number, to: Floats, m: number): void {
  const least = Math.min(n, m);
  const positive = Math.floor(least / 2) + 1;
  const negative = least - positive;
  to.fill(0);
  to.set(from.subarray(0, 2 * positive));
  to.set(from.subarray(2 * (n - negative)), 2 * (m - negative));
  if (least % 2 === 1 || n === m) return;
  const half = least / 2;
  for (const part of [0, 1]) {
    if (m < n) to[2 * half + part] = from[2 * half + part]! + from[2 * (n - half) + part]!;
    else to[2 * half + part] = to[2 * (m - half) + part] = from[2 * half + part]! / 2;
  }
}
