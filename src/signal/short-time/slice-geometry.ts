/** Where slices of a window and a hop lie, in samples and seconds: what of `ShortTimeFFT` asks no transform. */
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger } from '../arguments/check.ts';

/** A sample and the number of a slice. */
export type SampleAndSlice = readonly [k: number, p: number];

/** Squares of a window, beside the largest sum of them over a sample, that are taken for none. */
const NOTHING = 1e-15;

export class SliceGeometry {
  readonly hop: number;
  /** Samples a second, in hertz. */
  readonly fs: number;
  private values: Float64Array;
  private dual: Float64Array | undefined;

  constructor(win: Float64Array, hop: number, fs: number) {
    this.values = win;
    this.hop = hop;
    this.fs = fs;
  }

  /** Values of the window, as it is scaled. */
  get win(): Float64Array {
    return this.values;
  }

  /** Seconds from sample to sample. */
  get T(): number {
    return 1 / this.fs;
  }

  /** Seconds from slice to slice. */
  get deltaT(): number {
    return this.hop / this.fs;
  }

  /** Samples of the window. */
  get mNum(): number {
    return this.values.length;
  }

  /** Which of them is its middle. */
  get mNumMid(): number {
    return Math.floor(this.mNum / 2);
  }

  /** The first slice that reaches sample 0 or later ones; 0 or less. */
  get pMin(): number {
    return -Math.floor((this.mNum - this.mNumMid - 1) / this.hop);
  }

  /** Where that slice begins. */
  get kMin(): number {
    return this.pMin * this.hop - this.mNumMid;
  }

  /** The slice behind the last one that reaches n samples. @throws FftError `invalid-argument` for less than half a window */
  pMax(n: number): number {
    this.checkSamples(n);
    return Math.floor((n - 1 + this.mNumMid - this.firstValue) / this.hop) + 1;
  }

  /** Where the last slice ends. Errors as `pMax`. */
  kMax(n: number): number {
    return (this.pMax(n) - 1) * this.hop - this.mNumMid + this.mNum;
  }

  /** How many slices n samples have. Errors as `pMax`. */
  pNum(n: number): number {
    return this.pMax(n) - this.pMin;
  }

  /** The slices from p0 up to p1, or all. @throws FftError `invalid-argument` where they are not between `pMin` and `pMax(n)` */
  pRange(n: number, p0?: number, p1?: number): readonly [number, number] {
    const [first, end] = [this.pMin, this.pMax(n)];
    const [from, to] = [p0 ?? first, p1 ?? end];
    check(
      'p0',
      from,
      Number.isSafeInteger(from) && from >= first && from < end,
      `an integer from pMin, ${first}, to ${end - 1}`,
    );
    check('p1', to, Number.isSafeInteger(to) && to > from && to <= end, `an integer from ${from + 1} to pMax, ${end}`);
    return [from, to];
  }

  /** Times of the middles of slices, in seconds. Errors as `pRange`. */
  t(n: number, options: { readonly p0?: number; readonly p1?: number; readonly kOffset?: number } = {}): Float64Array {
    const [from, to] = this.pRange(n, options.p0, options.p1);
    const { kOffset = 0 } = options;
    return Float64Array.from({ length: to - from }, (_, k) => ((from + k) * this.hop + kOffset) / this.fs);
  }

  /** The sample at the middle of a slice next to k: before it, or behind it. @throws FftError `invalid-argument` */
  nearestKP(k: number, left = true): number {
    checkInteger('k', k, Number.MIN_SAFE_INTEGER);
    return (left ? Math.floor(k / this.hop) : Math.ceil(k / this.hop)) * this.hop;
  }

  /** The sample and the slice from which on nothing before sample 0 counts. */
  get lowerBorderEnd(): SampleAndSlice {
    const first = this.firstValue;
    const p = Math.max(0, Math.ceil((this.mNumMid - first) / this.hop));
    return [(p - 1) * this.hop + this.mNum - this.mNumMid + first, p];
  }

  /** The sample and the slice from which on something behind n samples counts. Errors as `pMax`. */
  upperBorderBegin(n: number): SampleAndSlice {
    this.checkSamples(n);
    const last = this.values.findLastIndex((value) => value !== 0);
    const p = Math.floor((n - 1 - last + this.mNumMid) / this.hop) + 1;
    return [p * this.hop - this.mNumMid, p];
  }

  /** What the window is multiplied by for absolute values to be amplitudes. */
  get facMagnitude(): number {
    return 1 / Math.abs(this.values.reduce((sum, value) => sum + value, 0));
  }

  /** What the window is multiplied by for squares to be powers per hertz. */
  get facPsd(): number {
    return 1 / Math.sqrt(this.values.reduce((sum, value) => sum + value * value, 0) * this.fs);
  }

  protected setWindow(values: Float64Array): void {
    this.values = values;
    this.dual = undefined;
  }

  /** Whether every sample lies under a window that is not 0 there. */
  protected get isCovering(): boolean {
    const weights = this.weights();
    const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
    return this.hop <= this.mNum && weights.every((weight) => weight >= NOTHING * largest);
  }

  /** The dual window of least energy: the window over the sum of the squares of all windows. */
  protected canonicalDual(): Float64Array {
    if (this.dual) return this.dual;
    if (!this.isCovering) {
      const message = `win and hop leave out samples, so that there is no inverse; take a hop below ${this.hop}.`;
      throw new FftError('invalid-argument', message, { path: 'hop' });
    }
    const weights = this.weights();
    this.dual = this.values.map((value, k) => value / weights[k]!);
    return this.dual;
  }

  /** Of each value of the window, the sum of the squares of all windows over its sample. */
  private weights(): Float64Array {
    const weights = new Float64Array(Math.min(this.hop, this.mNum));
    for (let k = 0; k < this.mNum; k++) weights[k % this.hop]! += this.values[k]! ** 2;
    return Float64Array.from(this.values, (_, k) => weights[k % this.hop]!);
  }

  private get firstValue(): number {
    return this.values.findIndex((value) => value !== 0);
  }

  private checkSamples(n: number): void {
    const least = this.mNum - this.mNumMid;
    check('n', n, Number.isSafeInteger(n) && n >= least, `${least} samples or more, half a window's`);
  }
}
