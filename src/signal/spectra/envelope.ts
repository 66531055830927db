/** Envelopes of bands of signals, as `scipy.signal.envelope`. */

import type { Device, Plan } from '../../engine/index.ts';
import type { ArrayInput, DtypeOf, NumpyArray, ShapeOf } from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import type { ProblemInput } from '../../problem/index.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
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
import { absoluteValue, powerOf } from '../frames/frames.ts';
import { changeHalf } from '../resampling/resample.ts';

export interface EnvelopeOptions extends DeviceChoice {
  /**
   * Pass band, in bins of the signal's transform, its end not included; null for the last bin. Default [1, null]: all bins but the mean, and for
   * complex signals no negative frequencies.
   */
  readonly bpIn?: readonly [from: number | null, to: number | null] | undefined;
  /** Samples of the result; default the signal's length. */
  readonly nOut?: number | undefined;
  /** Whether the squared envelope is returned, which has fewer harmonics; default false. */
  readonly squared?: boolean | undefined;
  /** Residual to return: all bins outside the band (`all`), the bins below the band (`lowpass`, the default), or nothing (null). */
  readonly residual?: 'lowpass' | 'all' | null | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

/** Python's `z_env, z_res`. */
export interface Envelope<X extends ArrayInput = ArrayInput> {
  readonly envelope: NumpyArray<DtypeOf<X> extends 'float32' | 'complex64' ? 'float32' : 'float64', ShapeOf<X>>;
  /** Residual, of the type of x; undefined with `residual: null`. */
  readonly residual: NumpyArray<DtypeOf<X>, ShapeOf<X>> | undefined;
}

const WORKS = ['bpIn', 'nOut', 'squared', 'residual', 'axis', 'device'];

/**
 * The envelope of a band of a signal: the absolute value of its analytic signal, by transforms, so that the signal is taken for periodic. Options,
 * defaults and numbers are those of `scipy.signal.envelope`, which stacks the two results.
 *
 * @param z real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @throws FftError (as a rejection) `invalid-argument` for a band that is none or options out of range, `invalid-size`, `unknown-field`,
 *   `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function envelope<X extends ArrayInput>(z: X, options: EnvelopeOptions = {}): Promise<Envelope<X>> {
  const { arrays, job, device } = calls.read([z], options);
  const lines = linesOfArray(job.lines, arrays[0]!);
  return (await computeEnvelope(lines, job, device ?? (await sharedDevice()))) as Envelope<X>;
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
  readonly lines: LineGeometry;
  readonly num: number;
  readonly band: Band;
  readonly residual: 'lowpass' | 'all' | null;
  readonly forward: PlanRequest;
  /** Transforms the band into absolute values, or into their squares. */
  readonly analytic: PlanRequest;
  readonly inverse: PlanRequest;
}

const calls = /* @__PURE__ */ new PreparedCalls<EnvelopeOptions, EnvelopeJob>({
  ...{ name: 'envelope', works: WORKS, levels: 2 },
  prepare: ([z], own) => {
    const { squared = false, residual = 'lowpass' } = own;
    checkWord('squared', squared, [true, false]);
    checkWord('residual', residual, ['lowpass', 'all', null]);
    const lines = linesAlong(z!, own.axis ?? -1);
    const { n, complex, precision } = lines;
    const num = checkLength(own.nOut ?? n, 'nOut');
    const band = readBand(own.bpIn ?? [1, null], n);
    const common = { precision, transform: complex ? 'c2c' : 'r2c' } as const;
    const forward = planRequest({ ...common, size: [n], directions: 'forward', scale: { forward: 1 / n } });
    const inverse = planRequest({ ...common, size: [num], directions: 'inverse' });
    const store = squared ? powerOf(false) : absoluteValue;
    const analytic: ProblemInput = { size: [num], precision, directions: 'inverse', callbacks: { inverse: { store } } };
    const key = `envelope ${squared ? 'squared ' : ''}${inverse.key}`;
    return { lines: geometryOf(lines), num, band, residual, forward, inverse, analytic: { key, problem: analytic } };
  },
});

type EnvelopePlace = Workplace & Record<'waves' | 'spectrum' | 'bins' | 'values', WorkMemory>;

function envelopeMemory(device: Device, { n, complex, precision }: Lines, { num }: EnvelopeJob): EnvelopePlace {
  const parts = complex ? 2 : 1;
  const bins = complex ? n : Math.floor(n / 2) + 1;
  const lengths = { waves: n * parts, spectrum: 2 * bins, bins: 2 * num + 2, values: num * parts };
  const places = placesFor(lengths, (length) => workOn(device, length, precision));
  return { ...places, free: () => Object.values(places).forEach((memory) => memory.free()) };
}

