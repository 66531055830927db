/** Recursive filters by type, order and edges, as `scipy.signal.butter`, `cheby1`, `cheby2`, `ellip` and `bessel`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { FftError, show } from '../../problem/errors.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import { type FilterOutput, type FilterResult, filterResult, outputsOf } from './filter-forms.ts';
import { type BesselNorm, besselThomson } from './iir-bessel.ts';
import { butterworth, cauer, chebyshev1, chebyshev2, type Factored } from './iir-prototypes.ts';
import { toBandPass, toBandStop, toDigital, toHighPass, toLowPass } from './iir-transforms.ts';

/** Pass bands: SciPy's names, long and short. */
export type FilterBand = 'lowpass' | 'highpass' | 'bandpass' | 'bandstop' | 'low' | 'high' | 'band' | 'stop';
const bands: readonly FilterBand[] = ['lowpass', 'highpass', 'bandpass', 'bandstop', 'low', 'high', 'band', 'stop'];

/** An edge, or both edges of a band. */
export type BandEdges = number | readonly [low: number, high: number] | Float32Array | Float64Array;

export interface IirOptions<Output extends FilterOutput = FilterOutput> {
  /** Pass band; default `lowpass` for one edge, `bandpass` for two. */
  readonly btype?: FilterBand | undefined;
  /** Whether the filter is analog, with edges in radians per second; default false. */
  readonly analog?: boolean | undefined;
  /**
   * Form of the result. `ba`: two polynomials, the default; `zpk`: zeros, poles and gain; `sos`: second-order sections, which are the least sensitive
   * to rounding.
   */
  readonly output?: Output | undefined;
  /** Sampling rate, in the unit of the edges; default 2, so that 1 is the Nyquist frequency. */
  readonly fs?: number | undefined;
}

export interface BesselOptions<Output extends FilterOutput = FilterOutput> extends IirOptions<Output> {
  /** Meaning of the edges: the phase is half its final value (`phase`, the default), the delay at 0 is 1 (`delay`), or the gain is −3 dB (`mag`). */
  readonly norm?: BesselNorm | undefined;
}

const WORKS = ['btype', 'analog', 'output', 'fs'] as const;
/** The highest order of an analog filter: powers of its poles would overflow beyond it. */
const MOST_ORDER = 500;

/**
 * A Butterworth filter: as flat as can be, 3 dB down at its edges; with `scipy.signal.butter`'s arguments, defaults and results.
 *
 * @param N order, of bands half of it: an integer from 0 to 500
 * @param Wn the edge, or two of them, in the unit of `fs`; between 0 and half of it
 * @throws FftError `invalid-argument` for an order or edges out of range, `unknown-field`
 */
export function butter<Output extends FilterOutput = 'ba'>(
  N: number,
  Wn: BandEdges,
  options: IirOptions<Output> = {},
): FilterResult<Output> {
  return designed('butter', N, Wn, options, butterworth);
}

/**
 * A Chebyshev filter of type I: ripples in the pass band, which ends where they do; as `scipy.signal.cheby1`.
 * @param rp most decibels that the pass band is down, above 0
 * @throws FftError as `butter`
 */
export function cheby1<Output extends FilterOutput = 'ba'>(
  N: number,
  rp: number,
  Wn: BandEdges,
  options: IirOptions<Output> = {},
): FilterResult<Output> {
  checkPositive('rp', rp);
  return designed('cheby1', N, Wn, options, (order) => chebyshev1(order, rp));
}

/**
 * A Chebyshev filter of type II: ripples in the stop band, which begins at the edges; as `scipy.signal.cheby2`.
 * @param rs least decibels that the stop band is down, above 0
 * @throws FftError as `butter`
 */
export function cheby2<Output extends FilterOutput = 'ba'>(
  N: number,
  rs: number,
  Wn: BandEdges,
  options: IirOptions<Output> = {},
): FilterResult<Output> {
  checkPositive('rs', rs);
  return designed('cheby2', N, Wn, options, (order) => chebyshev2(order, rs));
}

/**
 * An elliptic (Cauer) filter: ripples in both bands, and the steepest edge; as `scipy.signal.ellip`.
 * @param rp most decibels that the pass band is down, above 0
 * @param rs least decibels that the stop band is down, above rp
 * @throws FftError as `butter`
 */
