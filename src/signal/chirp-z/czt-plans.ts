/** Chirp z-transforms that are planned once and called many times, as SciPy's `CZT` and `ZoomFFT`. */
import { dispose } from '../../engine/arguments/memory.ts';
import { readOptions } from '../../engine/arguments/options.ts';
import type { ArrayInput, ComplexArray } from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError, show } from '../../problem/errors.ts';
import { checkWord } from '../arguments/check.ts';
import type { FloatPrecision } from '../arguments/floats.ts';
import { ChirpPlan } from './chirp-plan.ts';
import { checkSpiral } from './chirp-tables.ts';
import {
  type Curve,
  type CurveOptions,
  curveOf,
  type FrequencyRange,
  pointArray,
  type ZoomOptions,
  zoomCurve,
} from './curve.ts';

/** Options of `cztPlan` and `zoomFftPlan`. */
interface ChirpPlanOptions<P extends FloatPrecision> extends DeviceChoice {
  /** Number of input points. */
  readonly n: number;
  /** Number of output points; default n. */
  readonly m?: number | undefined;
  /** Precision of the arithmetic and of the result; default `single`. */
  readonly precision?: P | undefined;
  /** Number of transforms that run at once; an array with more lines takes several rounds. Default 1. */
  readonly batches?: number | undefined;
}

export interface CztPlanOptions<P extends FloatPrecision = FloatPrecision> extends ChirpPlanOptions<P>, CurveOptions {}

export interface ZoomFftPlanOptions<P extends FloatPrecision = FloatPrecision>
  extends ChirpPlanOptions<P>,
    ZoomOptions {}

/** A transform to be called many times. `destroy` it when it is no longer needed. */
export interface CztPlan<P extends FloatPrecision = FloatPrecision> {
  readonly n: number;
  readonly m: number;
  readonly precision: P;
  readonly batches: number;
  /**
   * Transforms all lines along an axis (default the last), which has n points; they become m.
   *
   * @param x real or complex; of single precision, or of the precision of the plan. It must stay as it is until the
   *   promise resolves. Calls may overlap: they run in order.
   * @throws FftError (as a rejection) `destroyed`, `unknown-field`, `invalid-argument`, `wrong-array-type`,
   *   `wrong-length`, `detached-array`, `out-of-memory`, and the errors of a device
   */
  transform(
    x: ArrayInput,
    options?: { readonly axis?: number | undefined },
  ): Promise<ComplexArray<P extends 'single' ? 'complex64' : 'complex128'>>;
  /** The points z of the transform: complex128 of shape `[m]`. @throws FftError `out-of-memory` */
  points(): ComplexArray<'complex128'>;
  /** Frees its memory when the calls made so far have ended. A second call does nothing. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [dispose](): void;
}

const CZT = ['n', 'm', 'w', 'a', 'device', 'precision', 'batches'];
const ZOOM = ['n', 'm', 'fs', 'endpoint', 'device', 'precision', 'batches'];

/**
 * A chirp z-transform to be called many times: tables are computed once, in double-double, and memory is kept.
 *
 * @param options `n` points in, `m` out (default n), `w` and `a` as in `czt`, `precision` (default `'single'`), `batches`
 *   that run at once (default 1), `device` (default a CPU device that all share)
 * @throws FftError (as a rejection) `unknown-field`, `invalid-size`, `invalid-batches`, `invalid-argument`,
 *   `unsupported-length`, `out-of-memory`, and the errors of `device.plan`
 */
export async function planCzt<P extends FloatPrecision = 'single'>(options: CztPlanOptions<P>): Promise<CztPlan<P>> {
  const own = readOptions(options, { works: CZT }, 'planCzt');
  return planned(own, (m) => curveOf(m, own));
}

/** A plan for `zoomFft`, otherwise like the one for `czt`: options `n`, `m`, `fs`, `endpoint`, `precision`, `batches`, `device`. */
export async function planZoomFft<P extends FloatPrecision = 'single'>(
  fn: FrequencyRange,
  options: ZoomFftPlanOptions<P>,
): Promise<CztPlan<P>> {
  const own = readOptions(options, { works: ZOOM }, 'planZoomFft');
  return planned(own, (m) => zoomCurve(m, fn, own));
}

async function planned<P extends FloatPrecision>(
  options: ChirpPlanOptions<P>,
  curveFor: (m: number) => Curve,
): Promise<CztPlan<P>> {
  const chosen = checkDevice(options.device);
  const { batches = 1 } = options;
  const precision = checkPrecision(options.precision ?? 'single');
  if (!(Number.isSafeInteger(batches) && batches >= 1)) {
    throw new FftError('invalid-batches', `batches is ${show(batches)}; it must be a positive integer.`, {
      path: 'batches',
    });
  }
  const n = checkLength(options.n, 'n');
  const m = checkLength(options.m ?? n, 'm');
  const curve = curveFor(m);
  const problem = { n, m, curve, precision, batches };
  checkSpiral(problem);
  const plan = await ChirpPlan.make(problem, chosen ?? (await sharedDevice()));
  return Object.freeze<CztPlan<P>>({
    ...{ n, m, precision: precision as P, batches },
    async transform(x, choice) {
      const axis = choice === undefined ? undefined : readOptions(choice, { works: ['axis'] }, 'transform').axis;
      return (await plan.transform(x, axis)) as never;
    },
    points: () => pointArray(curve, m),
    destroy: () => plan.destroy(),
    [dispose]: () => plan.destroy(),
  });
}

function checkPrecision(given: FloatPrecision): FloatPrecision {
  return checkWord<FloatPrecision>('precision', given, ['single', 'double']);
}
