/**
 * Fourier sums by their definition in fixed point with 256 fractional bits: the root of the chain of trust.
 * Slow (about a microsecond a term) and without tables: only the root of each bin comes from `src/numeric/exact.ts`.
 */
import { cosTurn, type Exact, exact, FRACTION_BITS, neg, sinTurn, toDoubleDouble } from '../../src/numeric/exact.ts';

/** One bin, exact to about 2^-230. */
export interface ExactBin {
  readonly re: Exact;
  readonly im: Exact;
}

const SHIFT = BigInt(FRACTION_BITS);

/**
 * The given bins of the transform of `x` (re, im interleaved): Σ x_j e^(∓2πi·jk/n), unnormalised.
 * @param low low-order words of a double-double input, if it has any
 */
export function directBins(
  x: Float64Array | Float32Array,
  bins: readonly number[],
  direction: 'forward' | 'inverse' = 'forward',
  low?: Float64Array,
): ExactBin[] {
  const n = x.length / 2;
  const fixed = Array.from(
    x,
    (value, i) => exact(value).fixed + (low === undefined ? 0n : exact(low[i] as number).fixed),
  );
  return bins.map((bin) => {
    const c = cosTurn(bin, n).fixed;
    const sine = sinTurn(bin, n);
    const s = (direction === 'forward' ? neg(sine) : sine).fixed;
    // Horner's scheme: multiplying by a number on the unit circle does not amplify the roundings of 2^-256 each.
    let re = 0n;
    let im = 0n;
    for (let j = n - 1; j >= 0; j--) {
      const turned = (re * c - im * s) >> SHIFT;
      im = ((re * s + im * c) >> SHIFT) + (fixed[2 * j + 1] as bigint);
      re = turned + (fixed[2 * j] as bigint);
    }
    return { re: { fixed: re }, im: { fixed: im } };
  });
}

/** The bins as double-doubles: `hi` and `lo` hold re, im interleaved, in the order of `bins`. */
export function toWords(bins: readonly ExactBin[]): { hi: Float64Array; lo: Float64Array } {
  const hi = new Float64Array(2 * bins.length);
  const lo = new Float64Array(2 * bins.length);
  bins.forEach(({ re, im }, i) => {
    [hi[2 * i], lo[2 * i]] = toDoubleDouble(re);
    [hi[2 * i + 1], lo[2 * i + 1]] = toDoubleDouble(im);
  });
  return { hi, lo };
}
