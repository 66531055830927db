/** Envelopes of bands of signals, as `scipy.signal.envelope`. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import { type ArrayInput, asArray, type DtypeOf, type NumpyArray, type ShapeOf } from '../numpy/array.ts';
import { checkLength } from '../numpy/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import type { ProblemInput } from '../problem/index.ts';
import { check, checkInteger, checkWord } from './check.ts';
import type { Floats } from './floats.ts';
import { type Lines, linesAlong, newLines, readLine, writeLine } from './lines.ts';
import { type Workplace, withWorkplace } from './plans.ts';
import { unfilledOn, type WorkMemory } from './work.ts';

export interface EnvelopeOptions extends DeviceChoice {
  /**
   * The band, in bins of the signal's transform, the end not included; null is as far as there are bins. Default [1, null]: all but the mean,
   * and of complex signals none of the negative frequencies.
   */
  readonly bpIn?: readonly [from: number | null, to: number | null] | undefined;
  /** Samples of the result; default as many as there are. */
  readonly nOut?: number | undefined;
  /** Whether the square of the envelope is returned, which has fewer harmonics; default false. */
  readonly squared?: boolean | undefined;
  /** What else is returned: all that is not in the band, what is below it (`lowpass`, the default), or nothing. */
  readonly residual?: 'lowpass' | 'all' | null | undefined;
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
}

/** Python's `z_env, z_res`. */
export interface Envelope<X extends ArrayInput = ArrayInput> {
  readonly envelope: NumpyArray<DtypeOf<X> extends 'float32' | 'complex64' ? 'float32' : 'float64', ShapeOf<X>>;
  /** Of the type of x; undefined with `residual: null`. */
  readonly residual: NumpyArray<DtypeOf<X>, ShapeOf<X>> | undefined;
}

const WORKS = ['bpIn', 'nOut', 'squared', 'residual', 'axis', 'device'];

/**
 * The envelope of a band of a signal: the absolute value of its analytic signal, by transforms, so that the signal is taken for periodic. Options,
 * defaults and numbers are those of `scipy.signal.envelope`, which stacks the two results.
 *
 * @param z real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @throws FftError (as a rejection) `invalid-argument` for a band that is none or options out of range, `invalid-size`, `unknown-field`,
 *   `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`, and those of `device.plan`
 */
export async function envelope<X extends ArrayInput>(z: X, options: EnvelopeOptions = {}): Promise<Envelope<X>> {
  const own = readOptions(options, { works: WORKS }, 'envelope', 2);
  const device = checkDevice(own.device);
  const { squared = false, residual = 'lowpass' } = own;
  checkWord('squared', squared, [true, false]);
  checkWord('residual', residual, ['lowpass', 'all', null]);
  const lines = linesAlong(asArray(z), own.axis ?? -1);
  const num = checkLength(own.nOut ?? lines.n, 'nOut');
  const band = readBand(own.bpIn ?? [1, null], lines.n);
  const job: EnvelopeJob = { lines, num, band, squared, residual };
  return (await computed(job, device ?? (await sharedDevice()))) as Envelope<X>;
}

interface Band {
  readonly from: number;
  readonly to: number;
}

function readBand(given: readonly (number | null)[], n: number): Band {
  check('bpIn', given, Array.isArray(given) && given.length === 2, 'two bins, each an integer or null');
  const [least, most] = [-Math.floor(n / 2), Math.floor((n + 1) / 2)];
  const [from, to] = [given[0] ?? least, given[1] ?? most];
  checkInteger('bpIn[0]', from, least, most - 1);
  checkInteger('bpIn[1]', to, from + 1, most);
  return { from, to };
}

interface EnvelopeJob {
  readonly lines: Lines;
  readonly num: number;
  readonly band: Band;
  readonly squared: boolean;
  readonly residual: 'lowpass' | 'all' | null;
}

interface EnvelopeWorkplace extends Workplace {
  readonly numbers: WorkMemory;
}

