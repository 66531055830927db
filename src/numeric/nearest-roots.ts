/**
 * Tables of roots of unity, e^(−2πi·k/n), every part the double nearest to it: a million of them in a few hundredths of a
 * second, and the first thousand in a new process in a few thousandths.
 *
 * The angle is folded into an eighth of the circle in integers. What is left is a coarse root c times a fine one, 1 + d with
 * a small d, from two short tables. Of c and of the sine in d the upper 26 bits stand apart (c = c₁ + c₂, d = d₁ + d₂): c₁·d₁
 * is exact without further ado, and the rest so small that plain doubles hold it to about 2^-70 of the result. That settles
 * the nearest double unless the result lies that close to the middle between two of them; those few are computed in 256-bit
 * fixed point (Ziv's rounding test).
 */
import { add, cosTurn, type Exact, mul, neg, ONE, sinTurn, sub, toDoubleDouble, toNumber, ZERO } from './exact.ts';

/** Where roots are written. A table of singles gets the single nearest to the nearest double. */
export type RealTable = Float32Array | Float64Array;

/**
 * Evenly spaced roots, e^(−2πi·(p + step·i)/q) for 0 ≤ i < count, and where their parts lie in a table: from elements `re`
 * and `im` on, `stride` apart, and after every `block` of them `skip` elements are left out.
 */
export interface RootRun {
  /** An integer, as `step` is; all p + step·i are below 2^53 in magnitude. */
  readonly p: number;
  readonly step: number;
  readonly q: number;
  readonly count: number;
  /** Elements are reals. None of these five numbers is negative. */
  readonly re: number;
  readonly im: number;
  readonly stride: number;
  readonly block: number;
  readonly skip: number;
  /** Twiddles of the four-step algorithm, which stand between two uploads of an axis. */
  readonly fourStep?: true;
}

/** The largest order: folded angles and their products with 8 then stay far below 2^53. */
export const LARGEST_ORDER = 2 ** 32;

/** 2^27 + 1: Dekker's splitting, which leaves at most 26 bits in each half. */
const SPLITTER = 134217729;

/** Writes hi + lo to `table[at]`, the upper 26 bits of hi, and `table[at + 1]`, the rest. */
function setSplit(table: Float64Array, at: number, hi: number, lo: number): void {
  const scaled = SPLITTER * hi;
  const upper = scaled - (scaled - hi);
  table[at] = upper;
  table[at + 1] = hi - upper + lo;
}

/** Writes the product of entries i and j of a table of {@link rootPowers} to entry `to`: relative error below 2^-77. */
function multiplyRoots(table: Float64Array, to: number, i: number, j: number): void {
  const [a, b] = [4 * i, 4 * j];
  const aRe1 = table[a] as number;
  const aRe2 = table[a + 1] as number;
  const aIm1 = table[a + 2] as number;
  const aIm2 = table[a + 3] as number;
  const bRe1 = table[b] as number;
  const bRe2 = table[b + 1] as number;
  const bIm1 = table[b + 2] as number;
  const bIm2 = table[b + 3] as number;
  const aRe = aRe1 + aRe2;
  const aIm = aIm1 + aIm2;
  // Products of two upper halves are exact; of their sums, the first term is the larger one (Dekker's quick two-sum).
  const reTerm = aRe1 * bRe1;
  const reSub = aIm1 * bIm1;
  const re = reTerm - reSub;
  setSplit(table, 4 * to, re, reTerm - re - reSub + (aRe * bRe2 + aRe2 * bRe1 - (aIm * bIm2 + aIm2 * bIm1)));
  const imTerm = aIm1 * bRe1;
  const imAdd = aRe1 * bIm1;
  const im = imTerm + imAdd;
  setSplit(table, 4 * to + 2, im, imTerm - im + imAdd + (aIm * bRe2 + aIm2 * bRe1 + (aRe * bIm2 + aRe2 * bIm1)));
}

