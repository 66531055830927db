import { describe, expect, it } from 'vitest';
import { chirp, chirpSpectrum } from './chirp.ts';
import { cosTurn, sinTurn, toNumber } from './exact.ts';

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
});
