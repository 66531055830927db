/** The common part of frame streams, forward and inverse: a plan for one frame with memory of its own, and its destruction. */
import { dispose } from '../../engine/arguments/memory.ts';
import { isDevice } from '../../engine/arguments/options.ts';
import type { Device, Plan } from '../../engine/index.ts';
import { provideGroups } from '../../engine/lazy/lazy-modules.ts';
import { streamsAtOnce } from '../../engine/lazy/lazy-tables.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { type FloatPrecision, isFloats } from '../arguments/floats.ts';
import { placesFor, type WorkMemory, workOn } from '../calls/work.ts';
import { hopOf, readSegments, type SegmentOptions } from './segments.ts';

/** The array type of a precision. */
export type ArrayOf<P extends FloatPrecision> = P extends 'single' ? Float32Array : Float64Array;

export interface FrameStreamOptions<P extends FloatPrecision = FloatPrecision> extends Omit<SegmentOptions, 'fs'> {
  /** Device for the transforms: a CPU device, from `openCpuSync` or `openDevice`, or a GPU that can be waited for. It stays open. */
  readonly device: Device;
  /** Samples in a frame; default the length of a given window, else 1024. */
  readonly nperseg?: number | undefined;
  /** Samples from the start of one frame to the start of the next, instead of `noverlap`; default a quarter of `nperseg`. */
  readonly hopLength?: number | undefined;
  /** Precision of the arithmetic and of the arrays; default `single`. */
  readonly precision?: P | undefined;
  /** Text from `serialize()` of a stream with the same options on the same kind of device: planning is skipped. */
  readonly from?: string | undefined;
}

export abstract class FrameStream<P extends FloatPrecision> {
  /** Samples in a frame. */
  readonly nperseg: number;
  /** Samples from one frame to the next. */
  readonly hopLength: number;
  readonly nfft: number;
  readonly precision: P;
  /** Number of bins, ⌊nfft/2⌋ + 1. */
  readonly bins: number;
  protected readonly window: Float64Array;
  protected readonly plan: Plan;
  /** Memory for the samples of a frame, and for its bins. */
  protected readonly wave: WorkMemory;
  protected readonly spectrum: WorkMemory;
  private destroyed = false;

  /**
   * Opens the stream.
   * @param own options whose names have been checked
   * @param checkHop refuses hops that the stream does not support
   * @throws FftError `invalid-argument` for options out of range, `detached-array`, `out-of-memory`, and the errors of `device.planSync`
   */
  protected constructor(
    own: FrameStreamOptions<P>,
    direction: 'forward' | 'inverse',
    checkHop: (hopLength: number, nperseg: number) => void = () => {},
  ) {
    const { device, window, windowOptions, precision = 'single' as P, from } = own;
    const { nperseg = isFloats(window) ? window.length : 1024 } = own;
    check('device', device, isDevice(device), 'an open device, as openCpuSync() or openDevice() gives it');
    checkInteger('nperseg', nperseg, 1);
    const hopLength = hopOf(own, nperseg, nperseg - Math.max(1, Math.floor(nperseg / 4)));
    checkHop(hopLength, nperseg);
    checkWord<FloatPrecision>('precision', precision, ['single', 'double']);
    const { nfft = nperseg } = own;
    check('nfft', nfft, Number.isSafeInteger(nfft) && nfft >= nperseg, `an integer from nperseg, ${nperseg}, on`);
    this.nperseg = nperseg;
    this.hopLength = hopLength;
    this.nfft = nfft;
    this.precision = precision;
    this.bins = Math.floor(nfft / 2) + 1;
    provideGroups(streamsAtOnce);
    const scale = direction === 'inverse' ? { inverse: 1 / nfft } : {};
    const problem = { size: [nfft], transform: 'r2c', precision: precision as FloatPrecision, scale } as const;
    // The plan is made first: the device refuses lengths that are too long.
    this.plan = device.planSync({ ...problem, directions: direction }, from === undefined ? {} : { from }) as Plan;
    try {
      this.window = readSegments({ window, windowOptions, nperseg, nfft }, nperseg).window;
      const lengths = { wave: nfft, spectrum: 2 * this.bins };
      ({ wave: this.wave, spectrum: this.spectrum } = placesFor(lengths, (n) => workOn(device, n, precision)));
    } catch (error) {
      this.plan.destroy();
      throw error;
    }
  }

  /** Begins a new signal. */
  abstract reset(): void;

  /** The planning decisions as text, for `from` in another thread. @throws FftError `destroyed` */
  serialize(): string {
    return this.plan.serialize();
  }

  /** Frees the stream's memory. A second call does nothing. */
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

  /** @throws FftError `destroyed`, `invalid-argument` for a callback that is not a function */
  protected checkCall(path: string, callback: unknown): void {
    if (this.destroyed) throw new FftError('destroyed', 'This stream has been destroyed; make another.');
    check(path, callback, typeof callback === 'function', 'a function');
  }
}
