/**
 * Roots of unity, e^(−2πi·k/n), one by one to about 2^-100: what tables and transforms are measured by.
 *
 * The exponent is first folded into an eighth of the circle in integer arithmetic, so that every symmetry of the
 * circle holds to the last bit; the folded exponent is then written as coarse·L + fine, and the root is the product
 * of one entry of each of two short tables (the two-level scheme known from pocketfft), in double-double.
 * The short tables, of about √n entries, are made the same way from about n^(1/4) entries of `exact.ts`.
 */
import { ddMulComplex } from '../../src/numeric/double-double/doubledouble.ts';
import { cosTurn, sinTurn, toDoubleDouble } from '../../src/numeric/exact.ts';

/** Random access to the n-th roots of unity. */
export interface UnitRoot {
  /** The order: `at` is periodic in k with this period. */
  readonly n: number;
  /**
   * Writes e^(−2πi·k/n), the forward sign, to `out` as `[re.hi, re.lo, im.hi, im.lo]`.
   * @param k any integer up to 2^53 in magnitude
   */
  at(k: number, out: Float64Array): void;
}

/** The largest order: folded exponents and their products with 8 then stay far below 2^53. */
const LARGEST_ORDER = 2 ** 32;

/** `e^(+2πi·step·j/turn)` for `0 ≤ j < count` as quadruples of doubles. `count` is a power of two. */
function positivePowers(count: number, step: number, turn: number): Float64Array {
  const table = new Float64Array(4 * count);
  const setExact = (j: number): void => {
    table.set([...toDoubleDouble(cosTurn(step * j, turn)), ...toDoubleDouble(sinTurn(step * j, turn))], 4 * j);
  };
  const fine = 2 ** Math.ceil(Math.log2(count) / 2);
  for (let j = 0; j < fine; j++) setExact(j);
  for (let coarse = fine; coarse < count; coarse += fine) {
    setExact(coarse);
    for (let j = 1; j < fine; j++) ddMulComplex(table, 4 * (coarse + j), table, 4 * coarse, table, 4 * j);
  }
  return table;
}

class TwoLevelRoots implements UnitRoot {
  readonly n: number;
  /** Parts that a turn is counted in: the least common multiple of n and 8, so that every fold is an integer. */
  readonly #turn: number;
  readonly #partsPerStep: number;
  /** Length of the fine table. */
  readonly #length: number;
  readonly #fine: Float64Array;
  readonly #coarse: Float64Array;
  readonly #diagonal: readonly [number, number];

  constructor(n: number) {
    if (!Number.isInteger(n) || n < 1 || n > LARGEST_ORDER) {
      throw new RangeError(`the order of a root of unity must be an integer from 1 to 2^32, but ${n} was given`);
    }
    this.n = n;
    this.#partsPerStep = n % 8 === 0 ? 1 : n % 4 === 0 ? 2 : n % 2 === 0 ? 4 : 8;
    this.#turn = n * this.#partsPerStep;
    const eighth = this.#turn / 8;
    this.#length = 2 ** Math.ceil(Math.log2(eighth + 1) / 2);
    const coarseCount = 2 ** Math.ceil(Math.log2(Math.floor(eighth / this.#length) + 1));
    this.#fine = positivePowers(this.#length, 1, this.#turn);
    this.#coarse = positivePowers(coarseCount, this.#length, this.#turn);
    this.#diagonal = toDoubleDouble(cosTurn(1, 8));
  }

  at(k: number, out: Float64Array): void {
    const turn = this.#turn;
    let angle = k % this.n;
    if (angle < 0) angle += this.n;
    angle *= this.#partsPerStep;
    // From here on, sines are taken positive and signs are put back at the end; the forward sign negates the first.
    const lower = 2 * angle > turn;
    if (lower) angle = turn - angle;
    const left = 4 * angle > turn;
    if (left) angle = turn / 2 - angle;
    const steep = 8 * angle > turn;
    if (steep) angle = turn / 4 - angle;

    if (8 * angle === turn) {
      const [hi, lo] = this.#diagonal;
      out[0] = hi;
      out[1] = lo;
      out[2] = hi;
      out[3] = lo;
    } else {
      const coarse = Math.floor(angle / this.#length);
      const fine = angle - coarse * this.#length;
      if (coarse === 0) {
        for (let i = 0; i < 4; i++) out[i] = this.#fine[4 * fine + i] as number;
      } else if (fine === 0) {
        for (let i = 0; i < 4; i++) out[i] = this.#coarse[4 * coarse + i] as number;
      } else {
        ddMulComplex(out, 0, this.#coarse, 4 * coarse, this.#fine, 4 * fine);
      }
      if (12 * angle === turn) {
        // The one sine strictly between 0 and 1 that is rational (Niven's theorem).
        out[2] = 0.5;
        out[3] = 0;
      }
    }
    const cosHi = out[0] as number;
    const cosLo = out[1] as number;
    const sinHi = out[2] as number;
    const sinLo = out[3] as number;
    const reHi = steep ? sinHi : cosHi;
    const reLo = steep ? sinLo : cosLo;
    const imHi = steep ? cosHi : sinHi;
    const imLo = steep ? cosLo : sinLo;
    // Subtracting from zero rather than negating keeps −0 out of the tables.
    out[0] = left ? 0 - reHi : reHi;
    out[1] = left ? 0 - reLo : reLo;
    out[2] = lower ? imHi : 0 - imHi;
    out[3] = lower ? imLo : 0 - imLo;
  }
}

/**
 * The n-th roots of unity with the forward sign, e^(−2πi·k/n), for 1 ≤ n ≤ 2^32.
 * @throws RangeError for any other order
 */
export function unitRoot(n: number): UnitRoot {
  return new TwoLevelRoots(n);
}
