/** Resampling, smoothing, peaks, spectra and images beside SciPy, where there is one: random shapes, options and types. */
import { casesFor, describeScipy, inDoubles, near, type ScipyCase, vector } from '../../test/support/scipy-cases.ts';
import type { NumpyArray } from '../numpy/index.ts';
import {
  convolve2d,
  correlate2d,
  cwt,
  decimate,
  detrend,
  envelope,
  fftconvolve,
  findPeaks,
  lombscargle,
  medfilt,
  oaconvolve,
  peakProminences,
  peakWidths,
  periodogram,
  resample,
  resamplePoly,
  savgolCoeffs,
  savgolFilter,
  upfirdn,
} from './index.ts';

const { random, between, some, signal, shapeOf } = casesFor('src/signal/signals-scipy');
const reals = ['float32', 'float64'] as const;
/** Where SciPy computes in the precision of the signal. */
const alike = ({ dtype }: NumpyArray) => (dtype === 'float32' || dtype === 'complex64' ? 3e-6 : 1e-10);
const snakeCase = (options: object) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]),
  );

function resampleCase(): ScipyCase {
  const { shape, axis } = shapeOf(1, 60);
  const x = signal(shape);
  const num = random.integer(1, 90);
  const isOdd = shape[(axis + 3) % 3]! % 2 === 1;
  // The middle of an odd number of bins is a bin further on in SciPy 1.17, which of real signals does not matter.
  const window =
    isOdd && x.dtype.startsWith('complex') ? undefined : random.pick([undefined, 'hann', 'boxcar', 'triang'] as const);
  const options = { axis, ...(window ? { window } : {}) };
  return {
    call: { name: 'resample', arrays: [x], options: { num, ...options } },
    ours: async () => [await resample(x, num, options)],
    most: alike(x),
  };
}

function resamplePolyCase(): ScipyCase {
  const { shape, axis } = shapeOf(1, 200);
  const [up, down] = [random.integer(1, 12), random.integer(1, 12)];
  const levels = ['median', 'maximum', 'minimum'] as const;
  const padtype = random.pick(['constant', 'line', 'mean', ...levels, 'edge', 'symmetric', 'reflect', 'wrap'] as const);
  // SciPy puts complex numbers in the order of their real parts.
  const x = signal(shape, levels.some((level) => level === padtype) ? reals : undefined);
  const options = { axis, ...some({ padtype, window: 'hamming' as const }) };
  return {
    call: { name: 'resample_poly', arrays: [x], options: { up, down, ...options } },
    ours: () => [resamplePoly(x, up, down, options)],
    most: alike(x),
  };
}

function upfirdnCase(): ScipyCase {
  const { shape, axis } = shapeOf(1, 60);
  const [h, x] = [signal([random.integer(1, 40)], ['float64']), signal(shape)];
  const mode = random.pick([
    ...([
      'constant',
      'symmetric',
      'reflect',
      'edge',
      'wrap',
      'smooth',
      'antisymmetric',
      'antireflect',
      'line',
    ] as const),
  ]);
  // SciPy reads past the end of a single sample there.
  const options = {
    up: random.integer(1, 6),
    down: random.integer(1, 6),
    axis,
    mode: shape[(axis + 3) % 3]! > 1 ? mode : 'constant',
  };
  return {
    call: { name: 'upfirdn', arrays: [h, x], options },
    ours: () => [upfirdn(h, x, options as never)],
    most: near(x),
  };
}

function decimateCase(): ScipyCase {
  const { shape, axis } = shapeOf(120, 200);
  const x = signal(shape);
  const q = random.integer(2, 13);
  const ftype = random.pick(['iir', 'fir'] as const);
  const options = {
    axis,
    ftype,
    zeroPhase: random.unit() < 0.6,
    ...some({ n: random.integer(2, ftype === 'fir' ? 60 : 8) }),
  };
  return {
    call: { name: 'decimate', arrays: [x], options: { q, ...snakeCase(options) } },
    ours: () => [decimate(x, q, options)],
    most: x.dtype.endsWith('64') && x.dtype !== 'complex64' ? 1e-10 : 1e-4,
  };
}

function savgolCase(): ScipyCase {
  const window = 2 * random.integer(1, 15) + 1;
  const { shape, axis } = shapeOf(window, 80);
  const x = signal(shape, reals);
  const polyorder = random.integer(0, Math.min(4, window - 1));
  const mode = random.pick(['interp', 'mirror', 'nearest', 'constant', 'wrap'] as const);
  const options = { axis, mode, ...some({ deriv: random.integer(0, 3), delta: 0.5, cval: 2 }) };
  return {
    // SciPy fits the edges of singles in singles, which is less exact than ours: it is asked for doubles.
    call: { name: 'savgol_filter', arrays: [inDoubles(x)], options: { window_length: window, polyorder, ...options } },
    ours: () => [savgolFilter(x, window, polyorder, options)],
    most: near(x),
  };
}

