/** Filters over one line of doubles, in place, with the state of the transposed direct form II. */
import { FftError } from '../../problem/errors.ts';
import type { Coefficients } from '../arguments/coefficients.ts';
import type { Lines } from '../arguments/lines.ts';
import { newPlanes, type Planes, presentPlanes, readPlanes } from '../arguments/planes.ts';

/**
 * A recursive filter of one line.
 * @param a coefficients of the output, as many as b; the first one is 1
 * @param z state, one number less than coefficients
 */
export function filterPlane(b: Float64Array, a: Float64Array, line: Float64Array, z: Float64Array): void {
  const order = z.length;
  if (order === 0) {
    for (let n = 0; n < line.length; n++) line[n]! *= b[0]!;
    return;
  }
  if (order <= 2) {
    const section = Float64Array.of(b[0]!, b[1]!, b[2] ?? 0, 1, a[1]!, a[2] ?? 0);
    const state = Float64Array.of(z[0]!, z[1] ?? 0);
    filterSection(section, 0, line, state);
    z.set(state.subarray(0, order));
    return;
  }
  if (order <= 8) return filterUpTo8(b, a, line, z);
  const [first, last] = [b[0]!, order - 1];
  for (let n = 0; n < line.length; n++) {
    const x = line[n]!;
    const y = z[0]! + first * x;
    for (let k = 0; k < last; k++) z[k] = z[k + 1]! + b[k + 1]! * x - a[k + 1]! * y;
    z[last] = b[order]! * x - a[order]! * y;
    line[n] = y;
  }
}

/** A recursive filter of order up to 8, padded with zero coefficients: its state is in local variables, which avoids waiting for memory. */
function filterUpTo8(b: Float64Array, a: Float64Array, line: Float64Array, z: Float64Array): void {
  const padded = (values: Float64Array, length: number) => {
    const wide = new Float64Array(length);
    wide.set(values);
    return wide as unknown as [number, number, number, number, number, number, number, number, number];
  };
  const [b0, b1, b2, b3, b4, b5, b6, b7, b8] = padded(b, 9);
  const [, a1, a2, a3, a4, a5, a6, a7, a8] = padded(a, 9);
  let [z0, z1, z2, z3, z4, z5, z6, z7] = padded(z, 8);
  for (let n = 0; n < line.length; n++) {
    const x = line[n]!;
    const y = z0 + b0 * x;
    z0 = z1 + b1 * x - a1 * y;
    z1 = z2 + b2 * x - a2 * y;
    z2 = z3 + b3 * x - a3 * y;
    z3 = z4 + b4 * x - a4 * y;
    z4 = z5 + b5 * x - a5 * y;
    z5 = z6 + b6 * x - a6 * y;
    z6 = z7 + b7 * x - a7 * y;
    z7 = b8 * x - a8 * y;
    line[n] = y;
  }
  z.set([z0, z1, z2, z3, z4, z5, z6, z7].slice(0, z.length));
}

/** A filter of finite impulse response, as sums of products. */
export function filterFir(b: Float64Array, _a: Float64Array, line: Float64Array, z: Float64Array): void {
  const order = z.length;
  const { length } = line;
  // Samples before the line are zeros; the state replaces their contribution.
  const before = new Float64Array(order + length);
  before.set(line, order);
  const kernel = b.slice().reverse();
  const taps = order + 1;
  const whole = taps - (taps % 4);
  for (let n = 0; n < length; n++) {
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    for (let k = 0; k < whole; k += 4) {
      s0 += before[n + k]! * kernel[k]!;
      s1 += before[n + k + 1]! * kernel[k + 1]!;
      s2 += before[n + k + 2]! * kernel[k + 2]!;
      s3 += before[n + k + 3]! * kernel[k + 3]!;
    }
    for (let k = whole; k < taps; k++) s0 += before[n + k]! * kernel[k]!;
    line[n] = s0 + s1 + (s2 + s3) + (n < order ? z[n]! : 0);
  }
  for (let k = 0; k < order; k++) {
    let sum = k + length < order ? z[k + length]! : 0;
    for (let j = k + 1; j < taps; j++) sum += b[j]! * before[order + length + k - j]!;
    z[k] = sum;
  }
}

