/**
 * Products of spectra for partitions that are all computed in one call. The loop runs bin by bin, so that the sum over partitions stays in registers;
 * writing a sum to memory after every product would take twice as long. Past spectra of an input stand in a ring buffer that runs backwards, so that
 * partitions and past spectra have the same order.
 */
import { floatZeros } from '../../numpy/arrays/array.ts';
import type { FloatPrecision, Floats } from '../arguments/floats.ts';

export interface BinProductsSpec {
  readonly bins: number;
  /** Number of partitions. */
  readonly count: number;
  readonly inputs: number;
  readonly rows: number;
  readonly precision: FloatPrecision;
}

export class BinProducts {
  private readonly spec: BinProductsSpec;
  /** Past spectra of each input: for each bin as many complex numbers as there are partitions. */
  private readonly past: readonly Floats[];
  /** Spectra of the response, row by row, in the same layout; `coming` has those of a new response. */
  private response: readonly Floats[];
  private coming: readonly Floats[] | undefined;
  private newest = 0;

  constructor(spec: BinProductsSpec) {
    this.spec = spec;
    this.past = this.arrays(spec.inputs);
    this.response = this.arrays(spec.rows);
  }

  private arrays(many: number): Floats[] {
    const { bins, count, precision } = this.spec;
    return Array.from({ length: many }, () => floatZeros(2 * bins * count, precision === 'single'));
  }

  /** Stores the spectrum of one partition of a row. */
  prepare(row: number, partition: number, spectrum: Floats, isComing: boolean): void {
    if (isComing) this.coming ??= this.arrays(this.spec.rows);
    this.put((isComing ? this.coming! : this.response)[row]!, partition, spectrum);
  }

  /** Makes room in the ring for the spectra of a new block. */
  begin(): void {
    const { count } = this.spec;
    this.newest = (this.newest + count - 1) % count;
  }

  /** Stores an input's spectrum of the present block. */
  take(input: number, spectrum: Floats): void {
    this.put(this.past[input]!, this.newest, spectrum);
  }

  /** sum += x · h over the partitions in a range. @param sign 1 to add, −1 to subtract */
  add(sum: Floats, input: number, row: number, from: number, to: number, isComing: boolean, sign: 1 | -1 = 1): void {
    const h = (isComing ? this.coming! : this.response)[row]!;
    const { count } = this.spec;
    addRange(sum, this.past[input]!, h, this.newest, count, from, to, sign);
  }

  /** Makes the new response the present one. */
  exchange(): void {
    [this.response, this.coming] = [this.coming!, this.response];
  }

  reset(): void {
    for (const past of this.past) past.fill(0);
    // The sum is taken in the same order as for a newly made convolver.
    this.newest = 0;
  }

  private put(target: Floats, place: number, spectrum: Floats): void {
    const { bins, count } = this.spec;
    for (let bin = 0, at = 2 * place; bin < bins; bin++, at += 2 * count) {
      target[at] = spectrum[2 * bin]!;
      target[at + 1] = spectrum[2 * bin + 1]!;
    }
  }
}

/** Partition p is multiplied by the spectrum at position newest + p of the ring. */
function addRange(
  sum: Floats,
  x: Floats,
  h: Floats,
  newest: number,
  count: number,
  from: number,
  to: number,
  sign: number,
): void {
  const wrap = Math.min(to, Math.max(from, count - newest));
  const before = 2 * newest;
  const behind = before - 2 * count;
  for (let k = 0, row = 0; k < sum.length; k += 2, row += 2 * count) {
    // Two independent sums, which a processor adds in parallel.
    let re = 0;
    let im = 0;
    let otherRe = 0;
    let otherIm = 0;
    for (let turn = 0; turn < 2; turn++) {
      const shift = turn === 0 ? before : behind;
      const end = row + 2 * (turn === 0 ? wrap : to);
      let p = row + 2 * (turn === 0 ? from : wrap);
      for (; p + 2 < end; p += 4) {
        const a = x[p + shift]!;
        const b = x[p + shift + 1]!;
        const c = h[p]!;
        const d = h[p + 1]!;
        re += a * c - b * d;
        im += a * d + b * c;
        const e = x[p + shift + 2]!;
        const f = x[p + shift + 3]!;
        const g = h[p + 2]!;
        const i = h[p + 3]!;
        otherRe += e * g - f * i;
        otherIm += e * i + f * g;
      }
      if (p >= end) continue;
      const a = x[p + shift]!;
      const b = x[p + shift + 1]!;
      const c = h[p]!;
      const d = h[p + 1]!;
      re += a * c - b * d;
      im += a * d + b * c;
    }
    sum[k]! += sign * (re + otherRe);
    sum[k + 1]! += sign * (im + otherIm);
  }
}
