/** Polynomials in one variable, as coefficients with the highest power first. */
import {
  type Complex,
  complexTimes,
  divide,
  fromReal,
  minus,
  modulusOf,
  plus,
  productOfAll,
  timesReal,
} from './complex-numbers.ts';

/** The coefficients of (x − r₀)(x − r₁)…: one more than there are roots. */
export function polynomialOf(roots: readonly Complex[]): Complex[] {
  let coefficients: Complex[] = [fromReal(1)];
  for (const root of roots) {
    const longer = [...coefficients, fromReal(0)];
    coefficients.forEach((value, k) => {
      longer[k + 1] = minus(longer[k + 1]!, complexTimes(value, root));
    });
    coefficients = longer;
  }
  return coefficients;
}

/** The value at a point, by Horner's scheme. */
export function valueAt(coefficients: readonly Complex[], x: Complex): Complex {
  return coefficients.reduce((value, coefficient) => plus(complexTimes(value, x), coefficient), fromReal(0));
}

/** The most steps of the iteration; it usually converges in a handful. */
const MOST_STEPS = 200;

/**
 * All roots at once, by Aberth's method: Newton's step for each root, corrected for the other roots found so far (O. Aberth, "Iteration methods for
 * finding all zeros of a polynomial simultaneously", Mathematics of Computation 27 (1973)).
 *
 * @param coefficients coefficients with the highest power first; neither the first nor the last one is 0
 */
export function rootsOf(coefficients: readonly Complex[]): Complex[] {
  const degree = coefficients.length - 1;
  if (degree < 1) return [];
  const slope = coefficients.slice(0, -1).map((value, k) => timesReal(value, degree - k));
  return aberth(startsOf(coefficients), (x) => divide(valueAt(slope, x), valueAt(coefficients, x)));
}

/** @param attraction the polynomial's slope divided by its value at a point; infinite at a root */
export function aberth(starts: readonly Complex[], attraction: (x: Complex) => Complex): Complex[] {
  const roots = [...starts];
  for (let step = 0; step < MOST_STEPS; step++) {
    let moved = 0;
    for (const [k, root] of roots.entries()) {
      const pull = attraction(root);
      if (!Number.isFinite(modulusOf(pull))) continue;
      const repulsion = roots.reduce(
        (sum, other, j) => (j === k ? sum : plus(sum, divide(fromReal(1), minus(root, other)))),
        fromReal(0),
      );
      const change = divide(fromReal(1), minus(pull, repulsion));
      if (!Number.isFinite(modulusOf(change))) continue;
      roots[k] = minus(root, change);
      moved = Math.max(moved, modulusOf(change) / Math.max(modulusOf(root), Number.MIN_VALUE));
    }
    if (moved < 4 * 2 ** -52) break;
  }
  return roots;
}

/** Starting points around the origin, on a circle with the geometric mean of the roots' moduli as radius, none of them on an axis. */
function startsOf(coefficients: readonly Complex[]): Complex[] {
  const degree = coefficients.length - 1;
  const radius = (modulusOf(coefficients[degree]!) / modulusOf(coefficients[0]!)) ** (1 / degree);
  return Array.from({ length: degree }, (_, k) => {
    const angle = (2 * Math.PI * k) / degree + 0.4;
    return { re: radius * Math.cos(angle), im: radius * Math.sin(angle) };
  });
}

/** The product of −r over roots whose complex ones come in conjugate pairs; it is real. */
export function productOfNegated(roots: readonly Complex[]): number {
  return productOfAll(roots.map(({ re, im }) => ({ re: -re, im: -im }))).re;
}
