/** Analytic signals, as `scipy.signal.hilbert`. */

import type { Device, Plan } from '../../engine/index.ts';
import type { ArrayInput, NumpyArray, Transformed } from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import type { FloatPrecision, Floats } from '../arguments/floats.ts';
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

export interface HilbertOptions extends DeviceChoice {
  /** Length to which a line is cut or zero-padded, in samples; default its own length. */
  readonly n?: number | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

/** The most numbers in one batch. */
const POINTS_AT_ONCE = 2 ** 20;

/**
 * The analytic signal x + i · H(x), H being the Hilbert transform: the spectrum of x without its negative frequencies, and
 * twice its positive ones. Its absolute value is the envelope, its angle the phase. As `scipy.signal.hilbert`, whose `N` is
 * `n` here.
 *
 * @param x real, of any shape; it must stay as it is until the promise resolves. Single precision stays single.
 * @throws FftError (as a rejection) `wrong-array-type` for complex arrays too, `invalid-argument`, `unknown-field`,
 *   `invalid-size`, `wrong-length`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function hilbert<X extends ArrayInput>(x: X, options: HilbertOptions = {}): Promise<Transformed<X>> {
  const { arrays, job, device } = calls.read([x], options);
  const lines = linesOfArray(job.lines, arrays[0]!);
  return (await analytic(lines, job, device ?? (await sharedDevice()))) as unknown as Transformed<X>;
}

interface HilbertJob {
  readonly lines: LineGeometry;
  readonly n: number;
  readonly batches: number;
  readonly forward: PlanRequest;
  readonly inverse: PlanRequest;
}

const calls = /* @__PURE__ */ new PreparedCalls<HilbertOptions, HilbertJob>({
  ...{ name: 'hilbert', works: ['n', 'axis', 'device'] },
  prepare: ([x], own) => {
    const lines = linesAlong(x!, own.axis ?? -1);
    if (lines.complex) {
      const message = `x is ${lines.array.dtype}; the analytic signal is that of a real one, float32 or float64.`;
      throw new FftError('wrong-array-type', message, { path: 'x' });
    }
    return hilbertJob(lines, checkLength(own.n ?? lines.n, 'n'));
  },
});

/** Plans that transform real lines into the first half of complex lines, whose other half stays zero, and transform these back. */
function hilbertJob(lines: Lines, n: number): HilbertJob {
  const { count, precision } = lines;
  const batches = Math.max(1, Math.min(count, Math.floor(POINTS_AT_ONCE / n)));
  const common = { size: [n], batches, precision } as const;
  // A bin stands for both signs of its frequency, except for unpaired bins.
  const scale = { forward: 2 / n };
  const strides = { output: [1, 1, n] };
  return {
    ...{ lines: geometryOf(lines), n, batches },
    forward: planRequest({ ...common, transform: 'r2c', directions: 'forward', scale, strides }),
    inverse: planRequest({ ...common, directions: 'inverse' }),
  };
}

type HilbertPlace = Workplace & Record<'waves' | 'spectra' | 'whole', WorkMemory>;

function hilbertMemory(device: Device, { n, batches }: HilbertJob, precision: FloatPrecision): HilbertPlace {
  const places = placesFor({ waves: n * batches, spectra: 2 * n * batches, whole: 2 * n * batches }, (length) =>
    workOn(device, length, precision),
  );
  return { ...places, free: () => Object.values(places).forEach((memory) => memory.free()) };
}

function analytic(lines: Lines, job: HilbertJob, device: Device): Promise<NumpyArray> {
  const { n, batches, forward, inverse } = job;
  const { count, precision } = lines;
  const make = () => hilbertMemory(device, job, precision);
  const use = async (there: Plan, { waves, spectra, whole }: HilbertPlace, [back]: readonly Plan[]) => {
    // Tables are made after the plans: the device refuses lengths that are too long.
    const result = newLines(lines, n, true);
    for (let first = 0; first < count; first += batches) {
      const some = Math.min(batches, count - first);
      const length = Math.min(n, lines.n);
      const samples = waves.array();
      for (let k = 0; k < some; k++) {
        readLine(lines, first + k, samples, k * n, length);
        samples.fill(0, k * n + length, (k + 1) * n);
      }
      const used = reaching(spectra, 2 * ((batches - 1) * n + Math.floor(n / 2) + 1));
      const bins = called(there, 'forward', waves.data, used);
      if (bins) await bins;
      for (let k = 0; k < some; k++) halveLoneBins(spectra.array(), 2 * n * k, n);
      const signal = called(back!, 'inverse', spectra.data, whole.data);
      if (signal) await signal;
      for (let k = 0; k < some; k++) writeLine(result, first + k, whole.array(), 2 * n * k);
    }
    return result.array;
  };
  return withWorkplace(device, forward, make, use, [inverse]);
}

/** Whether a bin is unpaired: bin 0 and, for an even length, the middle one. */
function halveLoneBins(spectra: Floats, start: number, n: number): void {
  for (const bin of n % 2 === 0 ? [0, n / 2] : [0]) {
    spectra[start + 2 * bin]! /= 2;
    spectra[start + 2 * bin + 1]! /= 2;
  }
}
