/** The geometry of slices with a window and a hop, in samples and seconds: the methods of `ShortTimeFFT` that need no transform. */
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger } from '../arguments/check.ts';

/** A sample and the number of a slice. */
export type SampleAndSlice = readonly [k: number, p: number];

/** The sum of squared window values, as a fraction of the largest sum over all samples, below which a sample counts as not covered. */
const NOTHING = 1e-15;

export class SliceGeometry {
  readonly hop: number;
  /** Sampling rate, in hertz. */
  readonly fs: number;
  private values: Float64Array;
  private dual: Float64Array | undefined;

  constructor(win: Float64Array, hop: number, fs: number) {
    this.values = win;
    this.hop = hop;
    this.fs = fs;
  }

  /** Values of the window, with its scaling. */
  get win(): Float64Array {
    return this.values;
  }

  /** Seconds from one sample to the next. */
  get T(): number {
    return 1 / this.fs;
  }

  /** Seconds from one slice to the next. */
  get deltaT(): number {
    return this.hop / this.fs;
  }

  /** Number of samples of the window. */
  get mNum(): number {
    return this.values.length;
  }

  /** Index of the window's middle sample. */
  get mNumMid(): number {
    return Math.floor(this.mNum / 2);
  }

  /** The first slice that reaches sample 0 or a later one; 0 or less. */
  get pMin(): number {
    return -Math.floor((this.mNum - this.mNumMid - 1) / this.hop);
  }

  /** First sample of slice `pMin`. */
  get kMin(): number {
    return this.pMin * this.hop - this.mNumMid;
  }

  /** The slice behind the last one that reaches n samples. @throws FftError `invalid-argument` for less than half a window */
  pMax(n: number): number {
    this.checkSamples(n);
    return Math.floor((n - 1 + this.mNumMid - this.firstValue) / this.hop) + 1;
  }

  /** The sample behind the last slice. Errors as `pMax`. */
  kMax(n: number): number {
    return (this.pMax(n) - 1) * this.hop - this.mNumMid + this.mNum;
  }

  /** Number of slices of a signal of n samples. Errors as `pMax`. */
  pNum(n: number): number {
    return this.pMax(n) - this.pMin;
  }

  /** The range of slices from p0 up to p1, or of all slices. @throws FftError `invalid-argument` for slices outside `pMin` … `pMax(n)` */
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

  /** Times of the slices' middles, in seconds. Errors as `pRange`. */
  t(n: number, options: { readonly p0?: number; readonly p1?: number; readonly kOffset?: number } = {}): Float64Array {
    const [from, to] = this.pRange(n, options.p0, options.p1);
    const { kOffset = 0 } = options;
    return Float64Array.from({ length: to - from }, (_, k) => ((from + k) * this.hop + kOffset) / this.fs);
  }

  /** The sample at the middle of the slice next to sample k: before it, or behind it. @throws FftError `invalid-argument` */
  nearestKP(k: number, left = true): number {
    checkInteger('k', k, Number.MIN_SAFE_INTEGER);
    return (left ? Math.floor(k / this.hop) : Math.ceil(k / this.hop)) * this.hop;
  }

  /** The first sample and the first slice that do not depend on samples before 0. */
  get lowerBorderEnd(): SampleAndSlice {
    const first = this.firstValue;
    const p = Math.max(0, Math.ceil((this.mNumMid - first) / this.hop));
    return [(p - 1) * this.hop + this.mNum - this.mNumMid + first, p];
  }

  /** The first sample and the first slice that depend on samples from n on. Errors as `pMax`. */
  upperBorderBegin(n: number): SampleAndSlice {
    this.checkSamples(n);
    const last = this.values.findLastIndex((value) => value !== 0);
    const p = Math.floor((n - 1 - last + this.mNumMid) / this.hop) + 1;
    return [p * this.hop - this.mNumMid, p];
  }

  /** The factor of the window by which absolute values become amplitudes. */
  get facMagnitude(): number {
    return 1 / Math.abs(this.values.reduce((sum, value) => sum + value, 0));
  }

  /** The factor of the window by which squares become powers per hertz. */
  get facPsd(): number {
    return 1 / Math.sqrt(this.values.reduce((sum, value) => sum + value * value, 0) * this.fs);
  }

  protected setWindow(values: Float64Array): void {
    this.values = values;
    this.dual = undefined;
  }

  /** Whether every sample is covered by a nonzero value of some window. */
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

  /** Sums of the squares of all windows over the sample of each window value. */
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
