/**
 * The discrete Hartley transform (FFTW's DHT): N reals x become N reals
 *
 *   H(k) = Σ x(n) · (cos 2πnk/N + sin 2πnk/N),
 *
 * which of the bins X of a real transform are Re X(k) − Im X(k), and at the mirrored place Re X(k) + Im X(k): the two parts of
 * (1 + i) · X(k). It is its own inverse, but for the factor N.
 */
import type { RealDftEnds } from './r2r-ends.ts';

/** What is done to the points and bins of a real transform along an axis of `count` reals. */
export function dhtEnds(count: number): RealDftEnds {
  return {
    back: false,
    sums: { first: 0, last: count, forwards: 're' },
    roots: { kind: 'hartley', modulus: count },
    // Half of what all of these multiply bins by.
    times: 1 / 2,
  };
}
