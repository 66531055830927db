/** Random arrays, axes, lengths and norms against the double-double reference and, where it is installed, SciPy. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceTransform } from '../../test/reference/transform.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { missing } from '../../test/support/optional.ts';
import { findPython } from '../../test/support/programs.ts';
import { randomFor, seedFor, uniform } from '../../test/support/random.ts';
import * as numpy from './index.ts';
import type { NpyDtype } from './npy.ts';
import * as sync from './sync.ts';

const random = randomFor('numpy');
const seed = seedFor('numpy') | 0;

/** Both faces by name: functions are looked up in these. */
const later = { ...numpy };
const atOnce = { ...sync };
const names = ['fft', 'ifft', 'fft2', 'ifft2', 'fftn', 'ifftn'] as const;
const lengths = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 18);
const norms = fc.constantFrom('backward', 'ortho', 'forward', undefined);
const dtypes = fc.constantFrom<NpyDtype>('float32', 'float64', 'complex64', 'complex128');

/** One call, and what it means in the end. */
interface Case {
  readonly name: (typeof names)[number];
  readonly array: numpy.NumpyArray;
  readonly options: numpy.LineOptions & numpy.TensorOptions;
  /** Transformed axes from 0, and their lengths. */
  readonly axes: readonly number[];
  readonly lengths: readonly number[];
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    name: fc.constantFrom(...names),
    shape: fc.array(lengths, { minLength: 1, maxLength: 4 }),
    dtype: dtypes,
    norm: norms,
    order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 }),
    news: fc.array(fc.option(lengths), { minLength: 4, maxLength: 4 }),
    spelling: fc.record({ s: fc.boolean(), axes: fc.boolean(), negative: fc.array(fc.boolean(), { minLength: 4 }) }),
  })
  .map(({ name, shape: drawn, dtype, norm, order, news, spelling }) => {
    const most = name.endsWith('n') ? drawn.length : name.endsWith('2') ? 2 : 1;
    const shape = drawn.length < most ? [...drawn, 3] : drawn;
    const rank = shape.length;
    const chosen = order.filter((axis) => axis < rank);
    for (let axis = 0; chosen.length < Math.min(2, most); axis++) if (!chosen.includes(axis)) chosen.push(axis);
    const last = (count: number) => Array.from({ length: count }, (_, k) => rank - count + k);
    const axes = spelling.axes ? chosen.slice(0, most) : last(most);
    const given = axes.map((axis, k) => (spelling.negative[k] ? axis - rank : axis));
    const news_ = axes.map((_, k) => (spelling.s ? news[k] : null));
    const entries = shape.reduce((a, b) => a * b, dtype.startsWith('c') ? 2 : 1);
    const single = dtype === 'float32' || dtype === 'complex64';
    const values = uniform(random, entries, single ? 'single' : 'double');
    const line = most === 1 && !name.endsWith('n');
    return {
      name,
      array: { data: single ? Float32Array.from(values) : values, shape, dtype },
      options: {
        norm,
        ...(line && spelling.axes ? { axis: given[0] } : {}),
        ...(line && news_[0] ? { n: news_[0] } : {}),
        ...(!line && spelling.axes ? { axes: given } : {}),
        ...(!line && spelling.s ? { s: news_.map((length) => length ?? -1) } : {}),
      },
      axes,
      lengths: axes.map((axis, k) => news_[k] ?? shape[axis]!),
    };
  });

/** Element by element: what an index outside the old shape holds is zero. */
function fitted({ array, axes, lengths }: Case): { data: Float64Array; shape: number[] } {
  const shape = array.shape.map((length, axis) => (axes.includes(axis) ? lengths[axes.indexOf(axis)]! : length));
  const count = shape.reduce((a, b) => a * b, 1);
  const data = new Float64Array(2 * count);
  const complex = array.dtype.startsWith('c');
  for (let k = 0; k < count; k++) {
    let rest = k;
    let from = 0;
    let stride = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const index = rest % shape[axis]!;
      rest = (rest - index) / shape[axis]!;
      if (index >= array.shape[axis]!) from = Number.NaN;
      from += index * stride;
      stride *= array.shape[axis]!;
    }
    if (Number.isNaN(from)) continue;
    data[2 * k] = array.data[complex ? 2 * from : from]!;
    if (complex) data[2 * k + 1] = array.data[2 * from + 1]!;
  }
  return { data, shape };
}

