/**
 * Roots of unity whose exponents are quadratic, e^(−2πi·numerator·n²/denominator) and e^(−2πi·numerator·n/denominator) for n = 0, 1, …:
 * tens of millions of them in a tenth of a second, with an error of some 2^-52.
 *
 * A block of 4096 begins at n₀, and (n₀ + j)² = n₀² + 2·n₀·j + j²: the root at n₀ is computed once for the block, those at j² once for
 * all blocks, and those at 2·n₀·j are products of 64 coarse ones with 64 fine ones. Exponents are reduced to less than a turn in
 * integers before anything is rounded.
 */

/** Points of a block: a multiple of FINE. */
export const BLOCK = 4096;
const FINE = 64;

/** A part of a turn from 0 to 1 in two doubles; `hi` is a multiple of 2^-40, so that its products with numbers below BLOCK are exact. */
interface Turn {
  readonly hi: number;
  readonly lo: number;
}

function turnOf(numerator: bigint, denominator: bigint): Turn {
  const rest = ((numerator % denominator) + denominator) % denominator;
  const scaled = (rest << 92n) / denominator;
  return { hi: Number(scaled >> 52n) * 2 ** -40, lo: Number(scaled & ((1n << 52n) - 1n)) * 2 ** -92 };
}

/** Writes e^(−2πi·times·turn) to the n-th pair. @param times an integer from 0 to BLOCK */
function setRoot(pairs: Float64Array, n: number, { hi, lo }: Turn, times: number): void {
  const whole = times * hi;
  const part = whole - Math.floor(whole);
  const quarters = Math.round(4 * part);
  const angle = 2 * Math.PI * (part - quarters / 4 + times * lo);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [re, im] = quarters % 2 === 0 ? [cos, -sin] : [-sin, -cos];
  pairs[2 * n] = quarters % 4 < 2 ? re : -re;
  pairs[2 * n + 1] = quarters % 4 < 2 ? im : -im;
}

/** Gives the roots block by block. */
export class QuadraticPhases {
  /** Roots at the square terms j² of a block; all 1 where exponents are linear. */
  private readonly squares: Float64Array | undefined;
  private readonly coarse = new Float64Array((2 * BLOCK) / FINE);
  private readonly fine = new Float64Array(2 * FINE);
  /** The roots of the block asked for last, pairs. */
  readonly pairs = new Float64Array(2 * BLOCK);
  private readonly numerator: bigint;
  private readonly denominator: bigint;

  /** @param linear exponents grow with n, not with n². */
  constructor(numerator: bigint, denominator: bigint, linear = false) {
    this.numerator = numerator;
    this.denominator = denominator;
    if (linear) return;
    this.squares = new Float64Array(2 * BLOCK);
    for (let j = 0; j < BLOCK; j++) setRoot(this.squares, j, turnOf(numerator * BigInt(j * j), denominator), 1);
  }

  /** Computes the roots at `first`, `first` + 1, … into `pairs`. @param first a multiple of BLOCK */
  block(first: number): Float64Array {
    const { numerator, denominator, squares, coarse, fine, pairs } = this;
    const begin = BigInt(first);
    const step = turnOf(squares ? 2n * begin * numerator : numerator, denominator);
    for (let b = 0; b < FINE; b++) setRoot(fine, b, step, b);
    const anchor = turnOf((squares ? begin * begin : begin) * numerator, denominator);
    setRoot(pairs, 0, anchor, 1);
    const [anchorRe, anchorIm] = [pairs[0]!, pairs[1]!];
    for (let a = 0; a < BLOCK / FINE; a++) {
      setRoot(coarse, a, step, a * FINE);
      const [re, im] = [coarse[2 * a]!, coarse[2 * a + 1]!];
      coarse[2 * a] = re * anchorRe - im * anchorIm;
      coarse[2 * a + 1] = re * anchorIm + im * anchorRe;
    }
    for (let j = 0, a = 0; j < 2 * BLOCK; a += 2) {
      const [coarseRe, coarseIm] = [coarse[a]!, coarse[a + 1]!];
      for (let b = 0; b < 2 * FINE; b += 2, j += 2) {
        const re = coarseRe * fine[b]! - coarseIm * fine[b + 1]!;
        const im = coarseRe * fine[b + 1]! + coarseIm * fine[b]!;
        if (squares) {
          pairs[j] = re * squares[j]! - im * squares[j + 1]!;
          pairs[j + 1] = re * squares[j + 1]! + im * squares[j]!;
        } else {
          pairs[j] = re;
          pairs[j + 1] = im;
        }
      }
    }
    return pairs;
  }
}

/** e^(−πi·n²/of) for n below `of`, then zeros up to `length`: pairs. */
export function longChirp(of: number, length: number): Float64Array {
  const values = new Float64Array(2 * length);
  const phases = new QuadraticPhases(1n, 2n * BigInt(of));
  for (let first = 0; first < of; first += BLOCK) {
    const pairs = phases.block(first);
    values.set(first + BLOCK <= of ? pairs : pairs.subarray(0, 2 * (of - first)), 2 * first);
  }
  return values;
}