async function computed({ lines, num, band, squared, residual }: EnvelopeJob, device: Device): Promise<Envelope> {
  const { n, precision, complex } = lines;
  const common = { precision, placement: 'in-place', batches: 1 } as const;
  const forward: ProblemInput = { ...common, size: [n], directions: 'forward', scale: { forward: 1 / n } };
  const inverse: ProblemInput = { ...common, size: [num], directions: 'inverse' };
  const placeOf = (length: number) => () => {
    const numbers = unfilledOn(device, 2 * length, precision);
    return { numbers, free: () => numbers.free() } satisfies EnvelopeWorkplace;
  };
  return withWorkplace(device, forward, placeOf(n), (there, from: EnvelopeWorkplace) =>
    withWorkplace(device, inverse, placeOf(num), async (back, to: EnvelopeWorkplace) => {
      // Only now: the device knows which lengths are too long.
      const result = newLines(lines, num, false);
      const rest = residual === null ? undefined : newLines(lines, num, complex);
      for (let line = 0; line < lines.count; line++) {
        readComplex(lines, line, from.numbers.array());
        await there.forward(from.numbers.array() as never);
        const [spectrum, target] = [from.numbers.array(), to.numbers.array()];
        bandOf(spectrum, n, band, complex, target, num);
        await back.inverse(target as never);
        writeSquares(to.numbers.array(), squared);
        writeLine(result, line, to.numbers.array());
        if (!rest) continue;
        residualBins(
          from.numbers.array(),
          n,
          band,
          { complex, lowpass: residual === 'lowpass' },
          to.numbers.array(),
          num,
        );
        await back.inverse(to.numbers.array() as never);
        if (!complex) firstParts(to.numbers.array());
        writeLine(rest, line, to.numbers.array());
      }
      return { envelope: result.array, residual: rest?.array } as Envelope;
    }),
  );
}

/** A line as complex numbers. */
function readComplex(lines: Lines, line: number, target: Floats): void {
  readLine(lines, line, target);
  if (lines.complex) return;
  for (let k = lines.n - 1; k >= 0; k--) {
    target[2 * k] = target[k]!;
    target[2 * k + 1] = 0;
  }
}

/** The bins of the band, from 0 on: to where they are moved does not matter to the absolute value. */
function bandOf(spectrum: Floats, n: number, { from, to }: Band, complex: boolean, target: Floats, num: number): void {
  target.fill(0);
  for (let bin = from; bin < to && bin - from < num; bin++) {
    // Of a real signal, positive frequencies stand for both signs, and negative ones for nothing but their own unpaired bin.
    const factor = complex || bin === 0 ? 1 : bin > 0 ? 2 : 2 * bin === -n && from <= 0 ? 1 : 0;
    const at = 2 * (bin < 0 ? bin + n : bin);
    target[2 * (bin - from)] = factor * spectrum[at]!;
    target[2 * (bin - from) + 1] = factor * spectrum[at + 1]!;
  }
}

/** The bins of what is left, of another number of samples. */
function residualBins(
  spectrum: Floats,
  n: number,
  { from, to }: Band,
  { complex, lowpass }: { readonly complex: boolean; readonly lowpass: boolean },
  target: Floats,
  num: number,
): void {
  const isKept = (bin: number) => bin < from || (!lowpass && bin >= to);
  target.fill(0);
  const least = Math.min(n, num);
  for (let bin = -Math.floor(least / 2); bin <= Math.floor(least / 2); bin++) {
    const isHalf = 2 * Math.abs(bin) === least;
    // Where it is the last one, a bin of an even number of samples is that of both signs.
    const own = complex ? bin : Math.abs(bin);
    const place = 2 * own === n ? -own : own;
    if (!isKept(place)) continue;
    const source = 2 * (((own % n) + n) % n);
    const goal = 2 * (((bin % num) + num) % num);
    const factor = isHalf && num >= n ? 0.5 : 1;
    target[goal]! += factor * spectrum[source]!;
    target[goal + 1]! += factor * (complex || bin >= 0 ? 1 : -1) * spectrum[source + 1]!;
  }
}

/** Absolute values of complex numbers, or their squares, one after another. */
function writeSquares(numbers: Floats, squared: boolean): void {
  for (let k = 0; 2 * k < numbers.length; k++) {
    const [re, im] = [numbers[2 * k]!, numbers[2 * k + 1]!];
    numbers[k] = squared ? re * re + im * im : Math.hypot(re, im);
  }
}

function firstParts(numbers: Floats): void {
  for (let k = 0; 2 * k < numbers.length; k++) numbers[k] = numbers[2 * k]!;
}
