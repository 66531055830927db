import { describe, expect, it } from 'vitest';
import { rootPowersModulo, rootSpectrum } from './powers.ts';

describe.each([3, 5, 7, 17, 31, 43, 101])('modulo %i', (prime) => {
  it('powers of the least primitive root are all numbers but 0, and inverse ones undo them', () => {
    const there = rootPowersModulo(prime);
    const back = rootPowersModulo(prime, true);
    expect(there.toSorted((a, b) => a - b)).toEqual(Array.from({ length: prime - 1 }, (_, n) => n + 1));
    there.forEach((power, n) => {
      expect((power * back[n]!) % prime).toBe(1);
    });
  });

  it('the spectrum of the roots is the transform of the roots at inverse powers', () => {
    const length = prime - 1;
    const spectrum = rootSpectrum(prime);
    const order = rootPowersModulo(prime, true);
    for (let k = 0; k < length; k++) {
      let [re, im] = [0, 0];
      order.forEach((m, n) => {
        const angle = -2 * Math.PI * (m / prime + ((n * k) % length) / length);
        re += Math.cos(angle) / length;
        im += Math.sin(angle) / length;
      });
      expect(spectrum[2 * k]).toBeCloseTo(re, 13);
      expect(spectrum[2 * k + 1]).toBeCloseTo(im, 13);
    }
  });
});
