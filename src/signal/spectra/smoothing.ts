/** Smoothed spectra as meters show them, like those of the Web Audio API's `AnalyserNode`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewFloat32Array } from '../../problem/index.ts';
import { check, checkInteger } from '../arguments/check.ts';
import { isFloats } from '../arguments/floats.ts';

export interface SpectrumSmootherOptions {
  /** Number of bins of a spectrum. */
  readonly bins: number;
  /** Divisor of the spectra; default 1. The Web Audio API divides by the length of the transform. */
  readonly scale?: number | undefined;
  /** Smoothing factor τ, the share of the previous value, from 0 to less than 1; default 0.8. */
  readonly smoothingTimeConstant?: number | undefined;
  /** Level of byte 0, in decibels; default −100. */
  readonly minDecibels?: number | undefined;
  /** Level of byte 255, in decibels; default −30. */
  readonly maxDecibels?: number | undefined;
}

const WORKS = ['bins', 'scale', 'smoothingTimeConstant', 'minDecibels', 'maxDecibels'];

/**
 * Smooths the absolute values of spectra over time, and gives levels of them. Names and arithmetic are those of `AnalyserNode` (Web Audio API,
 * "Smoothing over time"): value = τ · value before + (1 − τ) · |X| / scale. Calls allocate nothing but what they return.
 */
export class SpectrumSmoother {
  readonly bins: number;
  readonly smoothingTimeConstant: number;
  readonly minDecibels: number;
  readonly maxDecibels: number;
  private readonly scale: number;
  private readonly values: Float64Array;

  /** @throws FftError `invalid-argument`, `unknown-field`, `out-of-memory` */
  constructor(options: SpectrumSmootherOptions) {
    const own = readOptions(options ?? {}, { works: WORKS }, 'SpectrumSmoother');
    const { bins, scale = 1, smoothingTimeConstant = 0.8, minDecibels = -100, maxDecibels = -30 } = own;
    this.bins = checkInteger('bins', bins, 1);
    check('scale', scale, Number.isFinite(scale) && scale > 0, 'a positive number');
    const isShare = smoothingTimeConstant >= 0 && smoothingTimeConstant < 1;
    check('smoothingTimeConstant', smoothingTimeConstant, isShare, 'a number from 0 to less than 1');
    check('minDecibels', minDecibels, Number.isFinite(minDecibels), 'a number of decibels');
    const isAbove = Number.isFinite(maxDecibels) && maxDecibels > minDecibels;
    check('maxDecibels', maxDecibels, isAbove, `a number of decibels above minDecibels, which is ${minDecibels}`);
    this.scale = scale;
    this.smoothingTimeConstant = smoothingTimeConstant;
    this.minDecibels = minDecibels;
    this.maxDecibels = maxDecibels;
    this.values = floatZeros(bins, false) as Float64Array;
  }

  /**
   * Takes the next spectrum, such as one of a `StftStream`. A bin that is not a number counts as silence.
   * @param spectrum `bins` interleaved complex numbers
   * @throws FftError `invalid-argument`, `wrong-length`
   */
  push(spectrum: Float32Array | Float64Array): void {
    check('spectrum', spectrum, isFloats(spectrum), 'a Float32Array or a Float64Array');
    const { values, scale, smoothingTimeConstant: kept, bins } = this;
    if (spectrum.length !== 2 * bins) {
      const message = `spectrum has ${spectrum.length} numbers; ${bins} complex numbers are ${2 * bins}.`;
      throw new FftError('wrong-length', message, { path: 'spectrum' });
    }
    for (let k = 0; k < bins; k++) {
      const size = Math.sqrt(spectrum[2 * k]! ** 2 + spectrum[2 * k + 1]! ** 2) / scale;
      const value = kept * values[k]! + (1 - kept) * size;
      values[k] = Number.isFinite(value) ? value : 0;
    }
  }

  /** Levels in decibels, 20 · log₁₀ of the smoothed values: `getFloatFrequencyData`. @param target gets them; default a new array */
  decibels(target: Float32Array | Float64Array = floatZeros(this.bins, true) as NewFloat32Array): typeof target {
    this.checkTarget(target);
    for (let k = 0; k < this.bins; k++) target[k] = 20 * Math.log10(this.values[k]!);
    return target;
  }

  /** Levels as bytes from 0, at `minDecibels`, to 255, at `maxDecibels`: `getByteFrequencyData`. */
  bytes(target: Uint8Array | Uint8ClampedArray = new Uint8Array(this.bins)): typeof target {
    this.checkTarget(target);
    const step = 255 / (this.maxDecibels - this.minDecibels);
    for (let k = 0; k < this.bins; k++) {
      const level = Math.floor(step * (20 * Math.log10(this.values[k]!) - this.minDecibels));
      target[k] = Math.max(0, Math.min(255, level));
    }
    return target;
  }

  /** Forgets all spectra. */
  reset(): void {
    this.values.fill(0);
  }

  private checkTarget(target: ArrayLike<number>): void {
    if (ArrayBuffer.isView(target) && target.length === this.bins) return;
    throw new FftError('wrong-length', `target takes an array of ${this.bins} numbers, one for each bin.`, {
      path: 'target',
    });
  }
}
