/**
 * Short-time transforms of a signal that arrives bit by bit, without waiting: for audio threads, and for recordings that are
 * longer than memory.
 */
import { dispose } from '../engine/arguments/memory.ts';
import { isDevice, readOptions } from '../engine/arguments/options.ts';
import type { Device, Plan } from '../engine/index.ts';
import { provideGroups } from '../engine/lazy/lazy-modules.ts';
import { streamsAtOnce } from '../engine/lazy/lazy-tables.ts';
import { floatZeros } from '../numpy/array.ts';
import { lengthOf, refuseDetached } from '../problem/bytes.ts';
import { FftError } from '../problem/errors.ts';
import { check, checkWord } from './check.ts';
import { type FloatPrecision, type Floats, isFloats } from './floats.ts';
import { readSegments, SEGMENT_LEVELS } from './segments.ts';
import type { WindowName } from './window-kinds.ts';
import type { WindowOptions } from './windows.ts';
import { type WorkMemory, workOn } from './work.ts';

type ArrayOf<P extends FloatPrecision> = P extends 'single' ? Float32Array : Float64Array;

export interface StftStreamOptions<P extends FloatPrecision = FloatPrecision> {
  /** A CPU device, from `openCpuSync` or `openDevice`, or a GPU that can be waited for. It stays open. */
  readonly device: Device;
  /** Samples in a frame; default 1024. */
  readonly size?: number | undefined;
  /** Samples from the start of one frame to the start of the next; default a quarter of `size`. */
  readonly hop?: number | undefined;
  /** A window by its name, in periodic form, or its values; default `hann`. */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window that is named. */
  readonly windowOptions?: WindowOptions | undefined;
  /** Length of the transforms, from `size` on, which is the default: frames are filled up with zeros. */
  readonly nfft?: number | undefined;
  /** What it computes in; default `single`. */
  readonly precision?: P | undefined;
  /** Text from `serialize()` of a stream with the same options on such a device: planning is skipped. */
  readonly from?: string | undefined;
}

const WORKS = ['device', 'size', 'hop', 'window', 'windowOptions', 'nfft', 'precision', 'from'];

/**
 * Takes samples as they come and gives the spectrum of each frame as soon as it is complete. Frame f covers the samples
 * f · hop … f · hop + size − 1 since the start. Frames allocate nothing.
 */
export class StftStream<P extends FloatPrecision = 'single'> {
  /** Samples in a frame. */
  readonly size: number;
  /** Samples from frame to frame. */
  readonly hop: number;
  readonly nfft: number;
  readonly precision: P;
  /** ⌊nfft/2⌋ + 1: bin k stands for the frequency k / nfft of the sample rate. */
  readonly bins: number;
  private readonly window: Float64Array;
  private readonly plan: Plan;
  private readonly wave: WorkMemory;
  private readonly spectrum: WorkMemory;
  /** The samples of the next frame, as far as they are there. */
  private readonly held: Floats;
  private filled = 0;
  /** Samples to come that are in no frame, where frames lie apart. */
  private skipped = 0;
  private frames = 0;
  private busy = false;
  private destroyed = false;

  /**
   * @throws FftError `invalid-argument` for options out of range, `unknown-field`, `detached-array`, `out-of-memory`, and
   *   those of `device.planSync`
   */
  constructor(options: StftStreamOptions<P>) {
    const own = readOptions(options ?? {}, { works: WORKS }, 'StftStream', SEGMENT_LEVELS);
    const { device, size = isFloats(own.window) ? own.window.length : 1024, precision = 'single' as P, from } = own;
    check('device', device, isDevice(device), 'an open device, as openCpuSync() or openDevice() gives it');
    check('size', size, Number.isSafeInteger(size) && size >= 1, 'a positive integer');
    const hop = own.hop ?? Math.max(1, Math.floor(size / 4));
    check('hop', hop, Number.isSafeInteger(hop) && hop >= 1, 'a positive integer');
    checkWord<FloatPrecision>('precision', precision, ['single', 'double']);
    const { window, windowOptions, nfft = size } = own;
    const isLong = Number.isSafeInteger(nfft) && nfft >= size;
    check('nfft', nfft, isLong, `an integer from size, ${size}, on`);
    const bins = Math.floor(nfft / 2) + 1;
    const problem = {
      size: [nfft],
      transform: 'r2c',
      precision: precision as FloatPrecision,
      directions: 'forward',
    } as const;
    provideGroups(streamsAtOnce);
    // The device goes first: it knows which lengths are too long.
    this.plan = device.planSync(problem, from === undefined ? {} : { from }) as Plan;
    try {
      this.window = readSegments({ window, windowOptions, nperseg: size, nfft }, size).window;
      this.held = floatZeros(size, precision === 'single');
      this.wave = workOn(device, nfft, precision);
      this.spectrum = workOn(device, 2 * bins, precision);
    } catch (error) {
      this.plan.destroy();
      throw error;
    }
    this.size = size;
    this.hop = hop;
    this.nfft = nfft;
    this.bins = bins;
    this.precision = precision;
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
   *   and those of a device
   */
  push(samples: Float32Array | Float64Array, onFrame: (spectrum: ArrayOf<P>, frame: number) => void): number {
    this.ready(samples, onFrame);
    refuseDetached(samples, 'samples');
    // Whatever else the array says of itself, these are its elements; a plain view would be an object more for each chunk.
    const length = lengthOf(samples);
    const before = this.frames;
    this.busy = true;
    try {
      for (let at = 0; at < length; ) {
        at += this.skipped > 0 ? this.skip(length - at) : this.take(samples, at, length - at);
        if (this.filled === this.size) this.frame(onFrame);
      }
    } finally {
      this.busy = false;
    }
    return this.frames - before;
  }

  /** Forgets all samples: the next one is the first one of frame 0. */
  reset(): void {
    this.filled = this.skipped = this.frames = 0;
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

  private ready(samples: unknown, onFrame: unknown): void {
    if (this.destroyed) throw new FftError('destroyed', 'This stream has been destroyed; make another.');
    check('samples', samples, isFloats(samples), 'a Float32Array or a Float64Array');
    check('onFrame', onFrame, typeof onFrame === 'function', 'a function');
    if (!this.busy) return;
    throw new FftError('invalid-argument', 'push was called from within onFrame; a stream takes one chunk at a time.');
  }

  /** @returns how many samples it has passed over */
  private skip(most: number): number {
    const count = Math.min(this.skipped, most);
    this.skipped -= count;
    return count;
  }

  /** @returns how many samples it has taken */
  private take(samples: Floats, from: number, most: number): number {
    const { held, filled } = this;
    const count = Math.min(this.size - filled, most);
    for (let k = 0; k < count; k++) held[filled + k] = samples[from + k]!;
    this.filled += count;
    return count;
  }

  private frame(onFrame: (spectrum: ArrayOf<P>, frame: number) => void): void {
    const { held, window, size, hop } = this;
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
