/** Signals from short-time transforms frame by frame, without waiting: what `StftStream` gives, changed or not, back into samples. */
import { dispose } from '../engine/arguments/memory.ts';
import { isDevice, readOptions } from '../engine/arguments/options.ts';
import type { Device, Plan } from '../engine/index.ts';
import { provideGroups } from '../engine/lazy/lazy-modules.ts';
import { streamsAtOnce } from '../engine/lazy/lazy-tables.ts';
import { floatZeros } from '../numpy/array.ts';
import { FftError } from '../problem/errors.ts';
import { check, checkInteger, checkWord } from './check.ts';
import { type FloatPrecision, type Floats, isFloats } from './floats.ts';
import { hopOf, readSegments, SEGMENT_LEVELS, type SegmentOptions } from './segments.ts';
import { type WorkMemory, workOn } from './work.ts';

type ArrayOf<P extends FloatPrecision> = P extends 'single' ? Float32Array : Float64Array;

/** Those of the `StftStream` that the spectra come from. */
export interface IstftStreamOptions<P extends FloatPrecision = FloatPrecision> extends Omit<SegmentOptions, 'fs'> {
  /** A CPU device, from `openCpuSync` or `openDevice`, or a GPU that can be waited for. It stays open. */
  readonly device: Device;
  /** What it computes in; default `single`. */
  readonly precision?: P | undefined;
  /** Text from `serialize()` of a stream with the same options on such a device: planning is skipped. */
  readonly from?: string | undefined;
}

const WORKS = ['window', 'windowOptions', 'nperseg', 'noverlap', 'hopLength', 'nfft', 'device', 'precision', 'from'];
/** Squares of a window that sum up to no more are taken for none, as `istft` does. */
const NOTHING = 1e-10;

/**
 * Takes the spectrum of one frame after another and gives `hopLength` samples for each: windowed frames, added up and divided by the sum of the squares of
 * their windows. Sample k comes with frame ⌊k / hopLength⌋, later by nperseg − hopLength samples than it went into a `StftStream`. Frames allocate nothing.
 */
export class IstftStream<P extends FloatPrecision = 'single'> {
  readonly nperseg: number;
  readonly hopLength: number;
  readonly nfft: number;
  readonly precision: P;
  /** ⌊nfft/2⌋ + 1. */
  readonly bins: number;
  private readonly window: Float64Array;
  private readonly plan: Plan;
  private readonly wave: WorkMemory;
  private readonly spectrum: WorkMemory;
  /** Of the samples from the next one on: what frames have added up to, and the squares of their windows. */
  private readonly sum: Float64Array;
  private readonly weight: Float64Array;
  private readonly ready: Floats;
  private frames = 0;
  private destroyed = false;

  /**
   * @throws FftError `invalid-argument` for options out of range, and a window and an overlap that leave samples out; `unknown-field`,
   *   `detached-array`, `out-of-memory`, and those of `device.planSync`
   */
  constructor(options: IstftStreamOptions<P>) {
    const own = readOptions(options ?? {}, { works: WORKS }, 'IstftStream', SEGMENT_LEVELS);
    const { device, window, windowOptions, precision = 'single' as P, from } = own;
    const { nperseg = isFloats(window) ? window.length : 1024 } = own;
    check('device', device, isDevice(device), 'an open device, as openCpuSync() or openDevice() gives it');
    checkInteger('nperseg', nperseg, 1);
    const hopLength = hopOf(own, nperseg, nperseg - Math.max(1, Math.floor(nperseg / 4)));
    check(
      'hopLength',
      hopLength,
      hopLength <= nperseg,
      `at most nperseg, ${nperseg}: there are samples between frames that none says anything of`,
    );
    checkWord<FloatPrecision>('precision', precision, ['single', 'double']);
    const { nfft = nperseg } = own;
    check('nfft', nfft, Number.isSafeInteger(nfft) && nfft >= nperseg, `an integer from nperseg, ${nperseg}, on`);
    this.bins = Math.floor(nfft / 2) + 1;
    const problem = {
      ...({ size: [nfft], transform: 'r2c', precision: precision as FloatPrecision, directions: 'inverse' } as const),
      scale: { inverse: 1 / nfft },
    };
    provideGroups(streamsAtOnce);
    // The device goes first: it knows which lengths are too long.
    this.plan = device.planSync(problem, from === undefined ? {} : { from }) as Plan;
    try {
      this.window = readSegments({ window, windowOptions, nperseg, nfft }, nperseg).window;
      checkOverlap(this.window, hopLength);
      this.sum = floatZeros(nperseg, false) as Float64Array;
      this.weight = floatZeros(nperseg, false) as Float64Array;
      this.ready = floatZeros(hopLength, precision === 'single');
      this.wave = workOn(device, nfft, precision);
      this.spectrum = workOn(device, 2 * this.bins, precision);
    } catch (error) {
      this.plan.destroy();
      throw error;
    }
    this.nperseg = nperseg;
    this.hopLength = hopLength;
    this.nfft = nfft;
    this.precision = precision;
  }

  /**
   * Takes the spectrum of the next frame.
   *
   * @param spectrum `bins` complex numbers, re, im, unscaled
   * @param onSamples gets the samples that no later frame changes, `hopLength` of them, and the number of the first one. The array is the
   *   stream's own, the same one every time. Samples that windows are 0 at, such as the first one of `hann`, are 0.
   * @throws FftError `invalid-argument`, `wrong-length`, `destroyed`, `device-closed`, and what `onSamples` throws
   */
  push(spectrum: Float32Array | Float64Array, onSamples: (samples: ArrayOf<P>, first: number) => void): void {
    this.checkCall(onSamples);
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
   * Gives the samples of the last frames that are still there, and begins anew.
   * @throws FftError as `push`
   */
  flush(onSamples: (samples: ArrayOf<P>, first: number) => void): void {
    this.checkCall(onSamples);
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

  /** What planning has found out, for `from` in another thread. @throws FftError `destroyed` */
  serialize(): string {
    return this.plan.serialize();
  }

  /** Gives its memory back. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.wave.free();
    this.spectrum.free();
    this.plan.destroy();
  }

  /** `destroy`, for `using`. */
  [dispose](): void {
    this.destroy();
  }

  private checkCall(onSamples: unknown): void {
    if (this.destroyed) throw new FftError('destroyed', 'This stream has been destroyed; make another.');
    check('onSamples', onSamples, typeof onSamples === 'function', 'a function');
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

/** The condition of nonzero overlap-add (NOLA), behind the first frames. @throws FftError `invalid-argument` */
function checkOverlap(window: Float64Array, hop: number): void {
  for (let k = 0; k < hop; k++) {
    let weight = 0;
    for (let at = k; at < window.length; at += hop) weight += window[at]! ** 2;
    if (weight > NOTHING) continue;
    const message = `window and hopLength leave out samples: the squares of the windows over one of them sum up to ${weight}. Let frames overlap more.`;
    throw new FftError('invalid-argument', message, { path: 'window' });
  }
}