export function ellip<Output extends FilterOutput = 'ba'>(
  N: number,
  rp: number,
  rs: number,
  Wn: BandEdges,
  options: IirOptions<Output> = {},
): FilterResult<Output> {
  checkPositive('rp', rp);
  check('rs', rs, Number.isFinite(rs) && rs > rp, `decibels of more than rp, ${rp}`);
  return designed('ellip', N, Wn, options, (order) => cauer(order, rp, rs));
}

/**
 * A Bessel (Thomson) filter: all frequencies of the pass band delayed alike, before the bilinear transform of a digital one; as
 * `scipy.signal.bessel`.
 * @param N order, from 0 to 25: beyond, poles lose their digits
 * @throws FftError as `butter`
 */
export function bessel<Output extends FilterOutput = 'ba'>(
  N: number,
  Wn: BandEdges,
  options: BesselOptions<Output> = {},
): FilterResult<Output> {
  const { norm = 'phase', ...own } = readOptions(options, { works: [...WORKS, 'norm'] }, 'bessel', 2);
  checkWord<BesselNorm>('norm', norm, ['phase', 'delay', 'mag']);
  checkInteger('N', N, 0, 25);
  return designed('bessel', N, Wn, own, (order) => besselThomson(order, norm));
}

function designed<Output extends FilterOutput>(
  what: string,
  order: number,
  Wn: BandEdges,
  options: IirOptions<Output>,
  prototype: (order: number) => Factored,
): FilterResult<Output> {
  const own = readOptions(options, { works: WORKS }, what, 2);
  checkInteger('N', order, 0, MOST_ORDER);
  const { analog = false } = own;
  checkWord('analog', analog, [true, false]);
  const output = checkWord<FilterOutput>('output', own.output ?? 'ba', outputsOf);
  const { edges, band } = readBandEdges(Wn, own, analog);
  // A digital filter at rate 2 with these edges comes from an analog filter with prewarped edges.
  const warped = analog ? edges : edges.map((edge) => 4 * Math.tan((Math.PI * edge) / 2));
  const moved = transformedToBand(prototype(order), band, warped);
  const filter = analog ? moved : toDigital(moved, 2);
  if (Number.isFinite(filter.k)) return filterResult(filter, output, analog) as FilterResult<Output>;
  const message = `A filter of order ${order} with edges ${show(edges)} has a gain beyond the range of numbers; take a lower order.`;
  throw new FftError('invalid-argument', message, { path: 'N' });
}

function transformedToBand(filter: Factored, band: FilterBand, [low, high]: readonly number[]): Factored {
  if (band === 'lowpass') return toLowPass(filter, low!);
  if (band === 'highpass') return toHighPass(filter, low!);
  const [middle, width] = [Math.sqrt(low! * high!), high! - low!];
  return band === 'bandpass' ? toBandPass(filter, middle, width) : toBandStop(filter, middle, width);
}

/** Edges as fractions of the Nyquist frequency, or in radians per second, and the long name of the band. */
function readBandEdges(Wn: BandEdges, { fs, btype }: IirOptions, analog: boolean) {
  if (analog) check('fs', fs, fs === undefined, 'nothing where the filter is an analog one');
  const rate = checkPositive('fs', fs ?? 2);
  const given = typeof Wn === 'number' ? [Wn] : isListOfNumbers(Wn) ? Array.from(Wn) : [];
  check('Wn', Wn, given.length === 1 || given.length === 2, 'a frequency, or two of them');
  const usual = given.length === 1 ? 'lowpass' : 'bandpass';
  const word = checkWord('btype', btype ?? usual, bands);
  const band = (word.endsWith('pass') || word === 'bandstop' ? word : longNames[word as Short]) as FilterBand;
  const isSingle = band === 'lowpass' || band === 'highpass';
  check('Wn', Wn, given.length === (isSingle ? 1 : 2), `${isSingle ? 'one frequency' : 'two frequencies'} for ${band}`);
  const most = analog ? Number.POSITIVE_INFINITY : rate / 2;
  for (const edge of given) {
    const accepted = analog ? 'positive frequencies' : `frequencies between 0 and half of fs, ${most}`;
    check('Wn', edge, Number.isFinite(edge) && edge > 0 && edge < most, accepted);
  }
  if (!isSingle) check('Wn', Wn, given[0]! < given[1]!, 'two frequencies, the lower one first');
  return { edges: analog ? given : given.map((edge) => (2 * edge) / rate), band };
}

type Short = 'low' | 'high' | 'band' | 'stop';
const longNames: Readonly<Record<Short, FilterBand>> = {
  ...{ low: 'lowpass', high: 'highpass', band: 'bandpass', stop: 'bandstop' },
};

function isListOfNumbers(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}