/** `e^(+2πi·step·j/turn)` for `0 ≤ j < count`, all within the first eighth: cosine and sine, each in two halves. */
function rootPowers(count: number, step: number, turn: number): Float64Array {
  const table = new Float64Array(4 * count);
  const set = (j: number, [re, im]: readonly [Exact, Exact]): void => {
    setSplit(table, 4 * j, ...toDoubleDouble(re));
    setSplit(table, 4 * j + 2, ...toDoubleDouble(im));
  };
  const times = ([a, b]: readonly [Exact, Exact], [c, d]: readonly [Exact, Exact]): readonly [Exact, Exact] => [
    sub(mul(a, c), mul(b, d)),
    add(mul(a, d), mul(b, c)),
  ];
  const one = [cosTurn(step, turn), sinTurn(step, turn)] as const;
  const fine = Math.min(count, 2 ** Math.ceil(Math.log2(count) / 2));
  let power: readonly [Exact, Exact] = [ONE, ZERO];
  for (let j = 0; j < fine; j++, power = times(power, one)) set(j, power);
  const stride = power;
  for (let coarse = fine; coarse < count; coarse += fine, power = times(power, stride)) {
    set(coarse, power);
    for (let j = 1; j < fine && coarse + j < count; j++) multiplyRoots(table, coarse + j, coarse, j);
  }
  return table;
}

/** Parts of an eighth from which on its roots are not kept: a table of them would outgrow the caches. */
const LONGEST_EIGHTH = 2 ** 17;

/** k modulo n, not negative. */
function residue(k: number, n: number): number {
  const rest = k % n;
  return rest < 0 ? rest + n : rest;
}

/** The roots of unity of order n and of all orders that divide it, for 1 ≤ n ≤ 2^32. */
export class NearestRoots {
  readonly n: number;
  /** Parts that a turn is counted in: the least common multiple of n and 8, so that every fold is an integer. */
  private readonly turn: number;
  /** Entries of the fine table, a power of two. */
  private readonly length: number;
  /** For every `length` parts of an eighth: c₁ and c₂ of the cosine, then of the sine. */
  private readonly coarse: Float64Array;
  /** For every part: the cosine less one; d₁, d₂ and d of the sine. */
  private readonly fine: Float64Array;
  /** How far off a part may be before it is rounded, relative to it. */
  private readonly tolerance: number;
  /** Cosine and sine of every part of an eighth, rounded: all other roots are these, but for signs and places. */
  private readonly eighth: Float64Array | undefined;

  /**
   * @param wanted how many roots will be asked for: where they are many, each of an eighth is computed once.
   * @throws RangeError for any other order
   */
  constructor(n: number, wanted = 0) {
    if (!Number.isInteger(n) || n < 1 || n > LARGEST_ORDER) {
      throw new RangeError(`the order of a root of unity must be an integer from 1 to 2^32, but ${n} was given`);
    }
    this.n = n;
    this.turn = n * (n % 8 === 0 ? 1 : n % 4 === 0 ? 2 : n % 2 === 0 ? 4 : 8);
    const eighth = this.turn / 8;
    // As long as the coarse table, but for angles small enough that doubtful roundings stay rare.
    const even = Math.ceil(Math.log2(eighth + 1) / 2);
    this.length = 2 ** Math.max(0, Math.min(even, Math.floor(Math.log2(this.turn)) - 11));
    this.coarse = rootPowers(Math.floor(eighth / this.length) + 1, this.length, this.turn);
    this.fine = rootPowers(this.length, 1, this.turn);
    for (let i = 0; i < this.fine.length; i += 4) {
      const sine1 = this.fine[i + 2] as number;
      const sine2 = this.fine[i + 3] as number;
      this.fine[i] = (this.fine[i] as number) - 1 + (this.fine[i + 1] as number);
      this.fine[i + 1] = sine1;
      this.fine[i + 2] = sine2;
      this.fine[i + 3] = sine1 + sine2;
    }
    // With u = 2^-53 and θ the largest fine angle: the product with the cosine less one, which is at most θ²/2, and the sums
    // it takes part in are off by less than 6·u·θ²/2; the products with c₂ or d₂, at most 2^-26, and the tables by 2^-22·u.
    const largest = this.fine[this.fine.length - 1] as number;
    this.tolerance = 2 ** -53 * (4 * largest ** 2 + 2 ** -20);
    const parts = eighth + 1;
    if (2 * parts > wanted || parts > LONGEST_EIGHTH) return;
    const table = new Float64Array(2 * parts);
    const spacing = { re: 0, im: 1, stride: 2, block: parts, skip: 0 };
    // Backwards, because the sines are to be positive.
    this.write(table, { p: 0, step: -1, q: this.turn, count: parts, ...spacing });
    this.eighth = table;
  }

