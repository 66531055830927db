/** Cosine and sine transforms: random calls against sums by their definition and, if it is installed, SciPy; and refusals. */
import { describe, expect, it } from 'vitest';
import { relativeError } from '../../test/support/accuracy.ts';
import { missing } from '../../test/support/optional.ts';
import { findPython } from '../../test/support/programs.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { askScipy } from '../../test/support/scipy.ts';
import { type RealTransform, sumsOf } from '../../test/support/sums.ts';
import { FftError, openDevice } from '../index.ts';
import type { NumpyArray, SumTensorOptions } from './index.ts';
import * as numpy from './index.ts';
import * as sync from './sync.ts';

const random = randomFor('numpy/cosines');
const lineNames = ['dct', 'idct', 'dst', 'idst'] as const;
const tensorNames = ['dctn', 'idctn', 'dstn', 'idstn'] as const;
type Name = (typeof lineNames)[number] | (typeof tensorNames)[number];
const later = { ...numpy };
const atOnce = { ...sync };

interface Options extends SumTensorOptions {
  readonly s?: readonly number[] | null;
  readonly axes?: readonly number[] | null;
  readonly n?: number | null;
  readonly axis?: number;
}

interface Call {
  readonly name: Name;
  readonly x: NumpyArray;
  readonly options: Options;
}

const sizeOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
const isSingle = (dtype: string) => dtype === 'float32' || dtype === 'complex64';
const near = (dtype: string) => (isSingle(dtype) ? 2e-6 : 4e-15);

function arrayOf(shape: readonly number[], dtype: NumpyArray['dtype']): NumpyArray {
  const count = sizeOf(shape) * (dtype.startsWith('complex') ? 2 : 1);
  const values = uniform(random, count, isSingle(dtype) ? 'single' : 'double');
  return { data: isSingle(dtype) ? Float32Array.from(values) : values, shape, dtype };
}

function shuffled(rank: number): number[] {
  const axes = Array.from({ length: rank }, (_, axis) => axis - (random.unit() < 0.5 ? rank : 0));
  return axes.sort(() => random.unit() - 0.5);
}

/** A valid random call. */
function callOf(name: Name): Call {
  const type = random.pick([1, 2, 3, 4, undefined] as const);
  const least = type === 1 && name.includes('dct') ? 2 : 1;
  const shape = Array.from({ length: random.integer(1, 3) }, () => random.integer(least, random.pick([3, 9, 20])));
  const length = () => random.integer(least, 20);
  const axes = shuffled(shape.length).slice(0, random.integer(0, shape.length));
  const several = random.pick<Options>([
    { axes },
    { axes, s: axes.map(() => (random.unit() < 0.3 ? -1 : length())) },
    { s: shape.slice(1).map(length) },
    { axes: null, s: null },
    {},
  ]);
  const axis = random.integer(-shape.length, shape.length - 1);
  const one = random.pick<Options>([{ axis }, { axis, n: length() }, { n: length() }, { n: null }, {}]);
  const dtype = random.pick(['float32', 'float64', 'complex64', 'complex128'] as const);
  const norm = random.pick(['backward', 'ortho', 'forward', null, undefined] as const);
  const orthogonalize = random.pick([true, false, null, undefined]);
  return {
    name,
    x: arrayOf(shape, dtype),
    options: {
      ...(name.endsWith('n') ? several : one),
      ...(type === undefined ? {} : { type }),
      ...(norm === undefined ? {} : { norm }),
      ...(orthogonalize === undefined ? {} : { orthogonalize }),
    },
  };
}

const calls = Array.from({ length: 96 }, (_, k) => callOf([...lineNames, ...tensorNames][k % 8]!));

/** The transform along one axis. */
interface Line {
  readonly kind: RealTransform;
  readonly length: number;
  readonly factor: number;
  readonly orthogonal: boolean;
}

