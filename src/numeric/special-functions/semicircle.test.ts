import { describe, expect, it } from 'vitest';
import { gaussLegendre, SemicircleKernel } from './semicircle.ts';

describe('the spreading kernel', () => {
  it.each([1e-1, 1e-4, 1e-8, 1e-12, 1e-14])(
    'is a polynomial between grid points, to less than the tolerance %d',
    (tolerance) => {
      for (const upsampling of [2, 1.25]) {
        const kernel = new SemicircleKernel(tolerance, upsampling);
        let worst = 0;
        for (let i = 0; i < kernel.width; i++) {
          const powers = kernel.polynomial(i);
          for (let n = 0; n <= 50; n++) {
            const t = n / 25 - 1;
            const value = powers.reduceRight((sum, power) => sum * t + power, 0);
            worst = Math.max(worst, Math.abs(value - kernel.value((2 * i + 1 + t) / kernel.width - 1)));
          }
        }
        expect(worst).toBeLessThan(Math.max(tolerance, 1e-13));
      }
    },
  );

  it('has the Fourier transform that quadrature gives', () => {
    for (const [tolerance, upsampling] of [
      [1e-6, 2],
      [1e-12, 2],
      [1e-9, 1.25],
    ] as const) {
      const kernel = new SemicircleKernel(tolerance, upsampling);
      const { nodes, weights } = gaussLegendre(200);
      for (let n = 0; n <= 10; n++) {
        const frequency = (kernel.highest * n) / 10;
        let sum = 0;
        nodes.forEach((z, i) => {
          sum += weights[i]! * kernel.value(z) * Math.cos((frequency * kernel.width * z) / 2);
        });
        const wanted = (sum * kernel.width) / 2;
        expect(Math.abs(kernel.transformAt(frequency) - wanted)).toBeLessThan(
          kernel.transformAt(0) * Math.max(1e-14, tolerance / 50),
        );
      }
    }
  });
});

describe('Gauss–Legendre quadrature', () => {
  it('is exact for polynomials of a degree below twice its points', () => {
    for (const n of [1, 2, 7, 40]) {
      const { nodes, weights } = gaussLegendre(n);
      for (let degree = 0; degree < 2 * n; degree++) {
        const sum = nodes.reduce((total, x, i) => total + weights[i]! * x ** degree, 0);
        expect(Math.abs(sum - (degree % 2 === 0 ? 2 / (degree + 1) : 0))).toBeLessThan(1e-13);
      }
    }
  });
});
