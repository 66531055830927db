/** Short-time Fourier transform, as `scipy.signal.stft`. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import { type ArrayInput, asArray, floatZeros, type ShapeOf, type Transformed } from '../numpy/array.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { type Boundary, boundaries, extend } from './boundary.ts';
import { check, checkWord } from './check.ts';
import type { Trend } from './detrend.ts';
import type { Floats } from './floats.ts';
import { binsOf, type FrameSpec, withFrames } from './frames.ts';
import { type Lines, linesAlong, newLines, readLine } from './lines.ts';
import {
  binFrequencies,
  framesIn,
  gainOf,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
  type StftScaling,
  stftScalings,
} from './segments.ts';

export interface StftOptions extends SegmentOptions, DeviceChoice {
  /** What is taken off each frame; default false, nothing. */
  readonly detrend?: Trend | undefined;
  /** Of real signals, the bins from 0 to half the rate only; default true. Complex ones have all. */
  readonly returnOnesided?: boolean | undefined;
  /** What the signal is beyond its ends, where half of the first and of the last frame lies; default `zeros`. */
  readonly boundary?: Boundary | undefined;
  /** Whether zeros fill up the last frame, so that all samples are in one; default true. */
  readonly padded?: boolean | undefined;
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
  /** Default `spectrum`. */
  readonly scaling?: StftScaling | undefined;
}

/** What `stft` gives: Python's `f, t, Zxx`. */
export interface Stft<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Times of the middles of the frames, in seconds. */
  readonly t: Float64Array;
  /** Shape `[…, bins, …, frames]`: bins where x has the axis of time, frames last. */
  readonly zxx: Transformed<X, readonly [...ShapeOf<X>, number]>;
}

const WORKS = [...SEGMENT_OPTIONS, 'device', 'detrend', 'returnOnesided', 'boundary', 'padded', 'axis', 'scaling'];
/**
 * Short-time Fourier transform: the spectra of overlapping frames of a signal, with `scipy.signal.stft`'s meaning, options,
 * defaults and results.
 *
 * Frames are those of the signal with half a frame of `boundary` before and after it. `istft` undoes it.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single.
 * @throws FftError (as a rejection) `invalid-argument` for options out of range, a frame longer than the signal (SciPy warns
 *   and shortens it) or a mirrored boundary longer than the signal, `unknown-field`, `invalid-size` for no samples,
 *   `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`, and those of `device.plan`
 */
export async function stft<X extends ArrayInput>(x: X, options: StftOptions = {}): Promise<Stft<X>> {
  const own = readOptions(options, { works: WORKS }, 'stft', SEGMENT_LEVELS);
  const device = checkDevice(own.device);
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const segments = readSegments(own, lines.n);
  const { boundary = 'zeros', padded = true, detrend = false, returnOnesided = true, scaling = 'spectrum' } = own;
  checkWord('boundary', boundary, boundaries);
  checkWord('detrend', detrend, [false, 'constant', 'linear']);
  checkWord('scaling', scaling, stftScalings);
  checkWord('padded', padded, [true, false]);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  const { nperseg, hop, nfft, fs, flat, window } = segments;
  const edge = boundary === null ? 0 : Math.floor(nperseg / 2);
  if (boundary === 'even' || boundary === 'odd') {
    check('boundary', boundary, edge < lines.n, `${edge + 1} samples or more where it mirrors ${edge} of them`);
  }
  const whole = lines.n + 2 * edge;
  const frames = framesIn(padded ? whole + (modulo(nperseg - whole, hop) % nperseg) : whole, segments);
  const { complex, precision } = lines;
  const spec: FrameSpec = {
    ...{ size: nperseg, flat, hop, nfft, frames, trend: detrend, complex, precision },
    ...{ twoSided: complex || !returnOnesided, scale: 1 / gainOf(window, fs, scaling) },
  };
  const zxx = await spectraOf(lines, { spec, segments, edge, boundary }, device ?? (await sharedDevice()));
  const begin = boundary === null ? nperseg / 2 : 0;
  const t = Float64Array.from({ length: frames }, (_, k) => (begin + k * hop) / fs);
  return { f: binFrequencies(segments, spec.twoSided), t, zxx: zxx as unknown as Stft<X>['zxx'] };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

interface StftJob {
  readonly spec: FrameSpec;
  readonly segments: Segments;
  /** Samples beyond each end. */
  readonly edge: number;
  readonly boundary: Boundary;
}

/** Bins in the place of samples, frames last. */
async function spectraOf(lines: Lines, { spec, segments, edge, boundary }: StftJob, device: Device) {
  const { frames, hop, size, complex, precision } = spec;
  const parts = complex ? 2 : 1;
  const bins = binsOf(spec);
  // All that frames reach, and all of the signal: what is behind it stays zero.
  const reach = Math.max((frames - 1) * hop + size, lines.n + 2 * edge);
  const line = floatZeros(reach * parts, precision === 'single');
  const { inner } = lines;
  return withFrames(device, spec, segments.window, async (transform) => {
    // Only now: the device knows how many bins are too many.
    const { data, dtype } = newLines(lines, bins * frames, true).array;
    for (let l = 0; l < lines.count; l++) {
      readLine(lines, l, line, edge * parts);
      extend(line, { from: edge, length: lines.n, edge, parts }, boundary);
      // Of one line, bins lie inner · frames apart, and frames one.
      const start = Math.floor(l / inner) * inner * bins * frames + (l % inner) * frames;
      await transform.each(line, (spectra, first, count) => {
        transposeFrames(spectra, data, { start: start + first, bins, count, stride: inner * frames });
      });
    }
    const shape = lines.array.shape.map((length, d) => (d === lines.axis ? bins : length));
    return { data, shape: [...shape, frames], dtype };
  });
}

/** Frames of bins become bins of frames. */
function transposeFrames(
  spectra: Floats,
  target: Floats,
  { start, bins, count, stride }: { start: number; bins: number; count: number; stride: number },
): void {
  for (let frame = 0; frame < count; frame++) {
    for (let bin = 0; bin < bins; bin++) {
      const from = 2 * (frame * bins + bin);
      const to = 2 * (start + bin * stride + frame);
      target[to] = spectra[from]!;
      target[to + 1] = spectra[from + 1]!;
    }
  }
}
