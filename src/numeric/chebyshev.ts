/** Interpolation of smooth functions on [−1, 1] by Chebyshev polynomials. */

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
export function powersOf(coefficients: Float64Array): Float64Array {
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