function computeEnvelope(lines: Lines, job: EnvelopeJob, device: Device): Promise<Envelope> {
  const { forward, analytic, inverse, num } = job;
  // The memory of one plan is used by the other.
  const there = { ...forward, key: `${forward.key} to ${num}` };
  const make = () => envelopeMemory(device, lines, job);
  return withWorkplace(
    device,
    there,
    make,
    (plan, place, [values, back]) => eachLine(lines, job, { there: plan, values: values!, back: back! }, place),
    [analytic, inverse],
  );
}

async function eachLine(
  lines: Lines,
  { band, num, residual }: EnvelopeJob,
  plans: Readonly<Record<'there' | 'values' | 'back', Plan>>,
  { waves, spectrum, bins, values }: EnvelopePlace,
): Promise<Envelope> {
  const { n, complex } = lines;
  // Tables are made after the plans: the device refuses lengths that are too long.
  const result = newLines(lines, num, false);
  const rest = residual === null ? undefined : newLines(lines, num, complex);
  for (let line = 0; line < lines.count; line++) {
    readLine(lines, line, waves.array());
    const whole = called(plans.there, 'forward', waves.data, spectrum.data);
    if (whole) await whole;
    shiftedBand(spectrum.array(), n, band, complex, bins.array(), num);
    const levels = called(plans.values, 'inverse', reaching(bins, 2 * num), reaching(values, num));
    if (levels) await levels;
    writeLine(result, line, values.array());
    if (!rest) continue;
    const leave = complex ? residualBins : residualHalf;
    leave(spectrum.array(), n, band, residual === 'lowpass', bins.array(), num);
    const used = complex ? num : Math.floor(num / 2) + 1;
    const others = called(plans.back, 'inverse', reaching(bins, 2 * used), values.data);
    if (others) await others;
    writeLine(rest, line, values.array());
  }
  return { envelope: result.array, residual: rest?.array } as Envelope;
}

/** The bins of the band, moved to begin at 0: a shift in frequency does not change the absolute value. */
function shiftedBand(
  spectrum: Floats,
  n: number,
  { from, to }: Band,
  complex: boolean,
  target: Floats,
  num: number,
): void {
  target.fill(0);
  const end = Math.min(to, from + num);
  if (complex) {
    for (let bin = from; bin < end; bin++) {
      const at = 2 * (bin < 0 ? bin + n : bin);
      target[2 * (bin - from)] = spectrum[at]!;
      target[2 * (bin - from) + 1] = spectrum[at + 1]!;
    }
    return;
  }
  // Positive frequencies stand for both signs; the only negative one kept is the unpaired bin at half the rate.
  for (let at = 2 * Math.max(0, from); at < 2 * end; at++) target[at - 2 * from] = 2 * spectrum[at]!;
  const unpaired = [...(from <= 0 && end > 0 ? [0] : []), ...(2 * from === -n && from < end ? [from] : [])];
  for (const bin of unpaired) {
    for (const part of [0, 1]) target[2 * (bin - from) + part] = spectrum[2 * Math.abs(bin) + part]!;
  }
}

/** Whether the residual keeps a bin: all below the band and, unless it is a lowpass, those above it. */
function outside({ from, to }: Band, lowpass: boolean): (bin: number) => boolean {
  return (bin) => bin < from || (!lowpass && bin >= to);
}

/** The residual's bins of a real line, for another number of samples. */
function residualHalf(
  spectrum: Floats,
  n: number,
  { from, to }: Band,
  lowpass: boolean,
  target: Floats,
  num: number,
): void {
  const bins = Math.floor(Math.min(n, num) / 2) + 1;
  target.fill(0);
  target.set(spectrum.subarray(0, 2 * bins));
  // The bin at half the rate counts as a negative one.
  const paired = n % 2 === 0 && 2 * (bins - 1) === n ? bins - 1 : bins;
  const isKept = outside({ from, to }, lowpass);
  target.fill(0, 2 * Math.max(0, Math.min(from, paired)), 2 * (lowpass ? paired : Math.max(0, Math.min(to, paired))));
  if (paired < bins && !isKept(-n / 2)) target.fill(0, 2 * paired, 2 * bins);
  changeHalf(target, n, num);
}

/** The residual's bins of a complex line, for another number of samples. */
function residualBins(
  spectrum: Floats,
  n: number,
  { from, to }: Band,
  lowpass: boolean,
  target: Floats,
  num: number,
): void {
  const isKept = outside({ from, to }, lowpass);
  target.fill(0);
  const least = Math.min(n, num);
  for (let bin = -Math.floor(least / 2); bin <= Math.floor(least / 2); bin++) {
    const isHalf = 2 * Math.abs(bin) === least;
    // The last bin of an even number of samples stands for both signs of its frequency.
    if (!isKept(2 * bin === n ? -bin : bin)) continue;
    const source = 2 * (((bin % n) + n) % n);
    const goal = 2 * (((bin % num) + num) % num);
    const factor = isHalf && num >= n ? 0.5 : 1;
    target[goal]! += factor * spectrum[source]!;
    target[goal + 1]! += factor * spectrum[source + 1]!;
  }
}