function savgolCoeffsCase(): ScipyCase {
  const window = 2 * random.integer(1, 20) + 1;
  const polyorder = random.integer(0, Math.min(4, window - 1));
  const options = some({
    deriv: random.integer(0, polyorder),
    delta: 2,
    pos: random.integer(0, window - 1),
    use: 'dot' as const,
  });
  return {
    call: { name: 'savgol_coeffs', arrays: [], options: { window_length: window, polyorder, ...options } },
    ours: () => [savgolCoeffs(window, polyorder, options)],
  };
}

function medfiltCase(): ScipyCase {
  const shape = Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 12));
  const x = signal(shape, reals);
  const sizes = shape.map(() => 2 * random.integer(0, 3) + 1);
  return {
    call: { name: 'medfilt', arrays: [x], options: { kernel_size: sizes } },
    ours: () => [medfilt(x, sizes)],
    most: 1e-15,
  };
}

function detrendCase(): ScipyCase {
  const { shape, axis } = shapeOf(12, 60);
  const x = signal(shape);
  const type = random.pick(['linear', 'constant'] as const);
  const options = { axis, type, ...some({ bp: random.pick([4, [3, 7]]) }) };
  return { call: { name: 'detrend', arrays: [x], options }, ours: () => [detrend(x, options)], most: alike(x) };
}

/** Few different heights, so that there are flat tops. */
const steps = (n: number) => vector(Float64Array.from({ length: n }, () => random.integer(0, random.pick([3, 20]))));

function findPeaksCase(): ScipyCase {
  const x = steps(random.integer(1, 200));
  const all = {
    ...{ height: random.pick([2, [1, 2], [null, 10]] as const), threshold: random.pick([1, [null, 2]] as const) },
    ...{ distance: random.integer(1, 9), prominence: random.pick([2, [1, 12]] as const), wlen: random.integer(2, 30) },
    ...{
      width: random.pick([1, [1, 6]] as const),
      relHeight: random.unit(),
      plateauSize: random.pick([1, [1, 2]] as const),
    },
  };
  const options = some(all);
  // Equal peaks that are too near to one another: SciPy's order of them is that of its sort.
  if (options.distance !== undefined) x.data.forEach((_, k) => (x.data[k]! += 1e-3 * random.unit()));
  return {
    call: { name: 'find_peaks', arrays: [x], options: snakeCase(options) },
    ours: () => {
      const { peaks, properties } = findPeaks(x, options);
      const named = Object.entries(snakeCase(properties)) as [string, ArrayLike<number>][];
      const sorted = named.sort(([a], [b]) => (a < b ? -1 : 1));
      return [peaks, Float64Array.from(sorted.flatMap(([, values]) => Array.from(values)))];
    },
  };
}

function peakShapeCase(name: 'peak_prominences' | 'peak_widths'): ScipyCase {
  const x = steps(random.integer(20, 200));
  const { peaks } = findPeaks(x);
  const options = some({ wlen: random.integer(2, 30) });
  const width = { ...options, relHeight: between(0, 1.2) };
  return {
    call: {
      name,
      arrays: [x],
      options: { peaks: Array.from(peaks), ...(name === 'peak_widths' ? snakeCase(width) : options) },
    },
    ours: () => {
      if (name === 'peak_prominences') {
        const { prominences, leftBases, rightBases } = peakProminences(x, peaks, options);
        return [prominences, leftBases, rightBases];
      }
      const { widths, widthHeights, leftIps } = peakWidths(x, peaks, width);
      return [widths, widthHeights, leftIps];
    },
  };
}

function periodogramCase(): ScipyCase {
  const { shape, axis } = shapeOf(8, 60);
  const x = signal(shape);
  const options = {
    axis,
    ...some({
      fs: 8000,
      window: 'hann' as const,
      nfft: random.integer(8, 80),
      detrend: random.pick([false, 'linear'] as const),
    }),
    ...some({ scaling: 'spectrum' as const, returnOnesided: false }),
  };
  return {
    call: { name: 'periodogram', arrays: [x], options: snakeCase(options) },
    ours: async () => {
      const { f, pxx } = await periodogram(x, options);
      return [f, pxx];
    },
    most: alike(x),
  };
}

function lombscargleCase(): ScipyCase {
  const n = random.integer(5, 60);
  const x = vector(Float64Array.from({ length: n }, () => between(0, 20)).sort());
  const y = signal([n], ['float64']);
  const freqs = vector(Float64Array.from({ length: 20 }, () => between(0.1, 9)));
  const options = { normalize: random.unit() < 0.5 };
  return {
    call: { name: 'lombscargle', arrays: [x, y, freqs], options },
    ours: () => [lombscargle(x, y, freqs, options)],
  };
}

