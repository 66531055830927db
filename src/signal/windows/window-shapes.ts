/**
 * The formulas of windows, in the symmetric form of m points: index n → value. Each window is a function of m (and of its parameters) that prepares
 * the terms shared by all points.
 *
 * Definitions are those of `scipy.signal.windows` (SciPy's reference manual). Sources: F. J. Harris, "On the use of windows for harmonic analysis
 * with the discrete Fourier transform", Proceedings of the IEEE 66 (1978); A. H. Nuttall, "Some windows with very good sidelobe behavior", IEEE
 * Transactions on Acoustics, Speech and Signal Processing 29 (1981), for blackmanharris and nuttall; G. D'Antona and A. Ferrero, "Digital signal
 * processing for measurement systems" (2006), for flattop; C. L. Dolph, "A current distribution for broadside arrays which optimizes the relationship
 * between beam width and side-lobe level", Proceedings of the IRE 34 (1946), for chebwin; J. F. Kaiser and R. W. Schafer, "On the use of the I₀-sinh
 * window for spectrum analysis", IEEE Transactions on Acoustics, Speech and Signal Processing 28 (1980).
 */

/** The value at an index from 0 to m − 1; m is at least 2. Mirror images are equal to the last bit. */
export type Shape = (n: number) => number;

const { abs, cos, cosh, exp, floor, min, PI, sin, sqrt } = Math;

/** a₀ − a₁ cos φ + a₂ cos 2φ − …, φ once around from the first point to the last. */
export const cosineSum =
  (coefficients: readonly number[]) =>
  (m: number): Shape =>
  (n) => {
    const i = min(n, m - 1 - n);
    return coefficients.reduce((sum, a, k) => sum + (k % 2 === 0 ? a : -a) * cos((2 * PI * k * i) / (m - 1)), 0);
  };

export const triang = (m: number): Shape => {
  // The zeros of the triangle lie outside: half a step (even m) or a step (odd m) before the first point.
  const [first, height] = m % 2 === 0 ? [1, m] : [2, m + 1];
  return (n) => (2 * min(n, m - 1 - n) + first) / height;
};

export const bartlett =
  (m: number): Shape =>
  (n) =>
    (2 * min(n, m - 1 - n)) / (m - 1);

export const cosine =
  (m: number): Shape =>
  (n) =>
    sin((PI / m) * (min(n, m - 1 - n) + 0.5));

export const parzen =
  (m: number): Shape =>
  (n) => {
    const distance = abs(n - (m - 1) / 2);
    const r = distance / (m / 2);
    return distance <= (m - 1) / 4 ? 1 - 6 * r ** 2 * (1 - r) : 2 * (1 - r) ** 3;
  };

export const bohman =
  (m: number): Shape =>
  (n) => {
    // Both ends are exactly 0, where the sum of the terms would leave a rounding error.
    if (n === 0 || n === m - 1) return 0;
    const r = 1 - (2 * min(n, m - 1 - n)) / (m - 1);
    return (1 - r) * cos(PI * r) + sin(PI * r) / PI;
  };

export const barthann =
  (m: number): Shape =>
  (n) => {
    const x = 0.5 - min(n, m - 1 - n) / (m - 1);
    return 0.62 - 0.48 * x + 0.38 * cos(2 * PI * x);
  };

export const kaiser =
  (beta: number) =>
  (m: number): Shape => {
    const peak = besselI0(beta);
    // √(1 − (2n/(m − 1) − 1)²), without a difference of nearly equal numbers.
    return (n) => besselI0((2 * beta * sqrt(n * (m - 1 - n))) / (m - 1)) / peak;
  };

export const tukey =
  (alpha: number) =>
  (m: number): Shape => {
    if (alpha <= 0) return () => 1;
    if (alpha >= 1) return cosineSum([0.5, 0.5])(m);
    const width = floor((alpha * (m - 1)) / 2);
    return (n) => {
      const edge = min(n, m - 1 - n);
      return edge > width ? 1 : 0.5 * (1 - cos((2 * PI * edge) / (alpha * (m - 1))));
    };
  };

export const generalGaussian =
  (p: number, sig: number) =>
  (m: number): Shape =>
  (n) =>
    exp(-0.5 * abs((n - (m - 1) / 2) / sig) ** (2 * p));

export const exponential =
  (tau: number, center?: number) =>
  (m: number): Shape =>
  (n) =>
    exp(-abs(n - (center ?? (m - 1) / 2)) / tau);

/**
 * The window whose transform has the narrowest main lobe for side lobes `at` decibels below it: the transform is Chebyshev's
 * polynomial T of order m − 1, and the window the sum over its samples. Takes time that grows with m².
 */
export const chebwin =
  (at: number) =>
  (m: number): Shape => {
    const order = m - 1;
    const x0 = cosh(Math.acosh(10 ** (at / 20)) / order);
    const polynomial = (x: number) => (x > 1 ? cosh(order * Math.acosh(x)) : cos(order * Math.acos(x)));
    const half = floor(order / 2);
    const samples = Float64Array.from({ length: half + 1 }, (_, k) => polynomial(x0 * cos((PI * k) / m)));
    const cosines = Float64Array.from({ length: 2 * m }, (_, i) => cos((PI * i) / m));
    const sum = (n: number) => {
      // The angle is πk(2n − m + 1)/m: k steps of the same size around a circle of 2m points.
      const step = abs(2 * n - order);
      let [total, i] = [samples[0]!, 0];
      for (let k = 1; k <= half; k++) {
        i = (i + step) % (2 * m);
        total += 2 * samples[k]! * cosines[i]!;
      }
      return total;
    };
    const values = Float64Array.from({ length: half + 1 }, (_, n) => sum(n));
    const peak = values.reduce((a, b) => Math.max(a, b));
    return (n) => values[min(n, order - n)]! / peak;
  };

/**
 * I₀, the modified Bessel function of the first kind and order 0: the sum of (x²/4)^k / k!², whose terms are all positive,
 * so that nothing cancels (Abramowitz and Stegun 9.6.12).
 * @param x at most some 700 in modulus; beyond, the result is Infinity
 */
export function besselI0(x: number): number {
  const square = (x * x) / 4;
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 2 ** -56; k++) {
    term *= square / (k * k);
    sum += term;
  }
  return sum;
}
