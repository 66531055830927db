/**
 * Chirp z-transforms: sums Σ x(j)·z^−j at points along a spiral of the complex plane, or along an arc of the unit circle,
 * which is a transform of any length with any resolution over any range of frequencies.
 *
 * Names and meanings are those of `scipy.signal.czt`, `zoom_fft`, `CZT`, `ZoomFFT` and `czt_points` (SciPy's reference
 * manual). chirp-tables.ts has the algorithm.
 */

import { readOptions } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import type { ArrayInput, ComplexArray, NumpyArray, Transformed } from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { PlanCache } from '../../numpy/calls/plans.ts';
import { FftError } from '../../problem/errors.ts';
import { type Lines, linesAlong } from '../arguments/lines.ts';
import { type PreparedCall, PreparedCalls } from '../calls/prepared-calls.ts';
import { ChirpPlan } from './chirp-plan.ts';
import { type ChirpProblem, checkSpiral, circleOf } from './chirp-tables.ts';
import {
  type Curve,
  type CurveOptions,
  curveOf,
  type FrequencyRange,
  pointArray,
  type ZoomOptions,
  zoomCurve,
} from './curve.ts';

/** Options of `czt` and `zoomFft`. */
interface CurveTransform extends DeviceChoice {
  /** Number of output points; default: the number of input points. */
  readonly m?: number | undefined;
  /** Axis to transform; default −1, the last. */
  readonly axis?: number | undefined;
}

export interface CztOptions extends CurveTransform, CurveOptions {}

export interface ZoomFftOptions extends CurveTransform, ZoomOptions {}

const CZT = ['m', 'w', 'a', 'axis', 'device'];
const ZOOM = ['m', 'fs', 'endpoint', 'axis', 'device'];

/**
 * The chirp z-transform along an axis: X(k) = Σ x(j)·z(k)^−j at m points z(k) = a·w^−k.
 *
 * Without options it is the Fourier transform. Accuracy is that of transforms where |w| = 1; on a spiral it is relative to
 * the largest of the terms |x(j)·a^−j·w^(j·k)|, so that small results beside large ones lose digits.
 *
 * @param x an array as `omnifft/numpy` takes them: a bare typed array is one real signal. It must stay as it is until the
 *   promise resolves.
 * @param options `m`, `w`, `a` (numbers, or `{ re, im }`), `axis` and the `device` to work on: by default a CPU device that
 *   all calls share. Plans are kept for the next call.
 * @returns complex64 for arrays of single precision, else complex128; the axis has m points
 * @throws FftError (as a rejection) `unknown-field`, `invalid-size` (m, or an axis without points), `invalid-argument`
 *   (w or a that is 0 or not finite, or whose powers leave the range of numbers; axis; device), `wrong-array-type`,
 *   `wrong-length`, `detached-array`, `unsupported-length` (more than 2^24 points in and out together), `out-of-memory`,
 *   and the errors of `device.plan`
 */
export async function czt<X extends ArrayInput>(x: X, options: CztOptions = {}): Promise<Transformed<X>> {
  return (await transformAlongCurve(calls.czt.read([x], options))) as Transformed<X>;
}

/**
 * The spectrum of a range of frequencies, along an axis: a part of the unit circle, as finely as asked for.
 *
 * @param fn the range [f1, f2] in the unit of `fs`, from −fs to fs, f1 < f2; one number f is the range [0, f].
 * @param options `m` points from f1 on, (f2 − f1)/m apart, or with `endpoint` (f2 − f1)/(m − 1), so that the last is f2;
 *   `fs`, the samples a second (2 by default, so that 1 is the Nyquist frequency); `axis` and `device` as in `czt`.
 * @returns as `czt`
 * @throws FftError (as a rejection) as `czt`; `invalid-argument` also for a range that is none or does not go with `fs`
 */
