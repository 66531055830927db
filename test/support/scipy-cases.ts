/** Cases that are computed here and by SciPy, where there is one: random arrays, and one run of Python for all. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { NumpyArray } from '../../src/numpy/index.ts';
import { relativeError } from './accuracy.ts';
import { missing } from './optional.ts';
import { findPython } from './programs.ts';
import { type Random, randomFor, uniform } from './random.ts';
import { askScipy, type ScipyCall } from './scipy.ts';

export type Found = NumpyArray | Float64Array | Uint32Array | number;

export interface ScipyCase {
  readonly call: ScipyCall;
  /** What SciPy's call returns, in its order. */
  readonly ours: () => readonly Found[] | Promise<readonly Found[]>;
  /** Of the relative error; default 1e-10. */
  readonly most?: number;
}

/** A kind of cases: what it is, how many, how many arrays each returns. */
export type ScipyKind = readonly [what: string, count: number, results: number, make: () => ScipyCase];

const everyType = ['float32', 'float64', 'complex64', 'complex128'] as const;

/** Random numbers and arrays for the cases of a file. */
export function casesFor(name: string) {
  const random: Random = randomFor(name);
  return {
    random,
    between: (low: number, high: number) => low + (high - low) * random.unit(),
    /** Some of the options. */
    some: <T extends object>(options: T): Partial<T> =>
      Object.fromEntries(Object.entries(options).filter(() => random.unit() < 0.6)) as Partial<T>,
    signal(shape: readonly number[], types: readonly NumpyArray['dtype'][] = everyType): NumpyArray {
      const dtype = random.pick(types);
      const single = dtype === 'float32' || dtype === 'complex64';
      const count = shape.reduce((a, b) => a * b, dtype.startsWith('complex') ? 2 : 1);
      const values = uniform(random, count, single ? 'single' : 'double');
      return { data: single ? Float32Array.from(values) : values, shape: [...shape], dtype };
    },
    /** A shape of three axes, one of them of so many samples. */
    shapeOf(least: number, most: number): { shape: number[]; axis: number } {
      const axis = random.integer(-3, 2);
      const shape = Array.from({ length: 3 }, () => random.integer(1, 3));
      shape[(axis + 3) % 3] = random.integer(least, most);
      return { shape, axis };
    },
  };
}

export const vector = (data: Float64Array): NumpyArray => ({ data, shape: [data.length], dtype: 'float64' });

/** The same reals as doubles. */
export const inDoubles = ({ data, shape }: NumpyArray): NumpyArray => ({
  data: Float64Array.from(data),
  shape,
  dtype: 'float64',
});

/** What is single here is double there, where filters are doubles. */
export const near = ({ dtype }: NumpyArray) => (dtype === 'float32' || dtype === 'complex64' ? 2e-7 : 1e-10);

const dataOf = (found: Found): ArrayLike<number> =>
  typeof found === 'number' ? [found] : ArrayBuffer.isView(found) ? found : found.data;

/** Tests that each kind of cases gives what SciPy gives. */
export function describeScipy(kinds: readonly ScipyKind[]): void {
  const python = findPython('scipy.signal');
  missing('scipy', python ? undefined : 'no python3 on the PATH has it');
  describe.runIf(python)('SciPy', () => {
    const all = kinds.map(([, count, , make]) => Array.from({ length: count }, make));
    let wanted: NumpyArray[][][];
    beforeAll(() => {
      const calls = all.flatMap((cases) => cases.map(({ call }) => call));
      const results = kinds.flatMap(([, count, results]) => Array.from({ length: count }, () => results));
      const answers = askScipy(python!, calls, results);
      wanted = all.map((cases) => answers.splice(0, cases.length));
    }, 120_000);
    it.each(kinds.map(([what], kind) => [what, kind] as const))(
      'computes the same %s',
      async (what, kind) => {
        let worst = 0;
        for (const [k, { call, ours, most = 1e-10 }] of all[kind]!.entries()) {
          // Versions of SciPy have different functions: a kind is there, or it is not.
          if (wanted[kind]!.flat().length === 0) {
            expect(wanted[kind]!.length).toBe(all[kind]!.length);
            continue;
          }
          const about = JSON.stringify({ ...call, arrays: call.arrays.map(({ shape, dtype }) => ({ shape, dtype })) });
          for (const [n, found] of (await ours()).entries()) {
            const expected = wanted[kind]![k]![n]!;
            if (typeof found === 'object' && 'shape' in found) expect(found.shape, about).toEqual(expected.shape);
            const error = relativeError(dataOf(found), expected.data);
            expect(error, about).toBeLessThan(most);
            if (most <= 1e-10) worst = Math.max(worst, error);
          }
        }
        console.info(`${what}: at most ${worst.toExponential(1)} from SciPy, in doubles`);
      },
      60_000,
    );
  });
}
