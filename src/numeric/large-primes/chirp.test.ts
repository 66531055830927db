import { describe, expect, it } from 'vitest';
import { complexDdRoots } from '../../../test/reference/complex-dd.ts';
import { referenceFft } from '../../../test/reference/ddfft.ts';
import { cosTurn, sinTurn, toNumber } from '../exact.ts';
import { chirp, chirpSpectrum } from './chirp.ts';

describe('the chirp', () => {
  it('has every part to the last place of a double', () => {
    for (const n of [1, 2, 17, 101, 1000]) {
      const values = chirp(n, n + 3);
      for (let k = 0; k < n; k++) {
        expect([values[2 * k], values[2 * k + 1]]).toEqual([
          toNumber(cosTurn((k * k) % (2 * n), 2 * n)) + 0,
          0 - toNumber(sinTurn((k * k) % (2 * n), 2 * n)),
        ]);
      }
      expect(Array.from(values.subarray(2 * n))).toEqual(new Array(6).fill(0));
    }
  });

  it('has a spectrum that agrees with the sum by which it is defined', () => {
    for (const [n, length] of [
      [1, 2],
      [2, 4],
      [5, 9],
      [17, 35],
      [31, 64],
    ] as const) {
      const spectrum = chirpSpectrum(n, length);
      for (let k = 0; k < length; k++) {
        let [re, im] = [0, 0];
        for (let j = 1 - n; j < n; j++) {
          // e^{πi·j²/n} · e^{−2πi·j·k/length}
          const angle = (Math.PI * j * j) / n - (2 * Math.PI * j * k) / length;
          re += Math.cos(angle) / length;
          im += Math.sin(angle) / length;
        }
        expect(spectrum[2 * k]).toBeCloseTo(re, 13);
        expect(spectrum[2 * k + 1]).toBeCloseTo(im, 13);
      }
    }
  });

  /** The spectrum from the transform that kernels are judged by, before it is rounded, times the length: hi and lo. */
  function reference(n: number, length: number): Float64Array {
    const values = complexDdRoots(2 * n, n, (j) => (j * j) % (2 * n));
    const circle = new Float64Array(4 * length);
    for (let j = 0; j < n; j++) {
      for (const place of [j, (length - j) % length]) {
        for (let part = 0; part < 4; part++) circle[4 * place + part] = (part < 2 ? 1 : -1) * values[4 * j + part]!;
      }
    }
    referenceFft(length).forward(circle);
    return circle;
  }

  it.each([
    [101, 210],
    [101, 225],
    [1009, 2048],
    [5003, 10125],
    [10007, 20160],
  ])('of %i points has a spectrum of %i points whose errors are those of its tables', (n, length) => {
    const expected = reference(n, length);
    for (const [precision, most] of [
      ['double', 2 ** -80],
      ['single', 2 ** -36],
    ] as const) {
      const spectrum = chirpSpectrum(n, length, precision);
      let [squares, largest] = [0, 0];
      for (let k = 0; k < 2 * length; k++) {
        squares += (expected[2 * k]! / length) ** 2;
        const value = expected[2 * k]! / length;
        // Either is rounded once.
        largest = Math.max(largest, Math.abs(spectrum[k]! - value) - 2 ** -52 * Math.abs(value));
      }
      expect(largest, precision).toBeLessThan(most * Math.sqrt(squares / length));
    }
  });

  it.each([
    [131_101, 262_440],
    [131_072, 262_144],
    [150_002, 312_500],
  ])('of %i points, of formulas, agrees with the transform of %i points that it stands for', (n, length) => {
    const expected = reference(n, length);
    const roots = complexDdRoots(2 * n, n, (j) => (j * j) % (2 * n));
    for (const precision of ['double', 'single'] as const) {
      const [values, spectrum] = [chirp(n, n, precision), chirpSpectrum(n, length, precision)];
      const largest = values.reduce((most, value, k) => Math.max(most, Math.abs(value - roots[2 * k]!)), 0);
      expect(largest).toBeLessThan(2 ** -49);
      let [squares, wrong] = [0, 0];
      for (let k = 0; k < 2 * length; k++) {
        const value = expected[2 * k]! / length;
        squares += value ** 2;
        wrong += (spectrum[k]! - value) ** 2;
      }
      expect(Math.sqrt(wrong / squares)).toBeLessThan(2 ** -51);
    }
  });

  it('gives each of two that ask for a spectrum an array of its own', () => {
    const spectrum = chirpSpectrum(17, 36);
    const before = spectrum.slice();
    spectrum.fill(0);
    expect(chirpSpectrum(17, 36)).toEqual(before);
  });
});
