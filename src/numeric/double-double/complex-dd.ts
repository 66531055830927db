/**
 * Complex double-doubles in arrays, four doubles each: `re.hi, re.lo, im.hi, im.lo`. Roots of unity and a transform for what
 * plan time has to know better than kernels compute.
 *
 * Between the passes of a transform lo may be some units in the last place of hi: sums are not brought into shape, products
 * and results are (Lange and Rump, "Faithfully rounded floating-point computations", 2020). An error is still some u² of the
 * largest operand.
 */

import * as exactly from '../exact.ts';
import { cosTurn, sinTurn, toDoubleDouble } from '../exact.ts';
import type { RootRun } from '../nearest-roots.ts';
import { type Butterfly, type Numbers, type Sum, transformedArray } from '../transforms/passes.ts';
import { ddAdd, ddMul, ddMulComplex, productError } from './doubledouble.ts';

/** Up to this order each root is a table's own. */
const FEW_ROOTS = 1024;

/** The roots of unity of order n: cosines and sines to about u² of 1. */
export class ComplexDdRoots {
  readonly n: number;
  private readonly near: number;
  /** Roots `near` apart, and how far the ones between them are from the one before: a small product that is added. */
  private readonly coarse: Float64Array;
  private readonly fine: Float64Array;

  constructor(n: number) {
    this.n = n;
    this.near = n <= FEW_ROOTS ? 1 : 2 ** Math.floor(Math.log2(n) / 2);
    this.coarse = powersOfRoot(Math.ceil(n / this.near), this.near, n, exactly.ZERO);
    this.fine = powersOfRoot(this.near, 1, n, exactly.ONE);
  }

  /** Writes e^(−2πi·p/n) to `target[re]` and `target[im]`, hi before lo. @param p an integer from 0 to n − 1. */
  write(target: Float64Array, re: number, im: number, p: number): void {
    const { coarse, fine, near } = this;
    const whole = Math.floor(p / near);
    const [c, f] = [4 * whole, 4 * (p - whole * near)];
    ddMulComplex(product, 0, coarse, c, fine, f);
    ddAdd(target, re, coarse[c]!, coarse[c + 1]!, product[0]!, product[1]!);
    ddAdd(target, im, coarse[c + 2]!, coarse[c + 3]!, product[2]!, product[3]!);
  }

  /** Writes a run of roots; places and distances of the run are in double-doubles. @param run whose order divides n. */
  fill(target: Float64Array, { p, step, q, count, re, im, stride, block, skip }: RootRun): void {
    const by = this.n / q;
    for (let i = 0; i < count; i++) {
      const rest = (p + step * i) % q;
      const at = stride * i + skip * Math.floor(i / block);
      const [x, y] = [2 * (re + at), 2 * (im + at)];
      this.write(target, x, y, by * (rest < 0 ? rest + q : rest));
    }
  }
}

const product = new Float64Array(4);

/** What gives all roots of an order. */
export function complexDdRootsOf(n: number): ComplexDdRoots {
  return new ComplexDdRoots(n);
}

/** `count` roots e^(−2πi·exponent(i)/n). @param exponent integers from 0 to n − 1. */
export function complexDdRoots(n: number, count: number, exponent: (i: number) => number): Float64Array {
  const all = new ComplexDdRoots(n);
  const roots = new Float64Array(4 * count);
  for (let i = 0; i < count; i++) all.write(roots, 4 * i, 4 * i + 2, exponent(i));
  return roots;
}

/** e^(−2πi·by·j/n) − less for j = 0, 1, …, each the last one turned further, in 256 bits. */
function powersOfRoot(count: number, by: number, n: number, less: exactly.Exact): Float64Array {
  const table = new Float64Array(4 * count);
  const [cosine, sine] = [cosTurn(by, n), sinTurn(by, n)];
  let [re, im]: [exactly.Exact, exactly.Exact] = [exactly.ONE, exactly.ZERO];
  for (let j = 0; j < count; j++) {
    const [hi, lo] = toDoubleDouble(im);
    table.set([...toDoubleDouble(exactly.sub(re, less)), 0 - hi, 0 - lo], 4 * j);
    [re, im] = [
      exactly.sub(exactly.mul(re, cosine), exactly.mul(im, sine)),
      exactly.add(exactly.mul(im, cosine), exactly.mul(re, sine)),
    ];
  }
  return table;
}

export const COMPLEX_DDS: Numbers = {
  words: 4,
  roots: (n, count, exponent = (i) => i) => complexDdRoots(n, count, exponent),
  butterfly: (radix) => (radix === 4 ? radix4ButterflyDd : radix === 2 ? radix2ButterflyDd : oddComplexDd(radix)),
  add: addComplexDd,
  subtract: subtractComplexDd,
  inverses,
  scale: (y, t, factors, a) => scaleComplexDd(y, t, factors[a]!, factors[a + 1]!),
};

