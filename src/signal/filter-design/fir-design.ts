/** Filters of finite impulse response by the window method, as `scipy.signal.firwin`, and the length of Kaiser's window for them. */
import { readOptions } from '../../engine/arguments/options.ts';
import { allocated } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import { type NumberList, realCoefficients } from '../arguments/coefficients.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { type WindowArguments, type WindowOptions, windowFunction } from '../windows/windows.ts';

/** Pass bands: whether frequency 0 passes, or the kind of band. */
export type PassZero = boolean | 'lowpass' | 'highpass' | 'bandpass' | 'bandstop';

export interface FirwinOptions {
  /** Width of the transition between bands, in the unit of `fs`: it selects Kaiser's window, in the place of `window`. */
  readonly width?: number | undefined;
  /** A window by its name, in symmetric form; default `hamming`. */
  readonly window?: WindowName | undefined;
  /** Parameters of the window, where it has any. */
  readonly windowOptions?: WindowOptions | undefined;
  /** Pass bands; default true: the band below the first edge passes, the next one does not, and so on alternately. */
  readonly passZero?: PassZero | undefined;
  /**
   * Whether the gain is exactly 1 in the middle of the first pass band (or at 0 or the Nyquist frequency, where the band reaches one of them);
   * default true.
   */
  readonly scale?: boolean | undefined;
  /** Sampling rate, in the unit of the edges; default 2, so that 1 is the Nyquist frequency. */
  readonly fs?: number | undefined;
}

const WORKS = ['width', 'window', 'windowOptions', 'passZero', 'scale', 'fs'];

/**
 * A filter of linear phase, whose coefficients are the ideal filter's impulse response times a window (A. V. Oppenheim and R. W. Schafer,
 * "Discrete-Time Signal Processing", chapter 7); with `scipy.signal.firwin`'s arguments, defaults and results.
 *
 * @param numtaps number of coefficients: odd where the Nyquist frequency passes
 * @param cutoff one edge or several, rising, between 0 and half of `fs`
 * @returns `numtaps` coefficients, the b of `lfilter` with an a of 1
 * @throws FftError `invalid-argument` for numbers, edges or bands out of range, `unknown-field`, `out-of-memory`, and the errors of windows
 */
export function firwin(numtaps: number, cutoff: NumberList, options: FirwinOptions = {}): NewFloat64Array {
  const own = readOptions(options, { works: WORKS }, 'firwin', 3);
  checkInteger('numtaps', numtaps, 1);
  const { passZero = true, scale = true, window = 'hamming' } = own;
  checkWord('passZero', passZero, [true, false, 'lowpass', 'highpass', 'bandpass', 'bandstop']);
  checkWord('scale', scale, [true, false]);
  const nyquist = checkPositive('fs', own.fs ?? 2) / 2;
  const edges = realCoefficients(cutoff, 'cutoff').map((edge) => edge / nyquist);
  edges.forEach((edge, k) => {
    const isRising = edge > (k === 0 ? 0 : edges[k - 1]!) && edge < 1;
    check('cutoff', edge * nyquist, isRising, `frequencies between 0 and half of fs, ${nyquist}, each above the last`);
  });
  const bands = bandsOf(edges, passesZero(passZero, edges.length));
  if (numtaps % 2 === 0 && bands.at(-1)![1] === 1) {
    const message = `numtaps is ${numtaps}; a filter that lets the Nyquist frequency through has an odd number of them: ${numtaps + 1}.`;
    throw new FftError('invalid-argument', message, { path: 'numtaps' });
  }
  const response = allocated(numtaps, () => new Float64Array(numtaps)) as NewFloat64Array;
  const taper = taperOf(numtaps, window, { ...own, width: own.width === undefined ? undefined : own.width / nyquist });
  const middle = (numtaps - 1) / 2;
  for (let n = 0; n < numtaps; n++) {
    const ideal = bands.reduce(
      (sum, [low, high]) => sum + idealLowpass(high, n - middle) - idealLowpass(low, n - middle),
      0,
    );
    response[n] = ideal * taper[n]!;
  }
  if (scale) normalise(response, bands[0]!);
  return response;
}

