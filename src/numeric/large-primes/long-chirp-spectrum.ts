/**
 * The spectrum of a long chirp without a transform. For N = `of`, a circle of M = `length` points and t = k/M,
 *
 *   S(k) = Σ e^(πi·n²/N − 2πi·n·t)  over |n| < N
 *
 * is by Poisson's formula a sum over integers m of the Fresnel integrals of e^(2πi·(x²/2N − (t + m)·x)) from −N to N. For t from 0
 * to 1/2 two of them have their stationary point inside, m = 0 and m = −1, and contribute a whole Gaussian integral each. All others
 * are what the two ends contribute, in which those at both ends are the same but for their sign:
 *
 *   S(k) = √N·e^(πi/4)·(q + (−1)^N·q·p) − (−1)^N·(Re p + 2i·Im p·E(t)),   q = e^(−πi·N·t²),  p = e^(2πi·N·t).
 *
 * With the auxiliary Fresnel integral F(y) = ∫ e^(πi·(v² + 2·y·v)) dv from 0 to ∞, whose asymptotic series is
 * Σ c(j)·y^−(2j+1), c(0) = i/2π, c(j + 1) = (2j + 1)·c(j)/2πi,
 *
 *   E(t) = √N·F(t·√N) + Σ c(j)·N^−j·Z(j),   Z(j) = Σ (t − m)^−(2j+1)  over m ≠ 0,
 *
 * and where F is its series too, the same sum over all m, which are derivatives of π·cot(πt).
 */
import { BLOCK, QuadraticPhases } from './quadratic-phases.ts';

/** The asymptotic series is good to 2^-60 from here on: its least term is e^(−πy²). */
const ASYMPTOTIC = 4;
/** From here on its terms c(3)·y^−7 and later count nothing beside √N. */
const THREE_TERMS = 200;

/** Steps of 1/16 at whose ends F is known, as derivatives over factorials. */
const STEP = 1 / 16;
const TERMS = 24;

/**
 * S(k)/M for k = 0 … ⌊M/2⌋, pairs; the others are S(M − k). The error is some 2^-52 of the root mean square, where N is at least 2^17.
 * @param length at least 2·of − 1
 */
export function longChirpSpectrum(of: number, length: number): Float64Array {
  const count = Math.floor(length / 2) + 1;
  const values = new Float64Array(2 * count);
  const [n, m] = [BigInt(of), BigInt(length)];
  const gaussian = new QuadraticPhases(n, 2n * m * m);
  const linear = new QuadraticPhases(n, m, true);
  const ends = new Ends(of, length);
  // √N·e^(πi/4): both parts are √(N/2).
  const size = Math.sqrt(of / 2) / length;
  const sign = of % 2 === 0 ? 1 : -1;
  const end = sign / length;
  for (let first = 0; first < count; first += BLOCK) {
    const [q, conjugate] = [gaussian.block(first), linear.block(first)];
    ends.block(first);
    for (let j = 0; j < BLOCK && first + j < count; j++) {
      const [pRe, pIm] = [conjugate[2 * j]!, -conjugate[2 * j + 1]!];
      const [sumRe, sumIm] = [1 + sign * pRe, sign * pIm];
      const [qRe, qIm] = [q[2 * j]!, q[2 * j + 1]!];
      const re = qRe * sumRe - qIm * sumIm;
      const im = qRe * sumIm + qIm * sumRe;
      const k = 2 * (first + j);
      values[k] = size * (re - im) - end * (pRe - 2 * pIm * ends.im[j]!);
      values[k + 1] = size * (re + im) - end * 2 * pIm * ends.re[j]!;
    }
  }
  return values;
}

/** E(t), block by block. */
class Ends {
  readonly re = new Float64Array(BLOCK);
  readonly im = new Float64Array(BLOCK);
  private readonly of: number;
  private readonly length: number;
  /** cot(π·j/length) within a block. */
  private readonly cotangents = new Float64Array(BLOCK);
  private readonly near: Float64Array;

  constructor(of: number, length: number) {
    this.of = of;
    this.length = length;
    for (let j = 1; j < BLOCK; j++) this.cotangents[j] = 1 / Math.tan((Math.PI * j) / length);
    this.near = auxiliaryFresnel();
  }

