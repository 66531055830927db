/** Short-time transforms and spectral densities beside SciPy, where there is one: random shapes, options and types. */
import { beforeAll, describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { missing } from '../../../test/support/optional.ts';
import { findPython } from '../../../test/support/programs.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { askScipy, type ScipyCall } from '../../../test/support/scipy.ts';
import type { ComplexArray, NumpyArray } from '../../numpy/index.ts';
import { coherence, csd, istft, spectrogram, stft, type WindowName, welch } from '../index.ts';

const random = randomFor('src/signal/short-time-scipy');
const python = findPython('scipy.signal');
missing('scipy', python ? undefined : 'no python3 on the PATH has it');

type Options = Readonly<Record<string, unknown>>;
interface Case {
  readonly call: ScipyCall;
  readonly ours: () => Promise<readonly [Float64Array, NumpyArray]>;
}

/** What SciPy calls an option of ours. */
const snakeCase = (options: Options) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]),
  );
const some = (options: Options) => Object.fromEntries(Object.entries(options).filter(() => random.unit() < 0.6));
/** SciPy transforms each array in its own precision. */
const near = (arrays: readonly NumpyArray[]) =>
  arrays.some(({ dtype }) => dtype === 'float32' || dtype === 'complex64') ? 3e-6 : 1e-12;

function signal(shape: readonly number[], dtype?: NumpyArray['dtype']): NumpyArray {
  const type = dtype ?? random.pick(['float32', 'float64', 'complex64', 'complex128'] as const);
  const single = type === 'float32' || type === 'complex64';
  const count = shape.reduce((a, b) => a * b, type.startsWith('complex') ? 2 : 1);
  const values = uniform(random, count, single ? 'single' : 'double');
  return { data: single ? Float32Array.from(values) : values, shape: [...shape], dtype: type };
}

/** A shape with time along one axis, frames of it, and a window. */
function cut(least = 1): { shape: number[]; axis: number; options: Options } {
  const axis = random.integer(-3, 2);
  const shape = Array.from({ length: 3 }, () => random.integer(1, 3));
  const nperseg = random.integer(least, 70);
  shape[(axis + 3) % 3] = random.integer(Math.max(2, nperseg), 400);
  const window = random.pick<WindowName>(['hann', 'hamming', 'boxcar', 'blackman', 'cosine', 'triang']);
  const options = {
    ...(random.unit() < 0.2 ? {} : { window }),
    ...some({ fs: 44100, nfft: nperseg + random.integer(0, 20), noverlap: random.integer(0, nperseg - 1) }),
    nperseg,
  };
  return { shape, axis, options };
}

function stftCase(): Case {
  const { shape, axis, options } = cut();
  const x = signal(shape);
  const all = {
    ...{ boundary: random.pick(['even', 'odd', 'constant', 'zeros', null]), padded: random.unit() < 0.5 },
    // Of a few samples, nothing but rounding errors is left when a line is taken off.
    detrend: random.pick((options.nperseg as number) < 4 ? [false] : [false, 'constant', 'linear']),
    scaling: random.pick(['spectrum', 'psd']),
    returnOnesided: random.unit() < 0.5,
  };
  const own = { ...options, ...some(all), axis };
  return {
    call: { name: 'stft', arrays: [x], options: snakeCase(own) },
    ours: async () => {
      const { f, t, zxx } = await stft(x, own);
      return [Float64Array.of(...f, ...t), zxx];
    },
  };
}

function densityCase(name: 'welch' | 'csd' | 'coherence'): Case {
  // Of a few samples, nothing would be left there either.
  const { shape, axis, options } = cut(8);
  const [x, y] = [signal(shape), signal(shape)];
  const all = {
    ...{ scaling: random.pick(['density', 'spectrum']), average: random.pick(['mean', 'median']) },
    returnOnesided: random.unit() < 0.5,
  };
  const detrend = some({ detrend: random.pick([false, 'constant', 'linear']) });
  // Where nothing is in a bin, its coherence is nothing divided by nothing: no mean is to be taken off a plain frame.
  const window = name === 'coherence' ? ({ window: 'hamming' } as const) : {};
  const own = { ...options, ...window, ...detrend, ...(name === 'coherence' ? {} : some(all)), axis };
  // SciPy takes the sides from its first signal alone.
  const isComplex = ({ dtype }: NumpyArray) => dtype.startsWith('complex');
  const isFitting = isComplex(x) === isComplex(y) || (name === 'csd' && isComplex(x));
  const other = isFitting ? y : signal(shape, isComplex(x) ? 'complex128' : 'float64');
  const call = { name, arrays: name === 'welch' ? [x] : [x, other], options: snakeCase(own) };
  return {
    call,
    ours: async () => {
      if (name === 'welch') {
        const { f, pxx } = await welch(x, own);
        return [f, pxx];
      }
      if (name === 'csd') {
        const { f, pxy } = await csd(x, other, own);
        return [f, pxy];
      }
      const { f, cxy } = await coherence(x, other, own);
      return [f, cxy];
    },
  };
}

