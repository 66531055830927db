/**
 * The "exponential of semicircle" kernel φ(z) = exp(β(√(1 − z²) − 1)), |z| ≤ 1, with which non-uniform transforms spread points over a grid
 * (A. H. Barnett, J. Magland and L. af Klinteberg, "A parallel nonuniform fast Fourier transform library based on an exponential of
 * semicircle kernel", 2019): how wide it is for a tolerance, its values as polynomials, its Fourier transform.
 */

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
    this.beta = shapeParameter(this.width, upsampling) * this.width;
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
    return inPowers(chebyshevCoefficients((t) => this.value((2 * i + 1 + t) / this.width - 1), this.degreeCount));
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
function shapeParameter(width: number, upsampling: number): number {
  if (upsampling !== 2) return 0.97 * Math.PI * (1 - 1 / (2 * upsampling));
  return ({ 2: 2.2, 3: 2.26, 4: 2.38 } as Record<number, number>)[width] ?? 2.3;
}

/** The coefficients of T₀ … Tₙ₋₁ of the polynomial that agrees with a function at the n Chebyshev points of the first kind. */
export function chebyshevCoefficients(f: (x: number) => number, n: number): Float64Array {
  const values = Float64Array.from({ length: n }, (_, k) => f(Math.cos((Math.PI * (k + 0.5)) / n)));
  return Float64Array.from({ length: n }, (_, j) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += values[k]! * Math.cos((Math.PI * j * (k + 0.5)) / n);
    return ((j === 0 ? 1 : 2) * sum) / n;
  });
}

/** Clenshaw's sum of a Chebyshev series. */
export function chebyshevValue(coefficients: Float64Array, x: number): number {
  let [b1, b2] = [0, 0];
  for (let j = coefficients.length - 1; j > 0; j--) [b1, b2] = [coefficients[j]! + 2 * x * b1 - b2, b1];
  return coefficients[0]! + x * b1 - b2;
}

/** The same polynomial in powers of x, lowest first. */
export function inPowers(coefficients: Float64Array): Float64Array {
  const n = coefficients.length;
  const powers = new Float64Array(n);
  let [before, now] = [new Float64Array(n), new Float64Array(n)];
  now[0] = 1;
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < n; k++) powers[k]! += coefficients[j]! * now[k]!;
    // Tⱼ₊₁ = 2x Tⱼ − Tⱼ₋₁; the first step has no factor 2.
    const next = new Float64Array(n);
    for (let k = 0; k < n; k++) next[k] = (k > 0 ? (j === 0 ? 1 : 2) * now[k - 1]! : 0) - before[k]!;
    [before, now] = [now, next];
  }
  return powers;
}

export interface Quadrature {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/** Nodes in (−1, 1), in descending order, and weights: exact for polynomials of a degree below 2n. (Newton's method from Tricomi's estimates.) */
export function gaussLegendre(n: number): Quadrature {
  const nodes = new Float64Array(n);
  const weights = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let round = 0; round < 20; round++) {
      const [value, previous] = legendre(n, x);
      slope = (n * (x * value - previous)) / (x * x - 1);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}

/** The Legendre polynomials of degrees n and n − 1. */
function legendre(n: number, x: number): [value: number, previous: number] {
  let [previous, value] = [0, 1];
  for (let k = 1; k <= n; k++) [previous, value] = [value, ((2 * k - 1) * x * value - (k - 1) * previous) / k];
  return [value, previous];
}
