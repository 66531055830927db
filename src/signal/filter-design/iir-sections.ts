/**
 * Zeros, poles and a gain as second-order sections: poles are paired with the zeros nearest to them, and sections with poles far from the
 * unit circle come first, so that none has a peak that the whole has not, and rounding stays small (L. B. Jackson, "Digital Filters and
 * Signal Processing" (1996), chapter 11; the rule of `scipy.signal.zpk2sos`).
 */
import { type Complex, conjugateOf, fromReal, minus, modulusOf } from './complex-numbers.ts';
import type { Factored } from './iir-prototypes.ts';
import { polynomialOf } from './polynomials.ts';

/**
 * Pairing of poles with zeros: the nearest zeros; the nearest zeros, but without a second zero at 0 for a single pole; for analog filters, without
 * adding any roots.
 */
export type SectionPairing = 'nearest' | 'keep_odd' | 'minimal';

const isRealRoot = ({ im }: Complex) => im === 0;

/** Second-order sections. @returns six numbers for each section, b0, b1, b2, 1, a1, a2; a section with fewer roots has zeros in front */
export function sectionsOfRoots(filter: Factored, pairing: SectionPairing, isAnalog = false): Float64Array {
  if (filter.z.length === 0 && filter.p.length === 0) {
    return isAnalog ? Float64Array.of(0, 0, filter.k, 0, 0, 1) : Float64Array.of(filter.k, 0, 0, 1, 0, 0);
  }
  const [z, p] = [upperRoots(filter.z), upperRoots(filter.p)];
  const counts = () => [z, p].map((roots) => roots.reduce((sum, root) => sum + (isRealRoot(root) ? 1 : 2), 0));
  if (pairing !== 'minimal') {
    const [zeros, poles] = counts() as [number, number];
    for (let k = zeros; k < poles; k++) z.push(fromReal(0));
    for (let k = poles; k < zeros; k++) p.push(fromReal(0));
    if (Math.max(zeros, poles) % 2 === 1 && pairing === 'nearest') for (const roots of [z, p]) roots.push(fromReal(0));
  }
  const sections = Math.ceil(Math.max(...counts()) / 2);
  const result = new Float64Array(6 * sections);
  for (let section = sections - 1; section >= 0; section--) {
    const { zeros, poles } = nextSection(z, p, pairing, isAnalog);
    writePolynomial(zeros, result, 6 * section);
    writePolynomial(poles, result, 6 * section + 3);
  }
  for (let k = 0; k < 3; k++) result[k]! *= filter.k;
  return result;
}

/** Writes the polynomial with at most two given roots, the constant term last. */
function writePolynomial(roots: readonly Complex[], into: Float64Array, at: number): void {
  polynomialOf(roots).forEach(({ re }, k) => {
    into[at + 2 - roots.length + k] = re;
  });
}

/** One root of each conjugate pair, the one above the axis, followed by the real roots, in the order of their real parts. */
function upperRoots(roots: readonly Complex[]): Complex[] {
  const tolerance = 100 * 2 ** -52;
  const isNearlyReal = (root: Complex) => Math.abs(root.im) <= tolerance * modulusOf(root);
  const byPlace = (a: Complex, b: Complex) => a.re - b.re || a.im - b.im;
  const upper = roots.filter((root) => !isNearlyReal(root) && root.im > 0).sort(byPlace);
  const alone = roots.filter(isNearlyReal).map(({ re }) => fromReal(re));
  return [...upper, ...alone.sort(byPlace)];
}

/** Moves the poles for the last remaining section, and zeros for them, into that section. */
function nextSection(z: Complex[], p: Complex[], pairing: SectionPairing, isAnalog: boolean) {
  const worst = (among: readonly Complex[]) =>
    leastOf(among, (pole) => (isAnalog ? Math.abs(pole.re) : Math.abs(1 - modulusOf(pole))));
  if (p.length === 0) return { zeros: [...z.splice(0, 2)], poles: [] };
  const first = takeRoot(p, worst(p));
  const nearest = (among: readonly Complex[]) => leastOf(among, (zero) => modulusOf(minus(zero, first)));
  const realsIn = (roots: readonly Complex[]) => roots.filter(isRealRoot);
  if (isRealRoot(first) && realsIn(p).length === 0) {
    const zeros = realsIn(z).length > 0 ? [takeRoot(z, nearest(realsIn(z)))] : [];
    const padding = pairing === 'minimal' ? [] : [fromReal(0)];
    return { zeros: [...zeros, ...padding], poles: [first, ...padding] };
  }
  // A single real zero and a single real pole that would remain must stay together.
  if (p.length + 1 === z.length && !isRealRoot(first) && realsIn(p).length === 1 && realsIn(z).length === 1) {
    const zero = takeRoot(z, nearest(z.filter((root) => !isRealRoot(root))));
    return { zeros: [zero, conjugateOf(zero)], poles: [first, conjugateOf(first)] };
  }
  const poles = [first, isRealRoot(first) ? takeRoot(p, worst(realsIn(p))) : conjugateOf(first)];
  if (z.length === 0) return { zeros: [], poles };
  const zero = takeRoot(z, nearest(z));
  if (!isRealRoot(zero)) return { zeros: [zero, conjugateOf(zero)], poles };
  return { zeros: realsIn(z).length > 0 ? [zero, takeRoot(z, nearest(realsIn(z)))] : [zero], poles };
}

function leastOf(among: readonly Complex[], measure: (root: Complex) => number): Complex {
  return among.reduce((best, root) => (measure(root) < measure(best) ? root : best));
}

function takeRoot(from: Complex[], root: Complex): Complex {
  return from.splice(from.indexOf(root), 1)[0]!;
}