  block(first: number): void {
    const { of, length, cotangents, re, im } = this;
    const perStep = Math.sqrt(of) / length;
    const begin = 1 / Math.tan((Math.PI * first) / length);
    const [second, third] = [Math.PI / (4 * of), (Math.PI ** 2 / 8 / of) * (1 / of)];
    for (let j = 0; j < BLOCK; j++) {
      const y = (first + j) * perStep;
      if (y < ASYMPTOTIC) {
        this.setNear(j, (first + j) / length, y);
        continue;
      }
      const own = cotangents[j]!;
      // cot(a + b), both angles below a quarter turn.
      const c = first === 0 ? own : j === 0 ? begin : (begin * own - 1) / (begin + own);
      const square = c * c;
      const cubic = c * (1 + square);
      re[j] = second * cubic;
      im[j] = c / 2 - third * cubic * (2 + 3 * square);
      if (y < THREE_TERMS) this.addTerms(j, y);
    }
  }

  /** The terms of the asymptotic series from the fourth on: √N·c(j)·y^−(2j+1). */
  private addTerms(j: number, y: number): void {
    const inverse = 1 / (2 * Math.PI * y * y);
    // c(3) = 15·c(0)/(2πi)³ = −15/(2π)⁴·… : powers of 1/i alternate between the parts.
    let term = (Math.sqrt(this.of) / (2 * Math.PI * y)) * 15 * inverse ** 3;
    for (let n = 3; Math.abs(term) > 2 ** -60 && n < 60; n++) {
      // c(n) is i·(−i)^n of its size.
      if (n % 4 === 0) this.im[j]! += term;
      else if (n % 4 === 1) this.re[j]! += term;
      else if (n % 4 === 2) this.im[j]! -= term;
      else this.re[j]! -= term;
      const next = term * (2 * n + 1) * inverse;
      if (next > term) break;
      term = next;
    }
  }

  /** √N·F(y), and what the other integers contribute: Z(j) as series in t with values of ζ. */
  private setNear(j: number, t: number, y: number): void {
    const { near, of } = this;
    const anchor = Math.round(y / STEP);
    const h = y - anchor * STEP;
    let [re, im] = [0, 0];
    for (let n = TERMS - 1, at = 2 * (anchor * TERMS + TERMS - 1); n >= 0; n--, at -= 2) {
      re = re * h + near[at]!;
      im = im * h + near[at + 1]!;
    }
    const root = Math.sqrt(of);
    const square = t * t;
    const first = -2 * t * (ZETA[2] + square * (ZETA[4] + square * (ZETA[6] + square * ZETA[8])));
    const second = -2 * t * (3 * ZETA[4] + square * 10 * ZETA[6]);
    this.re[j] = root * re + second / (4 * Math.PI ** 2 * of);
    this.im[j] = root * im + first / (2 * Math.PI);
  }
}

const ZETA = {
  2: Math.PI ** 2 / 6,
  4: Math.PI ** 4 / 90,
  6: Math.PI ** 6 / 945,
  8: Math.PI ** 8 / 9450,
} as const;

/**
 * F and its derivatives over factorials at y = 0, 1/16, … up to ASYMPTOTIC, from F(0) = e^(πi/4)/2 and F′ = −2πi·y·F − 1: each place by
 * the series of the one before. Solutions of the equation without the 1 neither grow nor decay, and so do errors.
 */
function auxiliaryFresnel(): Float64Array {
  const places = Math.round(ASYMPTOTIC / STEP) + 1;
  const table = new Float64Array(2 * TERMS * places);
  let [re, im] = [Math.SQRT1_2 / 2, Math.SQRT1_2 / 2];
  for (let place = 0; place < places; place++) {
    const y = place * STEP;
    const own = table.subarray(2 * TERMS * place, 2 * TERMS * (place + 1));
    own[0] = re;
    own[1] = im;
    own[2] = 2 * Math.PI * y * im - 1;
    own[3] = -2 * Math.PI * y * re;
    // (n + 1)·a(n + 1) = −2πi·(y·a(n) + a(n − 1)).
    for (let n = 1; n < TERMS - 1; n++) {
      const scale = (2 * Math.PI) / (n + 1);
      own[2 * n + 2] = scale * (y * own[2 * n + 1]! + own[2 * n - 1]!);
      own[2 * n + 3] = -scale * (y * own[2 * n]! + own[2 * n - 2]!);
    }
    [re, im] = [0, 0];
    for (let n = TERMS - 1; n >= 0; n--) {
      re = re * STEP + own[2 * n]!;
      im = im * STEP + own[2 * n + 1]!;
    }
  }
  return table;
}