/** Transforms n numbers in place: forward, not scaled. For lengths of small primes, a pass for each (Stockham). */
export function transformComplexDds(data: Float64Array): void {
  const result = transformedArray(data, COMPLEX_DDS);
  if (result !== data) data.set(result);
}

/** The rounding error of a sum (Knuth). */
function sumError(a: number, b: number, sum: number): number {
  const other = sum - a;
  return a - (sum - other) + (b - other);
}

/** y[t] = x[a] + z[b], one part of a complex number. */
function addPart(y: Float64Array, t: number, x: Float64Array, a: number, z: Float64Array, b: number): void {
  const [p, q] = [x[a]!, z[b]!];
  const sum = p + q;
  y[t + 1] = sumError(p, q, sum) + (x[a + 1]! + z[b + 1]!);
  y[t] = sum;
}

/** y[t] = x[a] − z[b], one part. */
function subtractPart(y: Float64Array, t: number, x: Float64Array, a: number, z: Float64Array, b: number): void {
  const [p, q] = [x[a]!, -z[b]!];
  const sum = p + q;
  y[t + 1] = sumError(p, q, sum) + (x[a + 1]! - z[b + 1]!);
  y[t] = sum;
}

function addComplexDd(...[y, t, x, a, z, b]: Parameters<Sum>): void {
  addPart(y, t, x, a, z, b);
  addPart(y, t + 2, x, a + 2, z, b + 2);
}

function subtractComplexDd(...[y, t, x, a, z, b]: Parameters<Sum>): void {
  subtractPart(y, t, x, a, z, b);
  subtractPart(y, t + 2, x, a + 2, z, b + 2);
}

function inverses(x: Float64Array, factor: number): Float64Array {
  const found = new Float64Array(x.length / 2);
  for (let k = 0; 4 * k < x.length; k++) {
    const [hi, lo] = [x[4 * k + 2]!, x[4 * k + 3]!];
    const near = factor / hi;
    const product = near * hi;
    // One step of Newton's: what is left of the factor, over hi.
    found[2 * k] = near;
    found[2 * k + 1] = (factor - product - productError(near, hi, product) - near * lo) / hi;
  }
  return found;
}

/** y[t] += x[a] · w[b], one part; neither operand has to be in shape. */
function accumulate(y: Float64Array, t: number, x: Float64Array, a: number, w: Float64Array, b: number): void {
  const [p, q, own] = [x[a]!, w[b]!, y[t]!];
  const product = p * q;
  const sum = own + product;
  const rest = productError(p, q, product) + (p * w[b + 1]! + x[a + 1]! * q);
  y[t + 1] = y[t + 1]! + (sumError(own, product, sum) + rest);
  y[t] = sum;
}

/** 2^27 + 1: see `productError`. */
const SPLITTER = 134217729;

/** Multiplies a number by a root: `ddMulComplex` whose operands are split once for the two products of each. */
function turn(y: Float64Array, t: number, x: Float64Array, a: number, w: Float64Array, b: number): void {
  const [re, im, cos, sin] = [x[a]!, x[a + 2]!, w[b]!, w[b + 2]!];
  const [reLo, imLo, cosLo, sinLo] = [x[a + 1]!, x[a + 3]!, w[b + 1]!, w[b + 3]!];
  let scaled = SPLITTER * re;
  const re1 = scaled - (scaled - re);
  const re2 = re - re1;
  scaled = SPLITTER * im;
  const im1 = scaled - (scaled - im);
  const im2 = im - im1;
  scaled = SPLITTER * cos;
  const cos1 = scaled - (scaled - cos);
  const cos2 = cos - cos1;
  scaled = SPLITTER * sin;
  const sin1 = scaled - (scaled - sin);
  const sin2 = sin - sin1;
  const reCos = re * cos;
  const imSin = -(im * sin);
  const reSum = reCos + imSin;
  const reErrors = re2 * cos2 - (reCos - re1 * cos1 - re2 * cos1 - re1 * cos2);
  const imErrors = im2 * sin2 - (-imSin - im1 * sin1 - im2 * sin1 - im1 * sin2);
  const reRest = reErrors - imErrors + (re * cosLo + reLo * cos - (im * sinLo + imLo * sin));
  const reLow = sumError(reCos, imSin, reSum) + reRest;
  const reSin = re * sin;
  const imCos = im * cos;
  const imSum = reSin + imCos;
  const crossErrors = re2 * sin2 - (reSin - re1 * sin1 - re2 * sin1 - re1 * sin2);
  const otherErrors = im2 * cos2 - (imCos - im1 * cos1 - im2 * cos1 - im1 * cos2);
  const imRest = crossErrors + otherErrors + (re * sinLo + reLo * sin + (im * cosLo + imLo * cos));
  const imLow = sumError(reSin, imCos, imSum) + imRest;
  const reHi = reSum + reLow;
  const imHi = imSum + imLow;
  y[t] = reHi;
  y[t + 1] = reLow - (reHi - reSum);
  y[t + 2] = imHi;
  y[t + 3] = imLow - (imHi - imSum);
}