/** What the result should be; a factor of 2 on the error leaves room for rounding the scale and the product with it. */
function expectTransform(one: Case, result: numpy.ComplexArray): void {
  const { name, array, options, axes, lengths } = one;
  const { data, shape } = fitted(one);
  const points = lengths.reduce((a, b) => a * b, 1);
  const inverse = name.startsWith('i');
  const divided = options.norm === 'ortho' ? Math.sqrt(points) : (options.norm === 'forward') !== inverse ? points : 1;
  const { hi, lo } = referenceTransform(
    {
      size: shape.toReversed(),
      omit: shape.map((_, axis) => !axes.includes(axis)).reverse(),
      direction: inverse ? 'inverse' : 'forward',
    },
    data,
  );
  const single = array.dtype === 'float32' || array.dtype === 'complex64';
  expect(result.shape).toEqual(shape);
  expect(result.dtype).toBe(single ? 'complex64' : 'complex128');
  expect(result.data).toBeInstanceOf(single ? Float32Array : Float64Array);
  const expected = hi.map((value) => value / divided);
  const low = lo.map((value) => value / divided);
  expect(relativeError(result.data, expected, low)).toBeLessThanOrEqual(
    2 * tolerance(single ? 'single' : 'double', points),
  );
}

describe('random calls', () => {
  it('agree with the reference on both faces, and leave their input alone', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const before = one.array.data.slice();
        const result = await later[one.name](one.array, one.options);
        expectTransform(one, result);
        expectTransform(one, atOnce[one.name](one.array, one.options));
        expect(one.array.data).toEqual(before);
        expect(result.data.buffer).not.toBe(one.array.data.buffer);
      }),
      { seed, numRuns: 250 },
    );
  });

  it('shifts move bin 0 to the middle and back, one axis at a time or all at once', () => {
    fc.assert(
      fc.property(cases, ({ array, axes }) => {
        const shifted = numpy.fftshift(array, axes);
        expect(numpy.ifftshift(shifted, axes)).toEqual(array);
        expect(axes.reduce((partly, axis) => numpy.fftshift(partly, axis), array)).toEqual(shifted);
        const complex = array.dtype.startsWith('c') ? 2 : 1;
        const middle = array.shape.reduce((at, n, axis) => at * n + (axes.includes(axis) ? Math.floor(n / 2) : 0), 0);
        expect(shifted.data[complex * middle]).toBe(array.data[0]);
      }),
      { seed, numRuns: 100 },
    );
  });
});

const SCRIPT = `
import json, sys
import numpy, scipy.fft
folder = sys.argv[1]
for k, (name, options) in enumerate(json.load(open(folder + '/cases.json'))):
    x = numpy.load(f'{folder}/in{k}.npy')
    numpy.save(f'{folder}/out{k}.npy', numpy.ascontiguousarray(getattr(scipy.fft, name)(x, **options)))
`;

describe('SciPy', () => {
  const python = findPython('scipy.fft');
  missing('scipy', python ? undefined : 'no python3 on the PATH has it');
  it.runIf(python)('computes the same', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'omnifft-numpy-'));
    try {
      const sample = fc.sample(cases, { seed, numRuns: 60 });
      const shifts = sample.map(
        ({ array, axes }, k) => ({ name: k % 2 ? 'fftshift' : 'ifftshift', array, options: { axes } }) as const,
      );
      const calls = [...sample, ...shifts];
      calls.forEach(({ array }, k) => writeFileSync(join(folder, `in${k}.npy`), numpy.writeNpy(array)));
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(calls.map(({ name, options }) => [name, options])));
      const { status, stderr } = spawnSync(python as string, ['-c', SCRIPT, folder], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const results = calls.map((_, k) => numpy.readNpy(readFileSync(join(folder, `out${k}.npy`))));
      for (const [k, one] of sample.entries()) {
        const result = await later[one.name](one.array, one.options);
        const { data, shape, dtype } = results[k]!;
        expect({ shape: result.shape, dtype: result.dtype }).toEqual({ shape, dtype });
        const points = one.lengths.reduce((a, b) => a * b, 1);
        expect(relativeError(result.data, data)).toBeLessThanOrEqual(
          3 * tolerance(dtype === 'complex64' ? 'single' : 'double', points),
        );
      }
      for (const [k, { name, array, options }] of shifts.entries()) {
        expect(later[name](array, options)).toEqual(results[sample.length + k]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