export async function zoomFft<X extends ArrayInput>(
  x: X,
  fn: FrequencyRange,
  options: ZoomFftOptions = {},
): Promise<Transformed<X>> {
  return (await transformAlongCurve(calls.zoomFft.read([x], options, [fn]))) as Transformed<X>;
}

/**
 * The points z(k) = a·w^−k at which `czt` evaluates, to the last place of a double.
 *
 * @returns complex128 of shape `[m]`
 * @throws FftError `invalid-size`, `invalid-argument`, `unknown-field`, `out-of-memory`
 */
export function cztPoints(m: number, options: CurveOptions = {}): ComplexArray<'complex128'> {
  checkLength(m, 'm');
  return pointArray(curveOf(m, readOptions(options, { works: ['w', 'a'] }, 'cztPoints')), m);
}

/** The most points of all batches that are transformed at once: enough to keep the device busy, in little memory. */
const POINTS_AT_ONCE = 2 ** 20;

/** A prepared call. */
interface ChirpJob {
  readonly problem: ChirpProblem;
  /** The name of its plan among kept plans. */
  readonly key: string;
  readonly lines: Pick<Lines, 'axis' | 'inner' | 'count'>;
}

function chirpJob([array]: readonly NumpyArray[], own: CurveTransform, curveFor: (m: number) => Curve): ChirpJob {
  const { axis, n, inner, count, precision } = linesAlong(array!, own.axis ?? -1);
  const m = checkLength(own.m ?? n, 'm');
  const batches = Math.max(1, Math.min(count, Math.floor(POINTS_AT_ONCE / circleOf({ n, m }))));
  const problem = { n, m, curve: curveFor(m), precision, batches };
  checkSpiral(problem);
  return { problem, key: JSON.stringify(problem), lines: { axis, inner, count } };
}

const calls = {
  czt: /* @__PURE__ */ new PreparedCalls<CztOptions, ChirpJob>({
    ...{ name: 'czt', works: CZT },
    prepare: (arrays, own) => chirpJob(arrays, own, (m) => curveOf(m, own)),
  }),
  zoomFft: /* @__PURE__ */ new PreparedCalls<ZoomFftOptions, ChirpJob>({
    ...{ name: 'zoomFft', works: ZOOM },
    prepare: (arrays, own, [fn]) => chirpJob(arrays, own, (m) => zoomCurve(m, fn as FrequencyRange, own)),
  }),
};

async function transformAlongCurve({ arrays, job, device: chosen }: PreparedCall<ChirpJob>): Promise<ComplexArray> {
  const { problem, key } = job;
  const lines = { array: arrays[0]!, ...job.lines };
  const device = chosen ?? (await sharedDevice());
  const plans = chirpPlansOn(device);
  const lease = plans.take(problem, key);
  try {
    return await (await lease.plan).transformLines(lines);
  } catch (error) {
    plans.forget(lease);
    if (!(error instanceof FftError && error.code === 'destroyed')) throw error;
  } finally {
    plans.give(lease);
  }
  // Closing a device destroys its plans; a closed device reports that when it is asked for a new plan.
  const plan = await ChirpPlan.make(problem, device);
  try {
    return await plan.transformLines(lines);
  } finally {
    plan.destroy();
  }
}

type ChirpPlans = PlanCache<ChirpProblem, Promise<ChirpPlan>>;

/** Kept transforms of each device; they are released with the device. */
const plansOf = new WeakMap<Device, ChirpPlans>();

function chirpPlansOn(device: Device): ChirpPlans {
  let plans = plansOf.get(device);
  if (!plans) {
    plans = new PlanCache({
      make: (problem) => ChirpPlan.make(problem, device),
      destroy: (plan) => plan.then((made) => made.destroy()).catch(() => undefined),
      bytesOf: ({ precision, batches, ...rest }) => circleOf(rest) * (batches + 3) * (precision === 'single' ? 8 : 16),
    });
    plansOf.set(device, plans);
  }
  return plans;
}