/** Levels, angles and all that `spectrogram` gives. */
function spectrogramCase(): Case {
  const { shape, axis, options } = cut(8);
  const x = signal(shape);
  const detrend = some({ detrend: random.pick([false, 'constant', 'linear']) });
  // Angles of what is next to nothing are none.
  const mode = random.pick(['psd', 'psd', 'complex', 'magnitude']);
  const all = { scaling: random.pick(['density', 'spectrum']), returnOnesided: random.unit() < 0.5 };
  const own = { ...options, ...detrend, ...some(all), mode, axis };
  return {
    call: { name: 'spectrogram', arrays: [x], options: snakeCase(own) },
    ours: async () => {
      const { f, t, sxx } = await spectrogram(x, own as never);
      return [Float64Array.of(...f, ...t), sxx];
    },
  };
}

/** Numbers that are no transform of a signal, too. */
function istftCase(): Case {
  const nfft = random.integer(4, 60);
  const nperseg = nfft - (random.unit() < 0.5 ? 0 : random.integer(0, 2));
  const noverlap = random.integer(Math.ceil(nperseg / 2), nperseg - 1);
  const inputOnesided = random.unit() < 0.7;
  const bins = inputOnesided ? Math.floor(nfft / 2) + 1 : nfft;
  const frames = random.integer(2, 30);
  const [timeAxis, freqAxis] = random.pick([
    [-1, -2],
    [0, 1],
    [0, 2],
    [2, 0],
    [1, -1],
  ] as const);
  const shape = [2, 2, 2];
  shape[(timeAxis + 3) % 3] = frames;
  shape[(freqAxis + 3) % 3] = bins;
  const zxx = signal(shape, random.pick(['complex64', 'complex128'])) as ComplexArray;
  const own = {
    ...{ nfft, nperseg, noverlap, inputOnesided, timeAxis, freqAxis },
    ...some({ fs: 8000, scaling: random.pick(['spectrum', 'psd']) }),
    ...(random.unit() < 0.5 ? { boundary: false, window: 'hamming' } : {}),
  };
  return {
    call: { name: 'istft', arrays: [zxx], options: snakeCase(own) },
    ours: async () => {
      const { x } = await istft(zxx, own as never);
      return [new Float64Array(0), x];
    },
  };
}

const kinds: readonly (readonly [string, number, () => Case])[] = [
  ['stft', 24, stftCase],
  ['spectrogram', 16, spectrogramCase],
  ['istft', 16, istftCase],
  ['welch', 16, () => densityCase('welch')],
  ['csd', 16, () => densityCase('csd')],
  ['coherence', 8, () => densityCase('coherence')],
];

/** How many arrays SciPy's functions return. */
const resultsOf = (name: string) => (name === 'stft' || name === 'spectrogram' ? 3 : 2);

describe.runIf(python)('SciPy', () => {
  const all = kinds.map(([, count, make]) => Array.from({ length: count }, make));
  const wanted = new Map<Case, NumpyArray[]>();
  beforeAll(() => {
    const cases = all.flat();
    const calls = cases.map(({ call }) => call);
    const answers = askScipy(
      python!,
      calls,
      calls.map(({ name }) => resultsOf(name)),
    );
    for (const [k, results] of answers.entries()) wanted.set(cases[k]!, results);
  }, 120_000);

  it.each(kinds.map(([name], kind) => [name, kind] as const))(
    'computes the same %s',
    async (name, kind) => {
      for (const one of all[kind]!) {
        const { call, ours } = one;
        const about = JSON.stringify({ ...call, arrays: call.arrays.map(({ shape, dtype }) => ({ shape, dtype })) });
        const [scales, found] = await ours();
        const results = wanted.get(one)!;
        const last = results.at(-1)!;
        expect(found.shape, about).toEqual(last.shape);
        expect(relativeError(found.data, last.data), about).toBeLessThan(
          near(call.arrays) * (name === 'coherence' ? 100 : 1),
        );
        if (name === 'istft') continue;
        const expected = results.slice(0, -1).flatMap(({ data }) => [...data]);
        expect(relativeError(scales, Float64Array.from(expected)), about).toBeLessThan(1e-12);
      }
    },
    180_000,
  );
});