/** The points of a butterfly, twiddled. */
let points = new Float64Array(64);

function twiddleComplexDd(
  radix: number,
  from: Float64Array,
  at: number,
  step: number,
  roots: Float64Array,
  root: number,
): void {
  for (let part = 0; part < 4; part++) points[part] = from[at + part]!;
  for (let m = 1; m < radix; m++) {
    const x = at + m * step;
    if (root > 0) turn(points, 4 * m, from, x, roots, m * root);
    else for (let part = 0; part < 4; part++) points[4 * m + part] = from[x + part]!;
  }
}

const radix2ButterflyDd: Butterfly = (from, at, step, to, toAt, toStep, roots, root) => {
  twiddleComplexDd(2, from, at, step, roots, root);
  for (let part = 0; part < 4; part += 2) {
    addPart(to, toAt + part, points, part, points, 4 + part);
    subtractPart(to, toAt + toStep + part, points, part, points, 4 + part);
  }
};

const halves = new Float64Array(16);

const radix4ButterflyDd: Butterfly = (from, at, step, to, toAt, toStep, roots, root) => {
  twiddleComplexDd(4, from, at, step, roots, root);
  const [x, h] = [points, halves];
  for (let part = 0; part < 4; part += 2) {
    addPart(h, part, x, part, x, 8 + part);
    subtractPart(h, 4 + part, x, part, x, 8 + part);
    addPart(h, 8 + part, x, 4 + part, x, 12 + part);
    subtractPart(h, 12 + part, x, 4 + part, x, 12 + part);
  }
  for (let part = 0; part < 4; part += 2) {
    addPart(to, toAt + part, h, part, h, 8 + part);
    subtractPart(to, toAt + 2 * toStep + part, h, part, h, 8 + part);
  }
  // ∓i times the last one.
  addPart(to, toAt + toStep, h, 4, h, 14);
  subtractPart(to, toAt + toStep + 2, h, 6, h, 12);
  subtractPart(to, toAt + 3 * toStep, h, 4, h, 14);
  addPart(to, toAt + 3 * toStep + 2, h, 6, h, 12);
};

/** By definition, points m and p − m together. */
function oddComplexDd(prime: number): Butterfly {
  const circle = complexDdRoots(prime, prime, (k) => k);
  if (points.length < 4 * prime) points = new Float64Array(4 * prime);
  /** Sums of two points, then their differences. */
  const pairs = new Float64Array(4 * prime);
  const even = new Float64Array(4);
  const other = new Float64Array(4);
  return (from, at, step, to, toAt, toStep, roots, root) => {
    twiddleComplexDd(prime, from, at, step, roots, root);
    for (let part = 0; part < 4; part++) to[toAt + part] = points[part]!;
    for (let m = 1; 2 * m < prime; m++) {
      for (let part = 0; part < 4; part += 2) {
        addPart(pairs, 4 * m + part, points, 4 * m + part, points, 4 * (prime - m) + part);
        subtractPart(pairs, 4 * (prime - m) + part, points, 4 * m + part, points, 4 * (prime - m) + part);
        addPart(to, toAt + part, to, toAt + part, pairs, 4 * m + part);
      }
    }
    for (let k = 1; 2 * k < prime; k++) {
      for (let part = 0; part < 4; part++) even[part] = points[part]!;
      other.fill(0);
      for (let m = 1, w = k; 2 * m < prime; m++, w = (w + k) % prime) {
        for (let part = 0; part < 4; part += 2) {
          accumulate(even, part, pairs, 4 * m + part, circle, 4 * w);
          accumulate(other, part, pairs, 4 * (prime - m) + part, circle, 4 * w + 2);
        }
      }
      // The roots have the forward sign: i times what the sines make.
      subtractPart(to, toAt + k * toStep, even, 0, other, 2);
      addPart(to, toAt + k * toStep + 2, even, 2, other, 0);
      addPart(to, toAt + (prime - k) * toStep, even, 0, other, 2);
      subtractPart(to, toAt + (prime - k) * toStep + 2, even, 2, other, 0);
    }
  };
}

/** Multiplies a number by a real one. */
export function scaleComplexDd(x: Float64Array, at: number, hi: number, lo: number): void {
  ddMul(x, at, x[at]!, x[at + 1]!, hi, lo);
  ddMul(x, at + 2, x[at + 2]!, x[at + 3]!, hi, lo);
}