function envelopeCase(): ScipyCase {
  const { shape, axis } = shapeOf(8, 40);
  const n = shape[(axis + 3) % 3]!;
  const x = signal(shape, ['float64', 'complex128']);
  const low = random.integer(1, Math.floor(n / 2) - 2);
  const bpIn = random.pick([
    [low, low + 1],
    [low, null],
    [1, null],
    [-2, 3],
    [null, null],
  ] as const);
  const options = {
    bpIn,
    squared: random.unit() < 0.5,
    residual: random.pick(['lowpass', 'all'] as const),
    axis,
    ...some({ nOut: random.integer(4, 60) }),
  };
  return {
    call: { name: 'envelope', arrays: [x], options: snakeCase(options) },
    ours: async () => {
      const found = await envelope(x, options);
      // SciPy stacks the two, which of complex signals makes both complex.
      const complex = x.dtype === 'complex128';
      const first = found.envelope.data;
      const env = complex
        ? Float64Array.from({ length: 2 * first.length }, (_, k) => (k % 2 === 0 ? first[k / 2]! : 0))
        : first;
      return [Float64Array.of(...env, ...found.residual!.data)];
    },
  };
}

function imageCase(name: 'convolve2d' | 'correlate2d'): ScipyCase {
  const pair = (most: number) => [random.integer(1, most), random.integer(1, most)];
  const [small, large] = [pair(random.pick([4, 12])), pair(20)];
  const mode = random.pick(['full', 'same', 'valid'] as const);
  const grown = mode === 'valid' ? large.map((n, d) => Math.max(n, small[d]!)) : large;
  const shapes = random.unit() < 0.3 ? [small, grown] : [grown, small];
  // Of two images that have changed places, SciPy conjugates the other one.
  const types = mode === 'valid' && name === 'correlate2d' ? reals : undefined;
  const [x, y] = [signal(shapes[0]!, types), signal(shapes[1]!, types)];
  const options = { mode, boundary: random.pick(['fill', 'wrap', 'symm'] as const), ...some({ fillvalue: 3 }) };
  return {
    call: { name, arrays: [x, y], options },
    ours: async () => [await (name === 'convolve2d' ? convolve2d : correlate2d)(x, y, options)],
    most: [x, y].some(({ dtype }) => dtype === 'float32' || dtype === 'complex64') ? 3e-6 : 1e-10,
  };
}

function axesCase(name: 'fftconvolve' | 'oaconvolve'): ScipyCase {
  const axes = random.pick([[0], [1], [-1], [0, 2], [2, 0], [1, 2], [0, 1, 2]]);
  const own = axes.map((axis) => (axis + 3) % 3);
  const mode = random.pick(['full', 'same', 'valid'] as const);
  const first = Array.from({ length: 3 }, () => random.integer(3, 9));
  const second = first.map((n, d) =>
    own.includes(d) ? random.integer(2, mode === 'valid' ? n : 9) : random.pick([n, 1]),
  );
  // Repeated along an axis, SciPy cuts the result of `same` to the first array's length.
  const shape = first.map((n, d) => (mode !== 'same' && !own.includes(d) && random.unit() < 0.3 ? 1 : n));
  const [x, y] = [signal(shape), signal(second)];
  return {
    call: { name, arrays: [x, y], options: { mode, axes } },
    ours: async () => [await (name === 'fftconvolve' ? fftconvolve : oaconvolve)(x, y, { mode, axes })],
    most: [x, y].some(({ dtype }) => dtype === 'float32' || dtype === 'complex64') ? 3e-6 : 1e-10,
  };
}

function cwtCase(): ScipyCase {
  const x = signal([random.integer(2, 100)], ['float64']);
  const widths = Array.from({ length: random.integer(1, 5) }, () => random.integer(1, 20));
  const wavelet = random.pick(['ricker', 'morlet2'] as const);
  const options = wavelet === 'morlet2' ? some({ w: between(3, 7) }) : {};
  return {
    call: { name: 'cwt', arrays: [x], options: { wavelet, widths, ...options } },
    ours: async () => [await cwt(x, wavelet, widths, options)],
  };
}

describeScipy([
  ['resample', 30, 1, resampleCase],
  ['resamplePoly', 60, 1, resamplePolyCase],
  ['upfirdn', 60, 1, upfirdnCase],
  ['decimate', 40, 1, decimateCase],
  ['savgolFilter', 60, 1, savgolCase],
  ['savgolCoeffs', 40, 1, savgolCoeffsCase],
  ['medfilt', 40, 1, medfiltCase],
  ['detrend', 40, 1, detrendCase],
  ['findPeaks', 100, 2, findPeaksCase],
  ['peakProminences', 40, 3, () => peakShapeCase('peak_prominences')],
  ['peakWidths', 40, 3, () => peakShapeCase('peak_widths')],
  ['periodogram', 20, 2, periodogramCase],
  ['lombscargle', 20, 1, lombscargleCase],
  ['envelope', 20, 1, envelopeCase],
  ['convolve2d', 40, 1, () => imageCase('convolve2d')],
  ['correlate2d', 40, 1, () => imageCase('correlate2d')],
  ['fftconvolve over axes', 25, 1, () => axesCase('fftconvolve')],
  ['oaconvolve over axes', 25, 1, () => axesCase('oaconvolve')],
  ['cwt', 12, 1, cwtCase],
]);
