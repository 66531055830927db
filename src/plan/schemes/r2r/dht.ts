/**
 * The discrete Hartley transform (FFTW's DHT): N reals x become N reals
 *
 *   H(k) = Σ x(n) · (cos 2πnk/N + sin 2πnk/N),
 *
 * which is Re X(k) − Im X(k) for the bins X of a real transform, and Re X(k) + Im X(k) at the mirrored place: the two parts of (1 + i) · X(k). The
 * transform is its own inverse, but for the factor N.
 */
import type { RealDftEnds } from './r2r-ends.ts';

/** The ends of the real transform along an axis of `count` reals. */
export function dhtEnds(count: number): RealDftEnds {
  return {
    toReals: false,
    sums: { first: 0, last: count, forwards: 're' },
    roots: { kind: 'hartley', modulus: count },
    // Half the factor by which all real transforms between reals multiply bins.
    times: 1 / 2,
  };
}
