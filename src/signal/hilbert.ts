/** Analytic signals, as `scipy.signal.hilbert`. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import { type ArrayInput, asArray, type NumpyArray, type Transformed } from '../numpy/array.ts';
import { checkLength } from '../numpy/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { FftError } from '../problem/errors.ts';
import type { Floats } from './floats.ts';
import { type Lines, linesAlong, newLines, readLine, writeLine } from './lines.ts';
import { withPlan } from './plans.ts';
import { type WorkMemory, workOn } from './work.ts';

export interface HilbertOptions extends DeviceChoice {
  /** Samples of a line, to which it is cut or filled up with zeros; default all that it has. */
  readonly n?: number | undefined;
  /** Default −1. */
  readonly axis?: number | undefined;
}

/** Numbers in one batch, at most. */
const POINTS_AT_ONCE = 2 ** 20;

/**
 * The analytic signal x + i · H(x), H being the Hilbert transform: the spectrum of x without its negative frequencies, and
 * twice its positive ones. Its absolute value is the envelope, its angle the phase. As `scipy.signal.hilbert`, whose `N` is
 * `n` here.
 *
 * @param x real, of any shape; it must stay as it is until the promise resolves. Single precision stays single.
 * @throws FftError (as a rejection) `wrong-array-type` for complex arrays too, `invalid-argument`, `unknown-field`,
 *   `invalid-size`, `wrong-length`, `detached-array`, `out-of-memory`, and those of `device.plan`
 */
export async function hilbert<X extends ArrayInput>(x: X, options: HilbertOptions = {}): Promise<Transformed<X>> {
  const own = readOptions(options, { works: ['n', 'axis', 'device'] }, 'hilbert');
  const device = checkDevice(own.device);
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  if (lines.complex) {
    const message = `x is ${lines.array.dtype}; the analytic signal is that of a real one, float32 or float64.`;
    throw new FftError('wrong-array-type', message, { path: 'x' });
  }
  const n = checkLength(own.n ?? lines.n, 'n');
  return (await analytic(lines, n, device ?? (await sharedDevice()))) as unknown as Transformed<X>;
}

async function analytic(lines: Lines, n: number, device: Device): Promise<NumpyArray> {
  const { precision, count } = lines;
  const batches = Math.max(1, Math.min(count, Math.floor(POINTS_AT_ONCE / n)));
  const common = { size: [n], batches, precision } as const;
  const forward = { ...common, transform: 'r2c', directions: 'forward', scale: { forward: 1 / n } } as const;
  const inverse = { ...common, placement: 'in-place', directions: 'inverse' } as const;
  const bins = Math.floor(n / 2) + 1;
  return withPlan(device, forward, (there) =>
    withPlan(device, inverse, async (back) => {
      // Only now: the device knows which lengths are too long.
      const result = newLines(lines, n, true);
      const memory = [n, 2 * bins, 2 * n].map((entries) => workOn(device, entries * batches, precision));
      const [waves, spectra, whole] = memory as [WorkMemory, WorkMemory, WorkMemory];
      try {
        for (let first = 0; first < count; first += batches) {
          const some = Math.min(batches, count - first);
          for (let k = 0; k < some; k++) readLine(lines, first + k, waves.array(), k * n, Math.min(n, lines.n));
          await there.forward(waves.array(), spectra.array());
          for (let k = 0; k < some; k++) oneSided(spectra.array(), 2 * bins * k, whole.array(), 2 * n * k, n);
          await back.inverse(whole.array());
          for (let k = 0; k < some; k++) writeLine(result, first + k, whole.array(), 2 * n * k);
        }
        return result.array;
      } finally {
        for (const work of memory) work.free();
      }
    }),
  );
}

/** The bins of a real line, from `from` on, as those of its analytic signal. */
function oneSided(spectra: Floats, from: number, whole: Floats, to: number, n: number): void {
  const bins = Math.floor(n / 2) + 1;
  for (let k = 0; k < 2 * bins; k++) {
    // Bin 0 and, of an even length, the middle one are no frequency's twin.
    const alone = k < 2 || (n % 2 === 0 && k >= n);
    whole[to + k] = spectra[from + k]! * (alone ? 1 : 2);
  }
  whole.fill(0, to + 2 * bins, to + 2 * n);
}
