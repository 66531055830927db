/** Convolutions, correlations and analytic signals beside SciPy, where there is one: random shapes and types. */
import { beforeAll, describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { missing } from '../../../test/support/optional.ts';
import { findPython } from '../../../test/support/programs.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { askScipy, type ScipyCall } from '../../../test/support/scipy.ts';
import type { NumpyArray } from '../../numpy/index.ts';
import { correlate, correlationLags, fftconvolve, hilbert, oaconvolve } from '../index.ts';

const random = randomFor('src/signal/convolve-scipy');
const python = findPython('scipy.signal');
missing('scipy', python ? undefined : 'no python3 on the PATH has it');

const everyType = ['float32', 'float64', 'complex64', 'complex128'] as const;

interface Case {
  readonly call: ScipyCall;
  readonly ours: () => Promise<NumpyArray> | NumpyArray;
}

function signal(shape: readonly number[], types: readonly NumpyArray['dtype'][] = everyType): NumpyArray {
  const dtype = random.pick(types);
  const single = dtype === 'float32' || dtype === 'complex64';
  const count = shape.reduce((a, b) => a * b, dtype.startsWith('complex') ? 2 : 1);
  const values = uniform(random, count, single ? 'single' : 'double');
  return { data: single ? Float32Array.from(values) : values, shape: [...shape], dtype };
}

const functions = { fftconvolve, oaconvolve, correlate };

function convolutionCase(name: keyof typeof functions): Case {
  const axes = random.integer(1, 3);
  const most = [0, 700, 30, 9][axes]!;
  const shapes = [0, 1].map(() => Array.from({ length: axes }, () => random.integer(1, most)));
  const mode = random.pick(['full', 'same', 'valid', undefined] as const);
  // Of `valid`, one holds the other.
  const [a, b] = [
    shapes[0]!.map((n, d) => Math.max(n, shapes[1]![d]!)),
    shapes[0]!.map((n, d) => Math.min(n, shapes[1]![d]!)),
  ];
  const [first, second] = mode !== 'valid' ? shapes : random.unit() < 0.5 ? [a, b] : [b, a];
  const arrays = [signal(first!), signal(second!)];
  const options = mode === undefined ? {} : { mode };
  return { call: { name, arrays, options }, ours: () => functions[name](arrays[0]!, arrays[1]!, options) };
}

function hilbertCase(): Case {
  const axis = random.integer(-3, 2);
  const x = signal(
    Array.from({ length: 3 }, () => random.integer(1, 20)),
    ['float32', 'float64'],
  );
  const n = random.unit() < 0.5 ? undefined : random.integer(1, 30);
  const options = { axis, ...(n === undefined ? {} : { N: n }) };
  return { call: { name: 'hilbert', arrays: [x], options }, ours: () => hilbert(x, { axis, n }) };
}

function lagsCase(): Case {
  const [in1_len, in2_len] = [random.integer(1, 20), random.integer(1, 20)];
  // SciPy's lags of `same` are not those of its correlation where the first length is odd and the second one even.
  const isOff = in1_len % 2 === 1 && in2_len % 2 === 0;
  const mode = random.pick(isOff ? (['full', 'valid'] as const) : (['full', 'same', 'valid'] as const));
  const ours = () => {
    const data = correlationLags(in1_len, in2_len, mode);
    return { data, shape: [data.length], dtype: 'float64' } as const;
  };
  return { call: { name: 'correlation_lags', arrays: [], options: { in1_len, in2_len, mode } }, ours };
}

const kinds: readonly (readonly [string, number, () => Case])[] = [
  ...(['fftconvolve', 'oaconvolve', 'correlate'] as const).map(
    (name) => [name, 16, () => convolutionCase(name)] as const,
  ),
  ['hilbert', 12, hilbertCase],
  ['correlation_lags', 60, lagsCase],
];

describe.runIf(python)('SciPy', () => {
  const all = kinds.map(([, count, make]) => Array.from({ length: count }, make));
  const wanted = new Map<Case, NumpyArray[]>();
  beforeAll(() => {
    const cases = all.flat();
    const calls = cases.map(({ call }) => call);
    for (const [k, results] of askScipy(python!, calls, 1).entries()) wanted.set(cases[k]!, results);
  }, 120_000);

  it.each(kinds.map(([name], kind) => [name, kind] as const))(
    'computes the same %s',
    async (_name, kind) => {
      for (const one of all[kind]!) {
        const { call, ours } = one;
        const about = JSON.stringify({ ...call, arrays: call.arrays.map(({ shape, dtype }) => ({ shape, dtype })) });
        const found = await ours();
        const [expected] = wanted.get(one)!;
        expect(found.shape, about).toEqual(expected!.shape);
        const single = call.arrays.some(({ dtype }) => dtype === 'float32' || dtype === 'complex64');
        expect(relativeError(found.data, expected!.data), about).toBeLessThan(single ? 1e-5 : 1e-12);
      }
    },
    180_000,
  );
});
