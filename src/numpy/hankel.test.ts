/** Fast Hankel transforms: known integrals, random calls against SciPy if it is installed, and refusals. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { relativeError } from '../../test/support/accuracy.ts';
import { missing } from '../../test/support/optional.ts';
import { findPython } from '../../test/support/programs.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { askScipy } from '../../test/support/scipy.ts';
import { openDevice } from '../index.ts';
import type { NumpyArray } from './index.ts';
import * as numpy from './index.ts';
import * as sync from './sync.ts';

const random = randomFor('numpy/hankel');
const between = (low: number, high: number) => low + (high - low) * random.unit();

function arrayOf(
  shape: readonly number[],
  dtype: 'float32' | 'float64' = 'float64',
): NumpyArray<'float32' | 'float64'> {
  const values = uniform(
    random,
    shape.reduce((a, b) => a * b, 1),
    dtype === 'float32' ? 'single' : 'double',
  );
  return { data: dtype === 'float32' ? Float32Array.from(values) : values, shape, dtype } as NumpyArray<'float64'>;
}

/** Parameters far from singular ones, with a bias that does not make the numbers differ much in size. */
const parameters = (least = -0.5) => {
  const [dln, mu, bias] = [
    between(0.02, 0.2) * (random.unit() < 0.5 ? -1 : 1),
    between(least, least + 1),
    between(-0.2, 0.2),
  ];
  return { dln, mu, bias, offset: numpy.fhtoffset(dln, mu, { bias, initial: between(-1, 1) }) };
};

let warned: string[] = [];
beforeEach(() => {
  warned = [];
  vi.spyOn(console, 'warn').mockImplementation((message) => void warned.push(message));
});
afterEach(() => void vi.restoreAllMocks());

describe('fast Hankel transforms', () => {
  it('turn r^(mu + 1) exp(−r²/2) into itself, as the integral does', () => {
    for (const n of [256, 255]) {
      // The grid begins at e^−10, so the omitted part of the integral is about e^(−10·(mu + 1)).
      const mu = between(1.2, 2.5);
      const dln = 20 / n;
      const offset = sync.fhtoffset(dln, mu);
      const points = (centre: number) => (_: unknown, j: number) => Math.exp(centre + (j - (n - 1) / 2) * dln);
      const self = (r: number) => r ** (mu + 1) * Math.exp((-r * r) / 2);
      const a = Float64Array.from({ length: n }, points(0)).map(self);
      const wanted = Float64Array.from({ length: n }, points(offset)).map(self);
      const { data } = sync.fht(a, dln, mu, { offset });
      data.forEach((value, j) => expect(Math.abs(value - wanted[j]!), `mu ${mu}, point ${j}`).toBeLessThan(1e-8));
    }
  });

  it('turn a power into a power, exactly where the bias is its exponent', () => {
    for (const [gamma, factor] of [
      // 2^γ Γ((mu + 1 + γ)/2) / Γ((mu + 1 − γ)/2) at mu = 2.5
      [1, 2.5],
      [2, 4 * 0.75 * 1.75],
      [-1, 1 / 2.5],
      [0, 1],
    ] as const) {
      const [n, dln] = [random.integer(20, 60), between(0.05, 0.2)];
      const offset = between(-1, 1);
      const grid = (j: number) => (j - (n - 1) / 2) * dln;
      const a = Float64Array.from({ length: n }, (_, j) => Math.exp(gamma * grid(j)));
      const wanted = Float64Array.from({ length: n }, (_, j) => factor * Math.exp(-gamma * (grid(j) + offset)));
      expect(relativeError(sync.fht(a, dln, 2.5, { offset, bias: gamma }).data, wanted)).toBeLessThan(1e-13);
    }
  });

  it('are undone by their inverses, line by line, on both faces and on a device that is given', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    for (const [shape, dtype, near] of [
      [[64], 'float64', 1e-12],
      [[2, 3, 63], 'float64', 1e-12],
      [[3, 50], 'float32', 2e-5],
      [[2, 1], 'float64', 1e-14],
    ] as const) {
      const a = arrayOf(shape, dtype);
      const before = a.data.slice();
      const { dln, mu, ...options } = parameters();
      const there = await numpy.fht(a, dln, mu, { ...options, device });
      expect(there).toMatchObject({ shape, dtype });
      expect(a.data).toEqual(before);
      expect(sync.fht(a, dln, mu, options)).toEqual(there);
      const back = await numpy.ifht(there, dln, mu, options);
      expect(sync.ifht(there, dln, mu, options)).toEqual(back);
      expect(relativeError(back.data, a.data)).toBeLessThan(near);
      const n = shape.at(-1)!;
      const last = { data: a.data.slice(-n), shape: [n], dtype } as NumpyArray<'float64'>;
      expect(relativeError(sync.fht(last, dln, mu, options).data, there.data.slice(-n))).toBeLessThan(near);
    }
    device.close();
  });

  it('say where they are singular, and only there', () => {
    const a = arrayOf([64]).data as Float64Array;
    const dln = between(0.1, 1);
    for (const [mu, bias, singular] of [
      [-4, 1, []],
      [-2.5, 0.5, ['ifht']],
      [-3.5, 0.5, ['fht']],
      [1, 0.5, []],
    ] as const) {
      for (const name of ['fht', 'ifht'] as const) {
        warned = [];
        const { data } = { ...sync }[name](a, dln, mu, { bias });
        expect(data.every(Number.isFinite)).toBe(true);
        expect(warned).toEqual(
          singular.some((other) => other === name) ? [expect.stringMatching(`^omnifft: ${name}: .* is singular`)] : [],
        );
      }
    }
  });

  const python = findPython('scipy.fft, scipy.signal');
  missing('scipy', python ? undefined : 'no python3 on the PATH has SciPy');

  it.runIf(python)("are SciPy's", () => {
    const lengths = [1, 2, 7, 32, 63];
    // Orders near −3 and −1 would be singular.
    const calls = Array.from({ length: 30 }, (_, k) => ({
      name: k % 2 ? 'fht' : 'ifht',
      arrays: [arrayOf([2, lengths[k % lengths.length]!])],
      options: parameters(random.pick([-2.5, -0.5, 1, 5])),
    }));
    const answers = askScipy(python!, calls, 1);
    calls.forEach(({ name, arrays, options: { dln, mu, ...options } }, k) => {
      const result = { ...sync }[name as 'fht'](arrays[0]! as NumpyArray<'float64'>, dln, mu, options);
      const what = JSON.stringify({ name, shape: result.shape, dln, mu, ...options });
      expect(result.shape).toEqual(answers[k]![0]!.shape);
      expect(relativeError(result.data, answers[k]![0]!.data), what).toBeLessThan(1e-11);
    });
  });

  it("have offsets that ring little: SciPy's example, and the one next to the initial value", () => {
    expect(sync.fhtoffset(0.1, 2, { initial: 0.5 })).toBeCloseTo(0.5454581477676637, 13);
    for (let trial = 0; trial < 20; trial++) {
      const [dln, mu, bias] = [between(0.01, 1), between(-2, 3), between(-1, 1)];
      const initial = between(-3, 3);
      const offset = numpy.fhtoffset(dln, mu, { initial, bias });
      expect(Math.abs(offset - initial)).toBeLessThanOrEqual(dln / 2 + 1e-12);
      expect(numpy.fhtoffset(dln, mu, { initial: offset + dln, bias })).toBeCloseTo(offset + dln, 9);
    }
  });
});

