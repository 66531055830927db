/**
 * The chirp of Bluestein's algorithm and its spectrum, to the last place of a double: the spectrum is a transform in
 * double-double, whose error of some 2^-100 is lost in the last rounding.
 */
import { rational, toDoubleDouble } from './exact.ts';
import { quadRoots, scaleQuad, transformQuads } from './quads.ts';

/** n² modulo 2·of for n = 0, 1, …, from differences, so that nothing grows. */
function squares(of: number, count: number): Float64Array {
  const found = new Float64Array(count);
  for (let n = 1; n < count; n++) found[n] = (found[n - 1]! + 2 * n - 1) % (2 * of);
  return found;
}

/** e^{−πi·n²/of} for n below `of`, then zeros: pairs. */
export function chirp(of: number, length: number): Float64Array {
  const exponents = squares(of, of);
  const roots = quadRoots(2 * of, of, (n) => exponents[n]!);
  const values = new Float64Array(2 * length);
  for (let n = 0; n < of; n++) {
    values[2 * n] = roots[4 * n]!;
    values[2 * n + 1] = roots[4 * n + 2]!;
  }
  return values;
}

/** The transform of e^{πi·n²/of} for |n| < of, laid around both ends of a circle of so many points, over that number: pairs. */
export function chirpSpectrum(of: number, length: number): Float64Array {
  const exponents = squares(of, of);
  const roots = quadRoots(2 * of, of, (n) => exponents[n]!);
  const circle = new Float64Array(4 * length);
  const [hi, lo] = toDoubleDouble(rational(1, length));
  for (let n = 0; n < of; n++) {
    for (const place of [n, (length - n) % length]) {
      const at = 4 * place;
      for (let part = 0; part < 4; part++) circle[at + part] = (part < 2 ? 1 : -1) * roots[4 * n + part]!;
      scaleQuad(circle, at, hi, lo);
    }
  }
  transformQuads(circle);
  const values = new Float64Array(2 * length);
  for (let n = 0; n < 2 * length; n++) values[n] = circle[2 * n]! + circle[2 * n + 1]!;
  return values;
}
