/**
 * The "exponential of semicircle" kernel φ(z) = exp(β(√(1 − z²) − 1)), |z| ≤ 1, with which non-uniform transforms spread points over a grid
 * (A. H. Barnett, J. Magland and L. af Klinteberg, "A parallel nonuniform fast Fourier transform library based on an exponential of
 * semicircle kernel", 2019): how wide it is for a tolerance, its values as polynomials, its Fourier transform.
 */
import { chebyshevCoefficients, chebyshevValue, powersOf } from './chebyshev.ts';
import { gaussLegendre } from './gauss-legendre.ts';

/** The widest kernel: with more points rounding errors of double precision are all that grows. */
export const WIDEST = 16;

export class SemicircleKernel {
  /** Grid points that a point is spread over along an axis. */
  readonly width: number;
  readonly beta: number;
  /** Points of the fine grid for each mode. */
  readonly upsampling: number;
  /** The Fourier transform, as a series in the square of the frequency. */
  private readonly transform: Float64Array;

  /** @param tolerance the relative error that the transform may have. */
  constructor(tolerance: number, upsampling: number) {
    this.upsampling = upsampling;
    this.width = Math.min(WIDEST, widthFor(tolerance, upsampling));
    this.beta = shapeOf(this.width, upsampling) * this.width;
    const n = 2 * this.width + 24;
    const quadrature = gaussLegendre(2 * n);
    this.transform = chebyshevCoefficients((x) => {
      const frequency = this.highest * Math.sqrt((x + 1) / 2);
      let sum = 0;
      // The kernel is even: the positive nodes are the first half.
      for (let i = 0; i < n; i++) {
        const z = quadrature.nodes[i]!;
        sum += quadrature.weights[i]! * this.value(z) * Math.cos((frequency * this.width * z) / 2);
      }
      return this.width * sum;
    }, 32);
  }

  /** φ(z). */
  value(z: number): number {
    return Math.abs(z) > 1 ? 0 : Math.exp(this.beta * (Math.sqrt((1 - z) * (1 + z)) - 1));
  }

  /** The highest frequency of a mode, in radians for each point of the fine grid. */
  get highest(): number {
    return Math.PI / this.upsampling;
  }

  /** The Fourier transform of φ(2x/width) over x in grid points, at a frequency of at most `highest`. */
  transformAt(frequency: number): number {
    const part = frequency / this.highest;
    return chebyshevValue(this.transform, 2 * part * part - 1);
  }

  /** Coefficients of each of the polynomials that the kernel is computed by. */
  get degreeCount(): number {
    return this.width + 4;
  }

  /**
   * The kernel at the i-th of the grid points that a point is spread over, as a polynomial in t: powers, lowest first. t = 2f − 1, where f in
   * [0, 1) is how far the first of these grid points lies inside the kernel.
   */
  polynomial(i: number): Float64Array {
    return powersOf(chebyshevCoefficients((t) => this.value((2 * i + 1 + t) / this.width - 1), this.degreeCount));
  }
}

/** Grid points for a tolerance, before `WIDEST`. */
export function widthFor(tolerance: number, upsampling: number): number {
  const width =
    upsampling === 2
      ? Math.ceil(-Math.log10(tolerance / 10))
      : Math.ceil(-Math.log(tolerance) / (Math.PI * Math.sqrt(1 - 1 / upsampling)));
  return Math.max(2, width);
}

/** β over the width, near the optimum of the aliasing error. */
function shapeOf(width: number, upsampling: number): number {
  if (upsampling !== 2) return 0.97 * Math.PI * (1 - 1 / (2 * upsampling));
  return ({ 2: 2.2, 3: 2.26, 4: 2.38 } as Record<number, number>)[width] ?? 2.3;
}