const line = new Float64Array(8);
const pairs = { data: line, shape: [4], dtype: 'complex128' } as const;
const dot = { data: Float64Array.of(1), shape: [], dtype: 'float64' } as const;

describe('fast Hankel transforms refuse', () => {
  it.each([
    ['complex numbers', pairs, [0.1, 1], {}, 'wrong-array-type'],
    ['a single number', dot, [0.1, 1], {}, 'invalid-argument'],
    ['no points', [], [0.1, 1], {}, 'invalid-size'],
    ['a grid of one point', line, [0, 1], {}, 'invalid-argument'],
    ['no spacing', line, [undefined, 1], {}, 'invalid-argument'],
    ['an endless spacing', line, [Number.POSITIVE_INFINITY, 1], {}, 'invalid-argument'],
    ['no order', line, [0.1], {}, 'invalid-argument'],
    ['an order that is no number', line, [0.1, '1'], {}, 'invalid-argument'],
    ['an offset that is no number', line, [0.1, 1], { offset: Number.NaN }, 'invalid-argument'],
    ['a bias that is no number', line, [0.1, 1], { bias: '0' }, 'invalid-argument'],
    ['an unknown option', line, [0.1, 1], { axis: 0 }, 'unknown-field'],
  ])('%s', async (_, a, [dln, mu], options, code) => {
    const call = [a, dln, mu, options] as unknown as Parameters<typeof sync.fht>;
    await expect(numpy.fht(...call)).rejects.toMatchObject({ code });
    expect(() => sync.ifht(...call)).toThrow(expect.objectContaining({ code }));
  });

  it('offsets for what is no grid', () => {
    expect(() => numpy.fhtoffset(0, 1)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    expect(() => numpy.fhtoffset(0.1, 1, { offset: 1 } as object)).toThrow(
      expect.objectContaining({ code: 'unknown-field' }),
    );
  });
});
