/** Signal functions by their definitions, in doubles: slow, and plain enough to be believed. Complex numbers are pairs. */

/** The convolution of two complex signals. */
export function convolution(x: ArrayLike<number>, y: ArrayLike<number>): Float64Array {
  const result = new Float64Array(x.length + y.length - 2);
  for (let j = 0; j < x.length; j += 2) {
    for (let k = 0; k < y.length; k += 2) {
      result[j + k]! += x[j]! * y[k]! - x[j + 1]! * y[k + 1]!;
      result[j + k + 1]! += x[j]! * y[k + 1]! + x[j + 1]! * y[k]!;
    }
  }
  return result;
}

/** Σ x[j] · e^(−2πi jk/n) for the bins from 0 to n − 1. */
export function spectrum(x: ArrayLike<number>, n = x.length / 2): Float64Array {
  const result = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    for (let j = 0; 2 * j < x.length; j++) {
      const angle = (-2 * Math.PI * ((j * k) % n)) / n;
      const [re, im, cos, sin] = [x[2 * j]!, x[2 * j + 1]!, Math.cos(angle), Math.sin(angle)];
      result[2 * k]! += re * cos - im * sin;
      result[2 * k + 1]! += re * sin + im * cos;
    }
  }
  return result;
}

/** Real numbers as complex ones. */
export function asPairs(x: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: 2 * x.length }, (_, k) => (k % 2 === 0 ? x[k / 2]! : 0));
}