/** The impulse response of the ideal low-pass filter with an edge, at a distance from its middle. */
function idealLowpass(edge: number, distance: number): number {
  return distance === 0 ? edge : Math.sin(Math.PI * edge * distance) / (Math.PI * distance);
}

function passesZero(given: PassZero, edges: number): boolean {
  if (typeof given === 'boolean') return given;
  const isOne = given === 'lowpass' || given === 'highpass';
  const accepted = isOne ? `${given}, of one edge` : `${given}, of two edges or more`;
  check('cutoff', edges, isOne ? edges === 1 : edges > 1, accepted);
  return given === 'lowpass' || given === 'bandstop';
}

/** The pass bands, as fractions of the Nyquist frequency. */
function bandsOf(edges: Float64Array, fromZero: boolean): [number, number][] {
  const all = [...(fromZero ? [0] : []), ...edges];
  if (all.length % 2 === 1) all.push(1);
  return Array.from({ length: all.length / 2 }, (_, k) => [all[2 * k]!, all[2 * k + 1]!]);
}

function taperOf(numtaps: number, window: WindowName, { width, windowOptions }: FirwinOptions): Float64Array {
  if (width === undefined) {
    const options = { ...windowOptions, sym: true } as WindowOptions;
    return windowFunction(window, numtaps, ...([options] as WindowArguments<WindowName>));
  }
  checkPositive('width', width);
  return windowFunction('kaiser', numtaps, { beta: kaiserBeta(kaiserAtten(numtaps, width)), sym: true });
}

function normalise(response: Float64Array, [low, high]: readonly [number, number]): void {
  const at = low === 0 ? 0 : high === 1 ? 1 : (low + high) / 2;
  const middle = (response.length - 1) / 2;
  const gain = response.reduce((sum, value, n) => sum + value * Math.cos(Math.PI * at * (n - middle)), 0);
  for (let n = 0; n < response.length; n++) response[n]! /= gain;
}

/**
 * The β of Kaiser's window for side lobes `a` decibels down, as `scipy.signal.kaiser_beta` (J. F. Kaiser, "Nonrecursive digital filter design using
 * the I₀-sinh window function", IEEE International Symposium on Circuits and Systems (1974)).
 * @throws FftError `invalid-argument`
 */
export function kaiserBeta(a: number): number {
  check('a', a, Number.isFinite(a), 'a finite number of decibels');
  if (a > 50) return 0.1102 * (a - 8.7);
  return a > 21 ? 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) : 0;
}

/**
 * The attenuation in decibels of a filter with Kaiser's window, as `scipy.signal.kaiser_atten`.
 * @param width width of the transition, as a fraction of the Nyquist frequency
 * @throws FftError `invalid-argument`
 */
export function kaiserAtten(numtaps: number, width: number): number {
  checkInteger('numtaps', numtaps, 1);
  checkPositive('width', width);
  return 2.285 * (numtaps - 1) * Math.PI * width + 7.95;
}

/**
 * The length and the β of Kaiser's window for a ripple and a transition width, as `scipy.signal.kaiserord`.
 * @param ripple largest deviation from the ideal filter, in decibels, above 8
 * @param width width of the transition, as a fraction of the Nyquist frequency
 * @throws FftError `invalid-argument`
 */
export function kaiserord(ripple: number, width: number): { readonly numtaps: number; readonly beta: number } {
  check('ripple', ripple, Number.isFinite(ripple) && Math.abs(ripple) >= 8, 'at least 8 decibels');
  checkPositive('width', width);
  const decibels = Math.abs(ripple);
  return { numtaps: Math.ceil((decibels - 7.95) / 2.285 / (Math.PI * width) + 1), beta: kaiserBeta(decibels) };
}