/** The matrix of a transform, by its definition. */
function matrixOf({ kind, length: n, factor, orthogonal }: Line): number[][] {
  const { length, point, bin, weight } = sumsOf(kind, n);
  const trigonometric = kind.startsWith('dct') ? Math.cos : Math.sin;
  const type = Number(kind.at(-1));
  const isEnd = (k: number) => {
    if (kind === 'dct1') return k === 0 || k === n - 1;
    return kind.startsWith('dct') ? k === 0 : kind !== 'dst1' && k === n - 1;
  };
  const scaled = (k: number, types: readonly number[], by: number) =>
    orthogonal && types.includes(type) && isEnd(k) ? by : 1;
  return Array.from({ length: n }, (_, k) =>
    Array.from({ length: n }, (_, j) => {
      const angle = (2 * Math.PI * ((point(j) * bin(k)) % length)) / length;
      const ends = scaled(j, [1, 3], Math.SQRT2) * scaled(k, [1, 2], Math.SQRT1_2);
      return factor * ends * weight(j) * trigonometric(angle);
    }),
  );
}

/** The reals after cropping or padding an axis and transforming it. */
function along(data: Float64Array, shape: readonly number[], axis: number, line: Line): Float64Array {
  const [inner, there] = [sizeOf(shape.slice(axis + 1)), shape[axis]!];
  const matrix = matrixOf(line);
  const result = new Float64Array((data.length / there) * line.length);
  for (let at = 0; at < result.length; at++) {
    const [within, k] = [at % inner, Math.floor(at / inner) % line.length];
    const start = Math.floor(at / inner / line.length) * there * inner + within;
    for (let j = 0; j < Math.min(there, line.length); j++) result[at]! += matrix[k]![j]! * data[start + j * inner]!;
  }
  return result;
}

function expected({ name, x, options }: Call): NumpyArray {
  const { type = 2, s, n, axis = -1, norm, orthogonalize } = options;
  const inverse = name.startsWith('i');
  const kind = `${name.includes('dct') ? 'dct' : 'dst'}${inverse ? ([1, 3, 2, 4] as const)[type - 1]! : type}` as const;
  const count = s?.length ?? x.shape.length;
  const all = Array.from({ length: count }, (_, k) => k - count);
  const axes = (name.endsWith('n') ? (options.axes ?? all) : [axis]).map((k) => (k < 0 ? k + x.shape.length : k));
  const shape = [...x.shape];
  let data: Float64Array = Float64Array.from(x.data);
  axes.forEach((at, k) => {
    const wish = name.endsWith('n') ? s?.[k] : n;
    const length = wish && wish !== -1 ? wish : shape[at]!;
    const points = 2 * (length + (kind === 'dct1' ? -1 : kind === 'dst1' ? 1 : 0));
    const divided = norm === 'ortho' ? Math.sqrt(points) : (norm === 'forward') !== inverse ? points : 1;
    const line = { kind, length, factor: 1 / divided, orthogonal: orthogonalize ?? norm === 'ortho' };
    data = along(data, x.dtype.startsWith('complex') ? [...shape, 2] : shape, at, line);
    shape[at] = length;
  });
  return { data, shape, dtype: x.dtype };
}

const done = (face: object, { name, x, options }: Call) =>
  (face as Record<Name, (x: NumpyArray, options: Options) => NumpyArray | Promise<NumpyArray>>)[name](x, options);

const told = ({ name, x, options }: Call) => JSON.stringify({ name, shape: x.shape, dtype: x.dtype, options });

function expectNear(call: Call, result: NumpyArray, wanted: NumpyArray): void {
  expect({ shape: result.shape, dtype: result.dtype }, told(call)).toEqual({
    shape: wanted.shape,
    dtype: wanted.dtype,
  });
  expect(result.data).toBeInstanceOf(isSingle(call.x.dtype) ? Float32Array : Float64Array);
  expect(relativeError(result.data, wanted.data), told(call)).toBeLessThan(near(call.x.dtype));
}

