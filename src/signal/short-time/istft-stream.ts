/** Streaming inverse short-time transforms, frame by frame and without waiting: spectra of `StftStream`, changed or not, become samples. */
import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { check } from '../arguments/check.ts';
import { type FloatPrecision, type Floats, isFloats } from '../arguments/floats.ts';
import { type ArrayOf, FrameStream, type FrameStreamOptions } from '../frames/frame-stream.ts';
import { SEGMENT_LEVELS } from '../frames/segments.ts';

/** Options of the `StftStream` that the spectra come from. */
export type IstftStreamOptions<P extends FloatPrecision = FloatPrecision> = FrameStreamOptions<P>;

const WORKS = ['window', 'windowOptions', 'nperseg', 'noverlap', 'hopLength', 'nfft', 'device', 'precision', 'from'];
/** The sum of squared window values below which a sample counts as not covered, as in `istft`. */
const NOTHING = 1e-10;

/**
 * Takes the spectrum of one frame after another and gives `hopLength` samples for each: windowed frames, added up and divided by the sum of the
 * squared windows. Sample k comes with frame ⌊k / hopLength⌋, nperseg − hopLength samples later than it went into a `StftStream`. Frames allocate
 * nothing.
 */
export class IstftStream<P extends FloatPrecision = 'single'> extends FrameStream<P> {
  /** Sums of frames, and of squared windows, for the samples from the next one on. */
  private readonly sum: Float64Array;
  private readonly weight: Float64Array;
  private readonly ready: Floats;
  private frames = 0;

  /**
   * Opens the stream.
   * @throws FftError `invalid-argument` for options out of range, and for a window and an overlap that leave samples uncovered; `unknown-field`,
   *   `detached-array`, `out-of-memory`, and the errors of `device.planSync`
   */
  constructor(options: IstftStreamOptions<P>) {
    const own = readOptions(options ?? {}, { works: WORKS }, 'IstftStream', SEGMENT_LEVELS);
    super(own, 'inverse', checkHop);
    try {
      checkNonzeroOverlapAdd(this.window, this.hopLength);
      this.sum = floatZeros(this.nperseg, false) as Float64Array;
      this.weight = floatZeros(this.nperseg, false) as Float64Array;
      this.ready = floatZeros(this.hopLength, this.precision === 'single');
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /**
   * Takes the spectrum of the next frame.
   *
   * @param spectrum `bins` interleaved complex numbers, unscaled
   * @param onSamples gets the `hopLength` samples that no later frame changes, and the number of the first one. The array belongs to the stream and
   *   is the same every time. Samples where the windows are 0, such as the first one of `hann`, are 0.
   * @throws FftError `invalid-argument`, `wrong-length`, `destroyed`, `device-closed`, and errors that `onSamples` throws
   */
  push(spectrum: Float32Array | Float64Array, onSamples: (samples: ArrayOf<P>, first: number) => void): void {
    this.checkCall('onSamples', onSamples);
    check('spectrum', spectrum, isFloats(spectrum), 'a Float32Array or a Float64Array');
    if (spectrum.length !== 2 * this.bins) {
      const message = `spectrum has ${spectrum.length} numbers; ${this.bins} complex numbers are ${2 * this.bins}.`;
      throw new FftError('wrong-length', message, { path: 'spectrum' });
    }
    const { sum, weight, window, nperseg } = this;
    this.spectrum.array().set(spectrum);
    const wave = this.wave.array();
    this.plan.inverseSync(this.spectrum.array(), wave);
    for (let k = 0; k < nperseg; k++) {
      sum[k]! += wave[k]! * window[k]!;
      weight[k]! += window[k]! * window[k]!;
    }
    this.give(onSamples);
  }

  /**
   * Gives the remaining samples of the last frames, and begins a new signal.
   * @throws FftError as `push`
   */
  flush(onSamples: (samples: ArrayOf<P>, first: number) => void): void {
    this.checkCall('onSamples', onSamples);
    const frames = this.frames === 0 ? 0 : Math.ceil(this.nperseg / this.hopLength) - 1;
    for (let frame = 0; frame < frames; frame++) this.give(onSamples);
    this.reset();
  }

  /** Forgets all frames. */
  reset(): void {
    this.sum.fill(0);
    this.weight.fill(0);
    this.frames = 0;
  }

  private give(onSamples: (samples: ArrayOf<P>, first: number) => void): void {
    const { sum, weight, ready, hopLength, nperseg } = this;
    for (let k = 0; k < hopLength; k++) ready[k] = weight[k]! > NOTHING ? sum[k]! / weight[k]! : 0;
    for (const array of [sum, weight]) {
      array.copyWithin(0, hopLength);
      array.fill(0, nperseg - hopLength);
    }
    onSamples(ready as ArrayOf<P>, this.frames++ * hopLength);
  }
}

/** Refuses hops that leave samples between frames. @throws FftError `invalid-argument` */
function checkHop(hopLength: number, nperseg: number): void {
  const accepted = `at most nperseg, ${nperseg}: there are samples between frames that none says anything of`;
  check('hopLength', hopLength, hopLength <= nperseg, accepted);
}

/** Checks the condition of nonzero overlap-add (NOLA) for samples behind the first frames. @throws FftError `invalid-argument` */
function checkNonzeroOverlapAdd(window: Float64Array, hop: number): void {
  for (let k = 0; k < hop; k++) {
    let weight = 0;
    for (let at = k; at < window.length; at += hop) weight += window[at]! ** 2;
    if (weight > NOTHING) continue;
    const message = `window and hopLength leave out samples: the squares of the windows over one of them sum up to ${weight}. Let frames overlap more.`;
    throw new FftError('invalid-argument', message, { path: 'window' });
  }
}
