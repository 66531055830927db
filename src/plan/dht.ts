/**
 * The discrete Hartley transform (FFTW's DHT): N reals x become N reals
 *
 *   H(k) = Σ x(n) · (cos 2πnk/N + sin 2πnk/N),
 *
 * which of the bins X of a real transform are Re X(k) − Im X(k), and at the mirrored place Re X(k) + Im X(k): the two parts of
 * (1 + i) · X(k) = √2 · e^{−2πi·7/8} · X(k). It is its own inverse, but for the factor N.
 */
import { power } from '../numeric/scale-factor.ts';
import type { RealDftEnds } from './r2r-ends.ts';

/** What is done to the points and bins of a real transform along an axis of `count` reals. */
export function dhtEnds(count: number, axis: number): RealDftEnds {
  return {
    back: false,
    sums: { of: axis + 1, first: 0, last: count },
    roots: { of: 8, step: 0, first: 7 },
    // √2, and half of what all of these multiply bins by.
    times: power(2, -1 / 2),
  };
}
