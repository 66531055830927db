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
import { check, checkInteger, checkPositive, checkWord } from './check.ts';
import { type FloatPrecision, type Floats, isFloats } from './floats.ts';
import { renamed, warnOnce } from './renamed.ts';
import { binFrequencies, hopOf, readSegments, SEGMENT_LEVELS, SEGMENT_OPTIONS } from './segments.ts';
import type { WindowName } from './window-kinds.ts';
import type { WindowOptions } from './windows.ts';
import { type WorkMemory, workOn } from './work.ts';

type ArrayOf<P extends FloatPrecision> = P extends 'single' ? Float32Array : Float64Array;

export interface StftStreamOptions<P extends FloatPrecision = FloatPrecision> {
  /** A CPU device, from `openCpuSync` or `openDevice`, or a GPU that can be waited for. It stays open. */
  readonly device: Device;
  /** Samples a second, in hertz; default 1. */
  readonly fs?: number | undefined;
  /** Samples in a frame; default 1024. */
  readonly nperseg?: number | undefined;
  /** Samples that a frame shares with the next one: less than `nperseg`. */
  readonly noverlap?: number | undefined;
  /** Samples from the start of one frame to the start of the next, in the place of `noverlap`; default a quarter of `nperseg`. */
  readonly hopLength?: number | undefined;
  /** @deprecated the old name of `nperseg` */
  readonly size?: number | undefined;
  /** @deprecated the old name of `hopLength` */
  readonly hop?: number | undefined;
  /** A window by its name, in periodic form, or its values; default `hann`. */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window that is named. */
  readonly windowOptions?: WindowOptions | undefined;
  /** Length of the transforms, from `nperseg` on, which is the default: frames are filled up with zeros. */
  readonly nfft?: number | undefined;
  /** What it computes in; default `single`. */
  readonly precision?: P | undefined;
  /** Text from `serialize()` of a stream with the same options on such a device: planning is skipped. */
  readonly from?: string | undefined;
}

const WORKS = [...SEGMENT_OPTIONS, 'device', 'precision', 'from', 'size', 'hop'];
const RENAMED = { size: 'nperseg', hop: 'hopLength' };

/**
 * Takes samples as they come and gives the spectrum of each frame as soon as it is complete. Frame f covers the samples
 * f · hopLength … f · hopLength + nperseg − 1 since the start. Frames allocate nothing.
 */
export class StftStream<P extends FloatPrecision = 'single'> {
  /** Samples a second, in hertz. */
  readonly fs: number;
  /** Samples in a frame. */
  readonly nperseg: number;
  /** Samples from frame to frame. */
  readonly hopLength: number;
  readonly nfft: number;
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  readonly precision: P;
  /** ⌊nfft/2⌋ + 1: bin k stands for the frequency k · fs / nfft. */
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
    const all = readOptions(options ?? {}, { works: WORKS }, 'StftStream', SEGMENT_LEVELS);
    const own = renamed(all, 'StftStream', RENAMED);
    const { device, window, windowOptions, precision = 'single' as P, from, fs = 1 } = own;
    const { nperseg = isFloats(window) ? window.length : 1024 } = own;
    check('device', device, isDevice(device), 'an open device, as openCpuSync() or openDevice() gives it');
    checkInteger('nperseg', nperseg, 1);
    checkPositive('fs', fs);
    const hopLength = hopOf(own, nperseg, nperseg - Math.max(1, Math.floor(nperseg / 4)));
    checkWord<FloatPrecision>('precision', precision, ['single', 'double']);
    const { nfft = nperseg } = own;
    const isLong = Number.isSafeInteger(nfft) && nfft >= nperseg;
    check('nfft', nfft, isLong, `an integer from nperseg, ${nperseg}, on`);
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
      this.window = readSegments({ window, windowOptions, nperseg, nfft }, nperseg).window;
      this.held = floatZeros(nperseg, precision === 'single');
      this.wave = workOn(device, nfft, precision);
      this.spectrum = workOn(device, 2 * bins, precision);
    } catch (error) {
      this.plan.destroy();
      throw error;
    }
    this.fs = fs;
    this.nperseg = nperseg;
    this.hopLength = hopLength;
    this.nfft = nfft;
    this.f = binFrequencies({ nfft, fs }, false);
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
        if (this.filled === this.nperseg) this.frame(onFrame);
      }
    } finally {
      this.busy = false;
    }
    return this.frames - before;
  }

  /** When the middle of a frame is, in seconds since the first sample. */
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
