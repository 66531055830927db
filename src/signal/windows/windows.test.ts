/** Windows by their properties, against values that SciPy computed, and against closed formulas. */
import { describe, expect, it } from 'vitest';
import { windowValues } from '../../../test/reference/windows.ts';
import { plainWindowNames, type WindowName, windowNames } from './window-kinds.ts';
import { windowFunction } from './windows.ts';

const anyWindow = windowFunction as (name: string, size: number, options?: object) => Float64Array;

/** What windows take that need parameters. */
const needed: Readonly<Record<string, object>> = {
  kaiser: { beta: 6 },
  gaussian: { std: 5 },
  generalGaussian: { p: 2, sig: 7 },
  generalCosine: { a: [0.5, 0.4, 0.1] },
  generalHamming: { alpha: 0.7 },
  chebwin: { at: 60 },
};

describe('windowFunction', () => {
  it.each(windowNames)('%s is periodic and peaks at 1 in the middle', (name) => {
    for (const size of [32, 50]) {
      const window = anyWindow(name, size, needed[name]);
      for (let k = 1; k < size; k++) expect(window[k]).toBeCloseTo(window[size - k] ?? Number.NaN, 14);
      // flattop is 3 · 10^−9 higher.
      expect(window[size / 2]).toBeCloseTo(1, name === 'flattop' ? 8 : 14);
      expect(Math.max(...window)).toBe(window[size / 2]);
    }
  });

  it.each(windowNames)('%s of symmetric form is its own mirror image, and the periodic one of a point less', (name) => {
    for (const size of [2, 3, 20, 21]) {
      const window = anyWindow(name, size, { ...needed[name], sym: true });
      expect(Float64Array.from(window).reverse()).toEqual(window);
      expect(anyWindow(name, size - 1, needed[name])).toEqual(size === 2 ? Float64Array.of(1) : window.subarray(0, -1));
    }
  });

  it.each(windowNames)('%s of one value is 1', (name) => {
    for (const sym of [true, false]) expect([...anyWindow(name, 1, { ...needed[name], sym })]).toEqual([1]);
  });

  it.each(windowValues)('%s with %o has the values that SciPy computes', (name, parameters, ...rows) => {
    expect(rows.map(({ length }) => length)).toEqual([4, 4]);
    rows.forEach((row, n) => {
      const size = 7 + n;
      const whole = Array.from({ length: size }, (_, k) => row[Math.min(k, size - 1 - k)]!);
      const [symmetric, periodic] = [
        anyWindow(name, size, { ...parameters, sym: true }),
        anyWindow(name, size - 1, parameters),
      ];
      whole.forEach((value, k) => {
        expect(symmetric[k]).toBeCloseTo(value, 14);
        if (k < size - 1) expect(periodic[k]).toBeCloseTo(value, 14);
      });
    });
  });

  it('the table has every window', () => {
    const named = new Set(windowValues.map(([name]) => name));
    expect(windowNames.filter((name) => !named.has(name))).toEqual(['rectangular']);
  });

  it.each<[WindowName, number]>([
    ['rectangular', 1],
    ['boxcar', 1],
    ['hann', 0],
    ['hamming', 0.08],
    ['blackman', 0],
    ['bartlett', 0],
    ['bohman', 0],
    ['cosine', Math.sin(Math.PI / 34)],
    ['triang', 1 / 9],
    ['parzen', 2 / 17 ** 3],
    ['barthann', 0],
    ['tukey', 0],
    ['exponential', Math.exp(-8)],
  ])('%s starts at %d', (name, value) => {
    expect(anyWindow(name, 16)[0]).toBeCloseTo(value, 14);
  });

  it.each<[WindowName, number]>([
    ['hann', 1],
    ['hamming', 1.08],
    ['bartlett', 1],
  ])('%s adds up to %d at half overlap', (name, sum) => {
    const window = anyWindow(name, 24);
    for (let k = 0; k < 12; k++) expect((window[k] ?? 0) + (window[k + 12] ?? 0)).toBeCloseTo(sum, 14);
  });

  it('those of families become one another', () => {
    for (const sym of [true, false]) {
      const same = (one: Float64Array, other: Float64Array) =>
        one.forEach((value, k) => {
          expect(value).toBeCloseTo(other[k]!, 14);
        });
      same(anyWindow('kaiser', 20, { beta: 0, sym }), anyWindow('boxcar', 20, { sym }));
      same(anyWindow('tukey', 20, { alpha: 0, sym }), anyWindow('boxcar', 20, { sym }));
      same(anyWindow('tukey', 20, { alpha: 1, sym }), anyWindow('hann', 20, { sym }));
      same(anyWindow('generalHamming', 20, { alpha: 0.54, sym }), anyWindow('hamming', 20, { sym }));
      same(anyWindow('generalCosine', 20, { a: [0.42, 0.5, 0.08], sym }), anyWindow('blackman', 20, { sym }));
      same(anyWindow('generalGaussian', 20, { p: 1, sig: 4, sym }), anyWindow('gaussian', 20, { std: 4, sym }));
      same(anyWindow('generalGaussian', 20, { p: 0.5, sig: 2, sym }), anyWindow('exponential', 20, { tau: 4, sym }));
    }
  });

  it('exponential decays from its center on', () => {
    const window = windowFunction('exponential', 10, { center: 2, tau: 3 });
    window.forEach((value, k) => {
      expect(value).toBeCloseTo(Math.exp(-Math.abs(k - 2) / 3), 15);
    });
  });

  it('the side lobes of chebwin are as far below the main lobe as asked for', () => {
    for (const [size, at] of [
      [31, 50],
      [64, 80],
      [129, 120],
    ] as const) {
      const window = windowFunction('chebwin', size, { at, sym: true });
      const gain = window.reduce((a, b) => a + b);
      const level = (frequency: number) => {
        const sum = window.reduce((a, w, n) => a + w * Math.cos(2 * Math.PI * frequency * (n - (size - 1) / 2)), 0);
        return -20 * Math.log10(Math.abs(sum) / gain);
      };
      // Where the polynomial leaves −1 … 1.
      const edge = Math.acos(1 / Math.cosh(Math.acosh(10 ** (at / 20)) / (size - 1))) / Math.PI;
      const lobes = Array.from({ length: 4001 }, (_, k) => level(edge + ((0.5 - edge) * k) / 4000));
      expect(Math.min(...lobes)).toBeCloseTo(at, 4);
      expect(level(edge * 0.9)).toBeLessThan(at);
    }
  });

  it('kaiser stays finite for every beta that it takes', () => {
    const window = windowFunction('kaiser', 64, { beta: 700 });
    expect(window.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(windowFunction('kaiser', 64, { beta: -5 })).toEqual(windowFunction('kaiser', 64, { beta: 5 }));
  });

  it('refuses unknown names and impossible sizes', () => {
    expect(() => anyWindow('toString', 8)).toThrow(/Unknown window 'toString'/);
    for (const size of [0, -1, 1.5, Number.NaN]) expect(() => windowFunction('hann', size)).toThrow(/positive integer/);
  });

  it.each<[string, object | undefined, string, string]>([
    ['kaiser', undefined, 'invalid-argument', 'beta'],
    ['kaiser', { beta: 701 }, 'invalid-argument', 'beta'],
    ['kaiser', { beta: '8' }, 'invalid-argument', 'beta'],
    ['gaussian', { std: 0 }, 'invalid-argument', 'std'],
    ['generalGaussian', { p: 1 }, 'invalid-argument', 'sig'],
    ['generalCosine', { a: [] }, 'invalid-argument', 'a'],
    ['generalCosine', { a: [1, Number.NaN] }, 'invalid-argument', 'a'],
    ['chebwin', { at: -50 }, 'invalid-argument', 'at'],
    ['exponential', { tau: -1 }, 'invalid-argument', 'tau'],
    ['exponential', { center: 2, sym: true }, 'invalid-argument', 'center'],
    ['tukey', { alpha: null }, 'invalid-argument', 'alpha'],
    ['hann', { sym: 1 }, 'invalid-argument', 'sym'],
    ['hann', { beta: 1 }, 'unknown-field', 'the window hann.beta'],
    ['hann', null as never, 'invalid-argument', ''],
  ])('refuses %s with %o', (name, options, code, path) => {
    let thrown: unknown;
    try {
      anyWindow(name, 8, options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'FftError', code, problems: [{ code, path }] });
  });

  it('knows which windows need no parameter', () => {
    expect(windowNames.filter((name) => !plainWindowNames.includes(name))).toEqual(Object.keys(needed));
    for (const name of plainWindowNames) expect(anyWindow(name, 8)).toHaveLength(8);
    for (const name of Object.keys(needed)) expect(() => anyWindow(name, 8)).toThrow(/it takes/);
  });

  it('has types that know which parameters there are', () => {
    const calls = () => {
      windowFunction('hann', 8);
      windowFunction('kaiser', 64, { beta: 8, sym: true });
      windowFunction('tukey', 64);
      // @ts-expect-error beta is missing
      windowFunction('kaiser', 64);
      // @ts-expect-error hann has no parameter
      windowFunction('hann', 64, { beta: 8 });
    };
    expect(calls).toThrow(/beta of the window kaiser/);
  });
});