  /**
   * Writes a run of roots.
   * @throws RangeError where the order of the run does not divide n, or the run leaves the table
   */
  fill(target: RealTable, run: RootRun): void {
    const { q, count, re, im, stride, block, skip } = run;
    if (!(q > 0 && this.n % q === 0)) {
      throw new RangeError(`roots of order ${q} are not among those of order ${this.n}`);
    }
    const last = stride * (count - 1) + skip * Math.floor((count - 1) / block);
    if (count > 0 && !(Math.min(re, im, stride, skip) >= 0 && block >= 1 && Math.max(re, im) + last < target.length)) {
      throw new RangeError(`the roots ${JSON.stringify(run)} leave a table of ${target.length} numbers`);
    }
    this.write(target, run);
  }

  private write(target: RealTable, run: RootRun): void {
    const { p, step, q, count, re, im, stride, block, skip } = run;
    for (let i = this.settle(target, run, 0); i < count; i = this.settle(target, run, i + 1)) {
      const at = stride * i + skip * Math.floor(i / block);
      target[re + at] = toNumber(cosTurn(p + step * i, q));
      target[im + at] = toNumber(neg(sinTurn(p + step * i, q)));
    }
  }

  /**
   * Writes the roots of a run from the i-th on, up to the first one whose rounding is in doubt; all in one loop without
   * calls, which engines compile soon and quickly.
   * @returns the number of the doubtful root, or the count
   */
  private settle(target: RealTable, run: RootRun, from: number): number {
    const { p, step, q, count, re, im, stride, block, skip } = run;
    const { turn, length, coarse, fine, tolerance, eighth } = this;
    const by = residue(step, q) * (turn / q);
    const perOctant = 8 / turn;
    const quarter = turn / 4;
    const perLength = 1 / length;
    let angle = residue(p + step * from, q) * (turn / q);
    let at = stride * from + skip * Math.floor(from / block);
    let left = block - (from % block);
    for (let i = from; i < count; i++) {
      // Rounding may put an angle on the border of two octants into either one: both have the same answer for it.
      // (`| 0` drops a fraction faster than Math.floor does; all it is used on is below 2^31.)
      const octant = (angle * perOctant) | 0;
      const folded = Math.abs(angle - ((octant + 1) >> 1) * quarter);
      let x: number;
      let y: number;
      if (eighth) {
        x = eighth[2 * folded] as number;
        y = eighth[2 * folded + 1] as number;
      } else {
        const whole = (folded * perLength) | 0;
        const c = whole << 2;
        const d = ((folded - whole * length) | 0) << 2;
        const cos1 = coarse[c] as number;
        const cos2 = coarse[c + 1] as number;
        const sin1 = coarse[c + 2] as number;
        const sin2 = coarse[c + 3] as number;
        const less = fine[d] as number;
        const d1 = fine[d + 1] as number;
        const d2 = fine[d + 2] as number;
        const sine = fine[d + 3] as number;
        // Of the two terms of a high part the first is the larger one or zero: a quick two-sum, as above.
        const cosTerm = sin1 * d1;
        const cosHigh = cos1 - cosTerm;
        const cosLow = cos1 - cosHigh - cosTerm + (cos2 + ((cos1 + cos2) * less - (sin1 * d2 + sin2 * sine)));
        const sinTerm = cos1 * d1;
        const sinHigh = sin1 + sinTerm;
        const sinLow = sin1 - sinHigh + sinTerm + (sin2 + ((sin1 + sin2) * less + (cos1 * d2 + cos2 * sine)));
        const doubt = sinHigh * tolerance;
        x = cosHigh + (cosLow - tolerance);
        y = sinHigh + (sinLow - doubt);
        if (x !== cosHigh + (cosLow + tolerance) || y !== sinHigh + (sinLow + doubt)) return i;
      }
      // Octants 1, 2, 5 and 6 exchange the parts. Subtracted from 0, because −0 is not wanted.
      const swapped = (octant + 1) & 2;
      const cosine = swapped ? y : x;
      const sine = swapped ? x : y;
      target[re + at] = (octant + 2) & 4 ? 0 - cosine : cosine;
      target[im + at] = octant & 4 ? sine : 0 - sine;
      at += stride;
      if (--left === 0) {
        left = block;
        at += skip;
      }
      angle += by;
      if (angle >= turn) angle -= turn;
    }
    return count;
  }
}
