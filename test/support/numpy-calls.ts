/** Random calls of the functions that `omnifft/numpy` and `numpy.fft` or `scipy.fft` have in common, some of which neither can do. */

import fc from 'fast-check';
import type { NpyDtype } from '../../src/numpy/arrays/npy-array.ts';

import type { LineName, ModelArray, ModelOptions, TensorName } from '../reference/numpy.ts';
import { type Random, uniform } from './random.ts';

/** How an array is given: with a shape, as a bare typed array of this class, or as lists. */
export type Spelling = 'array' | 'list' | (typeof integers)[number];

const integers = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const;
const classes = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
} as const;

export interface NumpyCall {
  readonly name: LineName | TensorName;
  readonly array: {
    readonly data: Float32Array | Float64Array;
    readonly shape: readonly number[];
    readonly dtype: NpyDtype;
  };
  readonly spelling: Spelling;
  readonly options: ModelOptions;
}

const lineNames = ['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'] as const;
const hermitianNames = ['hfft2', 'ihfft2', 'hfftn', 'ihfftn'] as const;
const tensorNames = [
  'fft2',
  'ifft2',
  'rfft2',
  'irfft2',
  'fftn',
  'ifftn',
  'rfftn',
  'irfftn',
  ...hermitianNames,
] as const;
/** Doubles of fast-check's own are nearly all next to 0 or 1. */
const fractions = fc.noBias(fc.integer({ min: 0, max: 999 })).map((thousandths) => thousandths / 1000);
const lengths = fc.constantFrom<number[]>(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 18);
/** Mostly lengths that can be. */
const wishes = fc.oneof({ weight: 24, arbitrary: lengths }, { weight: 1, arbitrary: fc.constantFrom(0, -2, -1, 2.5) });
const norms = fc.constantFrom('backward', 'ortho', 'forward', null, undefined, 'backward', 'ortho', 'forward', 'unit');

const shapes = fc
  .oneof(
    { weight: 20, arbitrary: fc.array(lengths, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom<number[]>(0, 2, 3), { maxLength: 3 }) },
  )
  .filter((shape) => shape.reduce((a, b) => a * b, 1) <= 4000);

/** Axes from −rank to rank − 1, now and then one that there is not, or the same one again. */
function axisOf(shape: readonly number[], draw: number): number {
  const rank = shape.length;
  return Math.floor(draw * (2 * rank + 0.3)) - rank;
}

function dataOf(random: Random, count: number, spelling: Spelling, single: boolean): Float32Array | Float64Array {
  const unsigned = spelling.startsWith('u');
  if (spelling in classes) {
    return Float64Array.from({ length: count }, () => random.integer(unsigned ? 0 : -128, unsigned ? 255 : 127));
  }
  const values = uniform(random, count, single ? 'single' : 'double');
  return single ? Float32Array.from(values) : values;
}

/** What is asked of several axes; where the same axis comes again, in a random order. */
function tensorOptions(
  shape: readonly number[],
  { draws, wished, spell, two }: { draws: number[]; wished: number[]; spell: number; two: boolean },
): ModelOptions {
  const count = two ? 2 : Math.min(draws.length, shape.length + 1);
  const axes = draws.slice(0, count).map((draw) => axisOf(shape, draw));
  const s = wished.slice(0, spell < 0.03 ? count + 1 : count);
  if (spell < 0.35) return { axes, s };
  if (spell < 0.7) return { axes };
  if (spell < 0.75) return { axes: null };
  if (spell < 0.9) return { s: two ? s : s.slice(0, Math.max(1, shape.length - 1)) };
  return {};
}

export function numpyCalls(random: Random): fc.Arbitrary<NumpyCall> {
  return fc
    .record({
      name: fc.constantFrom(...lineNames, ...tensorNames),
      shape: shapes,
      dtype: fc.constantFrom<NpyDtype>('float32', 'float64', 'complex64', 'complex128'),
      spelling: fc.constantFrom<Spelling>('array', 'array', 'array', 'array', 'list', ...integers),
      norm: norms,
      draws: fc.array(fractions, { minLength: 2, maxLength: 4 }),
      wished: fc.array(wishes, { minLength: 5, maxLength: 5 }),
      spell: fractions,
    })
    .map(({ name, shape: drawn, dtype: wanted, spelling: how, norm, draws, wished, spell }) => {
      // A list of no lists does not say how long they would be.
      const spelling = drawn.length === 0 || drawn.includes(0) ? 'array' : how;
      const bare = spelling !== 'array' && spelling !== 'list';
      // Complex numbers for reals are worth a few attempts only.
      const takesReals = name.startsWith('r') || name.startsWith('ihfft');
      const complex = wanted.startsWith('c') && spelling === 'array' && (!takesReals || spell < 0.1);
      const single = spelling === 'array' && (wanted === 'float32' || wanted === 'complex64');
      const dtype: NpyDtype = complex ? (single ? 'complex64' : 'complex128') : single ? 'float32' : 'float64';
      const shape = bare ? [drawn.reduce((a, b) => a * b, 1)] : drawn;
      const count = shape.reduce((a, b) => a * b, complex ? 2 : 1);
      const isLine = lineNames.some((line) => line === name);
      const two = name.endsWith('2');
      const line = {
        ...(spell < 0.5 ? { n: wished[0]! } : spell < 0.55 ? { n: null } : {}),
        ...(draws[1]! < 0.6 ? { axis: draws[1]! < 0.02 ? null : axisOf(shape, draws[0]!) } : {}),
      };
      const options: ModelOptions = isLine ? line : tensorOptions(shape, { draws, wished, spell, two });
      const array = { data: dataOf(random, count, spelling, single), shape, dtype };
      return { name, array, spelling, options: norm === undefined ? options : { ...options, norm } };
    })
    .filter(({ name, array, options }) => {
      // NumPy returns what it was given where no axis is named, real or not; here results are complex.
      if (array.shape.length === 0 && /^i?fft[2n]$/.test(name) && !options.axes?.length) return false;
      return true;
    });
}

/** The array as the call spells it. */
export function spelled({ array, spelling }: NumpyCall): unknown {
  const { data, shape } = array;
  if (spelling === 'array') return array;
  if (spelling === 'list') return nested([...data], shape);
  const numbers = [...data];
  if (spelling === 'int64' || spelling === 'uint64') return classes[spelling].from(numbers.map(BigInt));
  return classes[spelling].from(numbers);
}

function nested(numbers: readonly number[], [length = 0, ...inner]: readonly number[]): unknown[] {
  if (inner.length === 0) return [...numbers];
  const each = numbers.length / Math.max(1, length);
  return Array.from({ length }, (_, k) => nested(numbers.slice(k * each, (k + 1) * each), inner));
}

/** The array as the model takes it. */
export function modelled({ array: { data, shape, dtype } }: NumpyCall): ModelArray {
  const complex = dtype.startsWith('c');
  const hi = complex ? Float64Array.from(data) : new Float64Array(2 * data.length);
  if (!complex) data.forEach((value: number, k: number) => (hi[2 * k] = value));
  return { hi, lo: new Float64Array(hi.length), shape, complex };
}

/** Whether it is one of those that SciPy has and NumPy does not. */
export function isScipys({ name }: NumpyCall): boolean {
  return hermitianNames.some((known) => known === name);
}

/** Whether an axis comes again. */
export function repeats({ array: { shape }, options }: NumpyCall): boolean {
  const axes = (options.axes ?? []).map((axis) => (axis < 0 ? axis + shape.length : axis));
  return new Set(axes).size < axes.length;
}
