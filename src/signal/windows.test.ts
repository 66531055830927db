import { describe, expect, it } from 'vitest';
import { plainWindowNames, type WindowName } from './window-kinds.ts';
import { windowFunction } from './windows.ts';

describe('windowFunction', () => {
  // flattop is 3 · 10^−9 higher.
  it.each(plainWindowNames)('%s is periodic and peaks at 1 in the middle', (name) => {
    const size = 32;
    const window = windowFunction(name, size);
    for (let k = 1; k < size; k++) expect(window[k]).toBeCloseTo(window[size - k] ?? Number.NaN, 14);
    expect(window[size / 2]).toBeCloseTo(1, name === 'flattop' ? 8 : 14);
    expect(Math.max(...window)).toBe(window[size / 2]);
  });

  it.each<[WindowName, number]>([
    ['rectangular', 1],
    ['hann', 0],
    ['hamming', 0.08],
    ['blackman', 0],
  ])('%s starts at %d', (name, value) => {
    expect(windowFunction(name, 16)[0]).toBeCloseTo(value, 14);
  });

  it.each<[WindowName, number]>([
    ['hann', 1],
    ['hamming', 1.08],
  ])('%s adds up to %d at half overlap', (name, sum) => {
    const window = windowFunction(name, 24);
    for (let k = 0; k < 12; k++) expect((window[k] ?? 0) + (window[k + 12] ?? 0)).toBeCloseTo(sum, 14);
  });

  it.each(plainWindowNames)('%s of one value is 1', (name) => {
    expect([...windowFunction(name, 1)]).toEqual([1]);
  });

  it('refuses unknown names and impossible sizes', () => {
    expect(() => windowFunction('toString' as WindowName, 8)).toThrow(/Unknown window 'toString'/);
    for (const size of [0, -1, 1.5, Number.NaN]) expect(() => windowFunction('hann', size)).toThrow(/positive integer/);
  });
});
