/** Short-time transforms of a signal that arrives in chunks, without waiting: for audio threads, and for recordings that are longer than memory. */
import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { arrayLength, refuseDetached } from '../../problem/input/bytes.ts';
import { check, checkPositive } from '../arguments/check.ts';
import { type FloatPrecision, type Floats, isFloats } from '../arguments/floats.ts';
import { type ArrayOf, FrameStream, type FrameStreamOptions } from '../frames/frame-stream.ts';
import { binFrequencies, SEGMENT_LEVELS, SEGMENT_OPTIONS, warnOnce, withNewNames } from '../frames/segments.ts';

export interface StftStreamOptions<P extends FloatPrecision = FloatPrecision> extends FrameStreamOptions<P> {
  /** Sampling rate, in hertz; default 1. */
  readonly fs?: number | undefined;
  /** @deprecated the old name of `nperseg` */
  readonly size?: number | undefined;
  /** @deprecated the old name of `hopLength` */
  readonly hop?: number | undefined;
}

const WORKS = [...SEGMENT_OPTIONS, 'device', 'precision', 'from', 'size', 'hop'];
const RENAMED = { size: 'nperseg', hop: 'hopLength' };

/**
 * Takes samples as they come and gives the spectrum of each frame as soon as it is complete. Frame f covers the samples
 * f · hopLength … f · hopLength + nperseg − 1 since the start. Frames allocate nothing.
 */
export class StftStream<P extends FloatPrecision = 'single'> extends FrameStream<P> {
  /** Sampling rate, in hertz. */
  readonly fs: number;
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** The first samples of the next frame, as far as they have arrived. */
  private readonly held: Floats;
  private filled = 0;
  /** Samples to come that belong to no frame, where frames lie apart. */
  private skipped = 0;
  private frames = 0;
  private busy = false;

  /**
   * Opens the stream.
   * @throws FftError `invalid-argument` for options out of range, `unknown-field`, `detached-array`, `out-of-memory`, and the errors of
   *   `device.planSync`
   */
  constructor(options: StftStreamOptions<P>) {
    const all = readOptions(options ?? {}, { works: WORKS }, 'StftStream', SEGMENT_LEVELS);
    const own = withNewNames(all, 'StftStream', RENAMED);
    const { fs = 1 } = own;
    super(own, 'forward', () => checkPositive('fs', fs));
    try {
      this.held = floatZeros(this.nperseg, this.precision === 'single');
      this.f = binFrequencies({ nfft: this.nfft, fs }, false);
    } catch (error) {
      this.destroy();
      throw error;
    }
    this.fs = fs;
  }

  /**
   * Takes samples, any number of them, and calls `onFrame` for each frame that they complete.
   *
   * @param samples real
   * @param onFrame gets `bins` complex numbers, re, im, of the frame times the window, unscaled, and the frame's number, from
   *   0 on. The array is the stream's own, the same one every time: what is to last has to be copied. What it throws is
   *   thrown, and the samples behind that frame are not taken.
   * @returns how many frames were completed
   * @throws FftError `invalid-argument`, also for a call from within `onFrame`, `detached-array`, `destroyed`, `device-closed`,
   *   and the errors of a device
   */
  push(samples: Float32Array | Float64Array, onFrame: (spectrum: ArrayOf<P>, frame: number) => void): number {
    this.ready(samples, onFrame);
    refuseDetached(samples, 'samples');
    // Whatever properties the array has been given, these are its elements; a plain view would allocate an object for each chunk.
    const length = arrayLength(samples);
    const before = this.frames;
    this.busy = true;
    try {
      for (let at = 0; at < length; ) {
        at += this.skipped > 0 ? this.skip(length - at) : this.take(samples, at, length - at);
        if (this.filled === this.nperseg) this.frame(onFrame);
      }
    } finally {
      this.busy = false;
    }
    return this.frames - before;
  }

  /** Time of a frame's middle, in seconds since the first sample. */
  timeOf(frame: number): number {
    return (frame * this.hopLength + this.nperseg / 2) / this.fs;
  }

  /** @deprecated the old name of `nperseg` */
  get size(): number {
    warnOnce('StftStream: size is nperseg now; the old name goes with the next version.');
    return this.nperseg;
  }

  /** @deprecated the old name of `hopLength` */
  get hop(): number {
    warnOnce('StftStream: hop is hopLength now; the old name goes with the next version.');
    return this.hopLength;
  }

  /** Forgets all samples: the next sample is the first one of frame 0. */
  reset(): void {
    this.filled = this.skipped = this.frames = 0;
  }

  private ready(samples: unknown, onFrame: unknown): void {
    this.checkCall('onFrame', onFrame);
    check('samples', samples, isFloats(samples), 'a Float32Array or a Float64Array');
    if (!this.busy) return;
    throw new FftError('invalid-argument', 'push was called from within onFrame; a stream takes one chunk at a time.');
  }

  /** @returns the number of samples skipped */
  private skip(most: number): number {
    const count = Math.min(this.skipped, most);
    this.skipped -= count;
    return count;
  }

  /** @returns the number of samples taken */
  private take(samples: Floats, from: number, most: number): number {
    const { held, filled } = this;
    const count = Math.min(this.nperseg - filled, most);
    for (let k = 0; k < count; k++) held[filled + k] = samples[from + k]!;
    this.filled += count;
    return count;
  }

  private frame(onFrame: (spectrum: ArrayOf<P>, frame: number) => void): void {
    const { held, window, nperseg: size, hopLength: hop } = this;
    const wave = this.wave.array();
    for (let k = 0; k < size; k++) wave[k] = held[k]! * window[k]!;
    const spectrum = this.spectrum.array();
    this.plan.forwardSync(wave, spectrum);
    if (hop < size) held.copyWithin(0, hop);
    this.filled = Math.max(0, size - hop);
    this.skipped = Math.max(0, hop - size);
    onFrame(spectrum as ArrayOf<P>, this.frames++);
  }
}
