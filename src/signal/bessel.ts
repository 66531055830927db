/** What Kaiser's window is made of. */

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
