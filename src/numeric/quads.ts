/**
 * Complex double-doubles in arrays, four doubles each: `re.hi, re.lo, im.hi, im.lo`. Roots of unity and a transform for what
 * plan time has to know better than kernels compute.
 */
import { ddAdd, ddMul, ddMulComplex } from './doubledouble.ts';
import { cosTurn, sinTurn, toDoubleDouble } from './exact.ts';
import { primeFactors } from './primes.ts';

/** `count` roots e^(−2πi·exponent(i)/n). @param exponent integers from 0 to n − 1. */
export function quadRoots(n: number, count: number, exponent: (i: number) => number): Float64Array {
  // Each is the product of one of √n roots side by side and one of √n that lie √n apart.
  const near = Math.ceil(Math.sqrt(n));
  const exactly = (steps: number, by: number) => {
    const table = new Float64Array(4 * steps);
    for (let j = 0; j < steps; j++) {
      const sine = toDoubleDouble(sinTurn(j * by, n));
      table.set([...toDoubleDouble(cosTurn(j * by, n)), 0 - sine[0], 0 - sine[1]], 4 * j);
    }
    return table;
  };
  const fine = exactly(near, 1);
  const coarse = exactly(Math.ceil(n / near), near);
  const roots = new Float64Array(4 * count);
  for (let i = 0; i < count; i++) {
    const p = exponent(i);
    ddMulComplex(roots, 4 * i, coarse, 4 * Math.floor(p / near), fine, 4 * (p % near));
  }
  return roots;
}

/** Transforms n numbers in place: forward, not scaled. For lengths of small primes, a pass for each (Stockham). */
export function transformQuads(data: Float64Array): void {
  const n = data.length / 4;
  const roots = quadRoots(n, n, (k) => k);
  let from: Float64Array = data;
  let to: Float64Array = new Float64Array(4 * n);
  let before = 1;
  for (const radix of radicesOf(n)) {
    pass(from, to, radix, before, roots);
    [from, to] = [to, from];
    before *= radix;
  }
  if (from !== data) data.set(from);
}

function radicesOf(n: number): number[] {
  const primes = primeFactors(n);
  const twos = primes.filter((prime) => prime === 2).length;
  return [...Array<number>(twos >> 1).fill(4), ...Array<number>(twos % 2).fill(2), ...primes.slice(twos)];
}

/** A pass of some radix after passes of product `before`, in autosort form. */
function pass(from: Float64Array, to: Float64Array, radix: number, before: number, roots: Float64Array): void {
  const n = roots.length / 4;
  const blocks = n / (radix * before);
  const points = new Float64Array(4 * radix);
  const sums = new Float64Array(4 * radix);
  const transform = radix === 4 ? transform4 : radix === 2 ? transform2 : transformPrime;
  for (let q = 0; q < blocks; q++) {
    for (let i = 0; i < before; i++) {
      for (let m = 0; m < radix; m++) {
        const at = 4 * (q * before + i + (m * n) / radix);
        if (i * m > 0) ddMulComplex(points, 4 * m, from, at, roots, 4 * (i * m * blocks));
        else for (let part = 0; part < 4; part++) points[4 * m + part] = from[at + part]!;
      }
      transform(points, sums, radix, roots);
      for (let k = 0; k < radix; k++) {
        const at = 4 * (q * radix * before + i + k * before);
        for (let part = 0; part < 4; part++) to[at + part] = sums[4 * k + part]!;
      }
    }
  }
}

/** y[t] = x[a] + sign · x[b], parts apart. */
function combine(y: Float64Array, t: number, x: Float64Array, a: number, b: number, sign: 1 | -1): void {
  ddAdd(y, t, x[a]!, x[a + 1]!, sign * x[b]!, sign * x[b + 1]!);
  ddAdd(y, t + 2, x[a + 2]!, x[a + 3]!, sign * x[b + 2]!, sign * x[b + 3]!);
}

function transform2(x: Float64Array, y: Float64Array): void {
  combine(y, 0, x, 0, 4, 1);
  combine(y, 4, x, 0, 4, -1);
}

const halves = new Float64Array(16);

function transform4(x: Float64Array, y: Float64Array): void {
  combine(halves, 0, x, 0, 8, 1);
  combine(halves, 4, x, 0, 8, -1);
  combine(halves, 8, x, 4, 12, 1);
  combine(halves, 12, x, 4, 12, -1);
  combine(y, 0, halves, 0, 8, 1);
  combine(y, 8, halves, 0, 8, -1);
  // ∓i times the last one.
  const [h, reHi, reLo, imHi, imLo] = [halves, halves[12]!, halves[13]!, halves[14]!, halves[15]!];
  ddAdd(y, 4, h[4]!, h[5]!, imHi, imLo);
  ddAdd(y, 6, h[6]!, h[7]!, -reHi, -reLo);
  ddAdd(y, 12, h[4]!, h[5]!, -imHi, -imLo);
  ddAdd(y, 14, h[6]!, h[7]!, reHi, reLo);
}

const turned = new Float64Array(4);

/** By definition, for odd primes. */
function transformPrime(x: Float64Array, y: Float64Array, radix: number, roots: Float64Array): void {
  for (let k = 0; k < radix; k++) {
    for (let part = 0; part < 4; part++) y[4 * k + part] = x[part]!;
    for (let m = 1; m < radix; m++) {
      ddMulComplex(turned, 0, x, 4 * m, roots, (((k * m) % radix) * roots.length) / radix);
      ddAdd(y, 4 * k, y[4 * k]!, y[4 * k + 1]!, turned[0]!, turned[1]!);
      ddAdd(y, 4 * k + 2, y[4 * k + 2]!, y[4 * k + 3]!, turned[2]!, turned[3]!);
    }
  }
}

/** Multiplies a number by a real one. */
export function scaleQuad(x: Float64Array, at: number, hi: number, lo: number): void {
  ddMul(x, at, x[at]!, x[at + 1]!, hi, lo);
  ddMul(x, at + 2, x[at + 2]!, x[at + 3]!, hi, lo);
}