describe('cosine and sine transforms', () => {
  it('are the sums of their definitions on both faces, and leave their input alone', async () => {
    for (const call of calls) {
      const before = call.x.data.slice();
      const result = await done(later, call);
      expectNear(call, result, expected(call));
      expect(await done(atOnce, call), told(call)).toEqual(result);
      expect(call.x.data).toEqual(before);
      expect(result.data.buffer).not.toBe(call.x.data.buffer);
    }
  });

  const python = findPython('scipy.fft, scipy.signal');
  missing('scipy', python ? undefined : 'no python3 on the PATH has SciPy');

  it.runIf(python)("are SciPy's", async () => {
    // SciPy 1.17 ignores `orthogonalize` for complex numbers.
    const requested = calls.filter(
      ({ x, options }) => x.dtype.startsWith('float') || (options.orthogonalize ?? null) === null,
    );
    const answers = askScipy(
      python!,
      requested.map(({ name, x, options }) => ({ name, arrays: [x], options: options as Record<string, unknown> })),
      1,
    );
    for (const [k, call] of requested.entries()) expectNear(call, await done(later, call), answers[k]![0]!);
  });

  it('are undone by their inverses', async () => {
    const x = arrayOf([5, 6], 'float64');
    for (const type of [1, 2, 3, 4] as const) {
      for (const norm of ['backward', 'ortho', 'forward'] as const) {
        for (const orthogonalize of [true, false]) {
          const options = { type, norm, orthogonalize };
          const cosines = await numpy.idctn(await numpy.dctn(x, options), options);
          expect(relativeError(cosines.data, x.data)).toBeLessThan(4e-15);
          const sines = await numpy.idst(await numpy.dst(x, options), options);
          expect(relativeError(sines.data, x.data)).toBeLessThan(4e-15);
        }
      }
    }
  });

  it('take bare arrays and lists, no axes and empty ones', async () => {
    expect(sync.dct([4, 3, 5, 10]).data[0]).toBeCloseTo(44, 12);
    expect(sync.dct(new Int16Array([4, 3, 5, 10])).dtype).toBe('float64');
    expect(sync.dst(Float32Array.of(3))).toEqual({ data: Float32Array.of(6), shape: [1], dtype: 'float32' });
    const x = arrayOf([2, 3], 'float32');
    expect(await numpy.dctn(x, { axes: [] })).toEqual(x);
    const dot = { data: Float64Array.of(3), shape: [], dtype: 'float64' } as const;
    expect(await numpy.idstn(dot)).toEqual(dot);
    const nothing = { data: new Float64Array(0), shape: [0, 4], dtype: 'float64' } as const;
    expect(await numpy.dct(nothing, { n: 5 })).toEqual({ ...nothing, shape: [0, 5] });
  });

  it('run on a device that is given', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const x = arrayOf([4, 6], 'float32');
    expect(await numpy.dctn(x, { device })).toEqual(await numpy.dctn(x));
    device.close();
    await expect(numpy.dctn(x, { device })).rejects.toMatchObject({ code: 'device-closed' });
  });
});

const image = arrayOf([3, 4], 'float64');
const refusals: readonly (readonly [string, Name, unknown, unknown, string])[] = [
  ['type 0', 'dct', image, { type: 0 }, 'invalid-argument'],
  ['type 5', 'idst', image, { type: 5 }, 'invalid-argument'],
  ['a type in words', 'dctn', image, { type: 'II' }, 'invalid-argument'],
  ['no type', 'dct', image, { type: null }, 'invalid-argument'],
  ['an unknown norm', 'dst', image, { norm: 'unitary' }, 'invalid-argument'],
  ['orthogonalize that is no answer', 'dct', image, { orthogonalize: 1 }, 'invalid-argument'],
  ['type 1 of one point', 'dct', [1], { type: 1 }, 'invalid-size'],
  ['type 1 cropped to one point', 'idctn', image, { type: 1, s: [3, 1] }, 'invalid-size'],
  ['no points', 'dst', image, { n: 0 }, 'invalid-size'],
  ['an empty axis', 'dct', [], {}, 'invalid-size'],
  ['an axis out of range', 'dct', image, { axis: 2 }, 'invalid-argument'],
  ['an axis twice', 'dctn', image, { axes: [0, -2] }, 'invalid-argument'],
  ['lengths beyond any memory', 'dstn', image, { s: [2 ** 40, 2 ** 40] }, 'invalid-size'],
  ['an option of several axes', 'dct', image, { s: [4] }, 'unknown-field'],
  ['an unknown option', 'idctn', image, { colour: 2 }, 'unknown-field'],
  ['texts', 'dst', ['1'], {}, 'wrong-array-type'],
];

describe('cosine and sine transforms refuse', () => {
  it.each(refusals)('%s', async (_, name, x, options, code) => {
    const call = { name, x, options } as Call;
    const rejected = await Promise.resolve(done(later, call)).catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(FftError);
    expect(rejected).toMatchObject({ code });
    expect(() => done(atOnce, call)).toThrow((rejected as Error).message.replace(', device.', '.'));
  });
});
