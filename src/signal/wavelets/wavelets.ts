/** Continuous wavelet transforms, as SciPy 1.14 and before had `scipy.signal.cwt`, with its wavelets `morlet2` and `ricker`. */
import { readOptions } from '../../engine/arguments/options.ts';
import {
  type ArrayInput,
  type ComplexArray,
  type DtypeOf,
  floatZeros,
  isSingle,
  type NumpyArray,
} from '../../numpy/arrays/array.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkPositive, checkWord } from '../arguments/check.ts';
import { realArray, realCoefficients } from '../arguments/coefficients.ts';
import { reversed } from '../convolution/convolve.ts';
import { convolved } from '../convolution/overlap-save.ts';

/** The names of wavelets. */
export type WaveletName = 'morlet2' | 'ricker';

export interface CwtOptions extends DeviceChoice {
  /** Frequency of `morlet2`, in radians per width; default 5. */
  readonly w?: number | undefined;
}

/** Coefficients, shape [widths, samples]: complex for `morlet2`. */
export type Cwt<X extends ArrayInput, Name extends WaveletName> = Name extends 'morlet2'
  ? ComplexArray<DtypeOf<X> extends 'float32' ? 'complex64' : 'complex128', readonly [number, number]>
  : NumpyArray<DtypeOf<X> extends 'float32' ? 'float32' : 'float64', readonly [number, number]>;

/** Samples on which a wavelet is evaluated, per unit of its width. */
const REACH = 10;

/**
 * The second derivative of a Gaussian, with the other sign, of unit energy: A (1 − (t/a)²) e^(−t²/2a²); as SciPy's `ricker`.
 * @param points how many, around the middle
 * @param a width, in points
 * @throws FftError `invalid-argument`, `out-of-memory`
 */
export function ricker(points: number, a: number): NumpyArray<'float64', readonly [number]> {
  checkPositive('points', points);
  checkPositive('a', a);
  const data = floatZeros(Math.ceil(points), false) as NewFloat64Array;
  const height = 2 / (Math.sqrt(3 * a) * Math.PI ** 0.25);
  for (let k = 0; k < data.length; k++) {
    const t = (k - (points - 1) / 2) / a;
    data[k] = height * (1 - t * t) * Math.exp(-0.5 * t * t);
  }
  return { data, shape: [data.length], dtype: 'float64' };
}

/**
 * Morlet's wavelet, π^(−1/4) s^(−1/2) e^(iwt/s − t²/2s²), of unit energy; as SciPy's `morlet2`. Its frequency is w/(2πs) for each sample.
 * @param M how many points, around the middle
 * @param s width, in points
 * @throws FftError `invalid-argument`, `out-of-memory`
 */
export function morlet2(M: number, s: number, w = 5): ComplexArray<'complex128', readonly [number]> {
  checkPositive('M', M);
  checkPositive('s', s);
  check('w', w, Number.isFinite(w), 'a finite number');
  const count = Math.ceil(M);
  const data = floatZeros(2 * count, false) as NewFloat64Array;
  for (let k = 0; k < count; k++) {
    const t = (k - (M - 1) / 2) / s;
    const height = Math.PI ** -0.25 * Math.sqrt(1 / s) * Math.exp(-0.5 * t * t);
    data[2 * k] = height * Math.cos(w * t);
    data[2 * k + 1] = height * Math.sin(w * t);
  }
  return { data, shape: [count], dtype: 'complex128' };
}

/**
 * The continuous wavelet transform: of each width, the correlation of the signal with the wavelet, in the signal's own places. Meaning and results
 * are those of SciPy's `cwt`, by transforms.
 *
 * @param x real, one signal; it must stay as it is until the promise resolves. Single precision stays single
 * @param wavelet `morlet2` or `ricker`, evaluated on 10 times its width or as many points as there are samples
 * @param widths of the wavelet, in samples
 * @throws FftError (as a rejection) `invalid-argument` for widths that are not positive or another wavelet, `wrong-length` for several axes,
 *   `unknown-field`, `invalid-size`, `wrong-array-type`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function cwt<X extends ArrayInput, Name extends WaveletName>(
  x: X,
  wavelet: Name,
  widths: ArrayInput,
  options: CwtOptions = {},
): Promise<Cwt<X, Name>> {
  const own = readOptions(options, { works: ['w', 'device'] }, 'cwt');
  const device = checkDevice(own.device);
  checkWord<WaveletName>('wavelet', wavelet, ['morlet2', 'ricker']);
  check('w', own.w, own.w === undefined || wavelet === 'morlet2', "nothing but for the wavelet 'morlet2'");
  const scales = realCoefficients(widths, 'widths');
  for (const scale of scales) check('widths', scale, scale > 0, 'positive numbers');
  const signal = realArray(x, 'x');
  const [n] = signal.shape as [number];
  if (signal.shape.length !== 1 || n === 0) {
    const message = `x has shape [${signal.shape.join(', ')}]; cwt takes one signal with at least one sample.`;
    throw new FftError('wrong-length', message, { path: 'x' });
  }
  const kernels = Array.from(scales, (scale) => {
    const points = Math.min(REACH * scale, n);
    return wavelet === 'ricker' ? ricker(points, scale) : morlet2(points, scale, own.w);
  });
  return (await allWidths(signal, kernels, device ?? (await sharedDevice()))) as Cwt<X, Name>;
}

async function allWidths(
  signal: NumpyArray,
  kernels: readonly NumpyArray[],
  device: Awaited<ReturnType<typeof sharedDevice>>,
): Promise<NumpyArray> {
  const single = isSingle(signal.dtype);
  const n = signal.data.length;
  const parts = kernels[0]!.dtype === 'complex128' ? 2 : 1;
  const data = floatZeros(kernels.length * n * parts, single);
  // All wavelets have one length, so that one plan does for all: shorter ones are padded with zeros on both sides.
  const longest = Math.max(...kernels.map(({ shape }) => shape[0]!));
  for (const [row, kernel] of kernels.entries()) {
    const before = Math.floor((longest - 1) / 2) - Math.floor((kernel.shape[0]! - 1) / 2);
    const padded = floatZeros(longest * parts, single);
    padded.set(reversed(kernel).data, before * parts);
    const dtype = parts === 2 ? (single ? 'complex64' : 'complex128') : single ? 'float32' : 'float64';
    const own = { data: padded, shape: [longest], dtype } as NumpyArray;
    const region = { origin: [Math.floor((longest - 1) / 2)], shape: [n] };
    const cut = { axis: 0, step: Number.POSITIVE_INFINITY };
    const result = await convolved({ signal, kernel: own, region, cut, correlates: false }, device);
    data.set(result.data, row * n * parts);
  }
  const dtype = parts === 2 ? (single ? 'complex64' : 'complex128') : single ? 'float32' : 'float64';
  return { data, shape: [kernels.length, n], dtype } as NumpyArray;
}
