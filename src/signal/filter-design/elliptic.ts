/**
 * Elliptic integrals and functions for the design of elliptic (Cauer) filters, accurate to the last digits or nearly so. A modulus k is accompanied
 * by its complement k' = √(1 − k²) wherever computing one from the other would lose digits.
 *
 * Sources: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", chapters 16 and 17; B. C. Carlson, "Computing elliptic integrals by
 * duplication", Numerische Mathematik 33 (1979); S. J. Orfanidis, "Lecture notes on elliptic filter design" (2006).
 */

/** The arithmetic-geometric mean of two positive numbers. */
function arithmeticGeometricMean(a: number, b: number): number {
  let [p, q] = [a, b];
  while (Math.abs(p - q) > 2 ** -50 * p) [p, q] = [(p + q) / 2, Math.sqrt(p * q)];
  return (p + q) / 2;
}

/** The complete elliptic integral of the first kind, K. @param complement k' */
export function completeIntegral(complement: number): number {
  return Math.PI / (2 * arithmeticGeometricMean(1, complement));
}

/** The Jacobi elliptic functions sn, cn and dn of a real number. @param complement k', not 0 */
export function jacobi(u: number, complement: number): { sn: number; cn: number; dn: number } {
  // Each step of the mean halves the angle, and the remaining modulus converges to 0 quadratically.
  const ratios: number[] = [];
  let [a, b] = [1, complement];
  while (Math.abs(a - b) > 2 ** -52 * a) {
    const mean = (a + b) / 2;
    ratios.push((a - b) / 2 / mean);
    [a, b] = [mean, Math.sqrt(a * b)];
  }
  let angle = 2 ** ratios.length * a * u;
  for (const ratio of ratios.reverse()) angle = (angle + Math.asin(ratio * Math.sin(angle))) / 2;
  const [sn, cn] = [Math.sin(angle), Math.cos(angle)];
  return { sn, cn, dn: Math.hypot(cn, complement * sn) };
}

/** The u at which sn/cn is w, for the modulus that is the complement of k. */
export function inverseSc(w: number, k: number): number {
  return w * symmetricIntegral(1, 1 + (k * w) ** 2, 1 + w * w);
}

/** Carlson's integral of the first kind, R_F. */
function symmetricIntegral(x: number, y: number, z: number): number {
  let [p, q, r] = [x, y, z];
  for (;;) {
    const mean = (p + q + r) / 3;
    const [dp, dq] = [1 - p / mean, 1 - q / mean];
    if (Math.max(Math.abs(dp), Math.abs(dq), Math.abs(dp + dq)) < 1e-3) {
      const dr = -dp - dq;
      const [e2, e3] = [dp * dq - dr * dr, dp * dq * dr];
      return (1 - e2 / 10 + e3 / 14 + (e2 * e2) / 24 - (3 * e2 * e3) / 44) / Math.sqrt(mean);
    }
    const step = Math.sqrt(p * q) + Math.sqrt(q * r) + Math.sqrt(r * p);
    [p, q, r] = [(p + step) / 4, (q + step) / 4, (r + step) / 4];
  }
}

/**
 * The modulus k of a filter of order N whose pass and stop bands differ by the modulus k₁, from the degree equation N · K'/K = K'₁/K₁. It is computed
 * from the nome, by theta functions.
 */
export function modulusOfDegree(order: number, k1: number): { k: number; complement: number } {
  const ratio = completeIntegral(k1) / completeIntegral(Math.sqrt((1 - k1) * (1 + k1)));
  const q = Math.exp((-Math.PI * ratio) / order);
  let [second, third, fourth] = [0, 1, 1];
  for (let n = 0; n < 40; n++) {
    second += q ** (n * (n + 1));
    const term = 2 * q ** ((n + 1) ** 2);
    third += term;
    fourth += n % 2 === 0 ? -term : term;
  }
  return { k: 4 * Math.sqrt(q) * (second / third) ** 2, complement: (fourth / third) ** 2 };
}