/** A filter of complex numbers. */
export function filterComplex(b: Coefficients, a: Coefficients, { re, im }: Planes, z: Planes): void {
  const order = z.re.length;
  const [bRe, bIm, aRe, aIm, zRe, zIm] = [b.re, b.im!, a.re, a.im!, z.re, z.im!];
  for (let n = 0; n < re.length; n++) {
    const [xRe, xIm] = [re[n]!, im![n]!];
    const yRe = bRe[0]! * xRe - bIm[0]! * xIm + (order > 0 ? zRe[0]! : 0);
    const yIm = bRe[0]! * xIm + bIm[0]! * xRe + (order > 0 ? zIm[0]! : 0);
    for (let k = 0; k < order; k++) {
      const [p, q, r, s] = [bRe[k + 1]!, bIm[k + 1]!, aRe[k + 1]!, aIm[k + 1]!];
      const isLast = k === order - 1;
      zRe[k] = (isLast ? 0 : zRe[k + 1]!) + p * xRe - q * xIm - r * yRe + s * yIm;
      zIm[k] = (isLast ? 0 : zIm[k + 1]!) + p * xIm + q * xRe - r * yIm - s * yRe;
    }
    re[n] = yRe;
    im![n] = yIm;
  }
}

/** Second-order sections one after another. @param z state, two numbers for each section */
export function filterSections(sections: Float64Array, line: Float64Array, z: Float64Array): void {
  const count = sections.length / 6;
  let section = 0;
  // Two sections run together, one a sample behind the other, so that neither waits for the other's result.
  for (; section + 1 < count; section += 2) filterPair(sections, section, line, z);
  if (section < count) filterSection(sections, section, line, z);
}

function filterSection(sections: Float64Array, section: number, line: Float64Array, z: Float64Array): void {
  const at = 6 * section;
  const [b0, b1, b2] = [sections[at]!, sections[at + 1]!, sections[at + 2]!];
  const [a1, a2] = [sections[at + 4]!, sections[at + 5]!];
  let [z0, z1] = [z[2 * section]!, z[2 * section + 1]!];
  for (let n = 0; n < line.length; n++) {
    const x = line[n]!;
    const y = b0 * x + z0;
    z0 = b1 * x + z1 - a1 * y;
    z1 = b2 * x - a2 * y;
    line[n] = y;
  }
  z[2 * section] = z0;
  z[2 * section + 1] = z1;
}

function filterPair(sections: Float64Array, section: number, line: Float64Array, z: Float64Array): void {
  const at = 6 * section;
  const [b0, b1, b2] = [sections[at]!, sections[at + 1]!, sections[at + 2]!];
  const [a1, a2] = [sections[at + 4]!, sections[at + 5]!];
  const [d0, d1, d2] = [sections[at + 6]!, sections[at + 7]!, sections[at + 8]!];
  const [c1, c2] = [sections[at + 10]!, sections[at + 11]!];
  let [z0, z1, w0, w1] = [z[2 * section]!, z[2 * section + 1]!, z[2 * section + 2]!, z[2 * section + 3]!];
  for (let n = 0; n < line.length; n++) {
    const x = line[n]!;
    const y = b0 * x + z0;
    z0 = b1 * x + z1 - a1 * y;
    z1 = b2 * x - a2 * y;
    const v = d0 * y + w0;
    w0 = d1 * y + w1 - c1 * v;
    w1 = d2 * y - c2 * v;
    line[n] = v;
  }
  z.set([z0, z1, w0, w1], 2 * section);
}

/**
 * Refuses an output that has overflowed from finite samples; infinities and NaN in the input may pass through.
 * @param line output of the filter
 * @throws FftError `invalid-argument`
 */
export function refuseOverflow(lines: Lines, l: number, line: Planes): void {
  const input = newPlanes(lines.n, line.im !== undefined);
  readPlanes(lines, l, input);
  if (!presentPlanes(input).every((part) => part.every(Number.isFinite))) return;
  const at = Math.min(...presentPlanes(line).map((part) => part.findIndex((value) => !Number.isFinite(value)) >>> 0));
  const where = at < lines.n ? ` at sample ${at}` : '';
  const message = `The filter's output leaves the range of numbers${where}: it is unstable. Of high orders take second-order sections (output: 'sos'), which rounding hurts less.`;
  throw new FftError('invalid-argument', message, { path: 'a' });
}
