/** Whether a digital filter is stable. */

/** What rounding of coefficients may do to a pole on the circle. */
const TOLERANCE = 1e-9;

/**
 * Whether all roots of a polynomial lie inside of the unit circle, by the recursion of Schur and Cohn (A. V. Oppenheim and R. W. Schafer,
 * "Discrete-Time Signal Processing", section 6.6: the reflection coefficients of a lattice filter are less than 1). Roots on the
 * circle, up to rounding, are taken for roots inside of it.
 * @param a the highest power first, which is 1
 */
export function isStable(a: Float64Array): boolean {
  let order = a.length - 1;
  while (order > 0 && a[order] === 0) order--;
  const rest = a.slice(0, order + 1);
  for (; order > 0; order--) {
    const reflection = rest[order]!;
    if (!(Math.abs(reflection) < 1 + TOLERANCE)) return false;
    const by = 1 - reflection * reflection;
    // On the circle: what is left has no digits.
    if (by < TOLERANCE) return true;
    const before = rest.slice(0, order + 1);
    for (let k = 0; k < order; k++) rest[k] = (before[k]! - reflection * before[order - k]!) / by;
  }
  return true;
}
