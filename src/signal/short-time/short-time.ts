/** Short-time transforms of all lines of an array: the axis of bins replaces the time axis, and the axis of frames is last. */
import type { Device } from '../../engine/index.ts';
import { dtypeOf, floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { copyOfFloats } from '../../numpy/arrays/memory.ts';
import { extend } from '../arguments/boundary.ts';
import type { Floats } from '../arguments/floats.ts';
import { type Lines, readLineAs } from '../arguments/lines.ts';
import { afterwards, oneByOne } from '../calls/plans.ts';
import type { Trend } from '../filters/detrend.ts';
import {
  type BinPart,
  batchesOf,
  binsOf,
  type FrameRequest,
  type FrameSpec,
  frameRequest,
  realsPerBin,
  samplesPerLine,
  withFrames,
} from '../frames/frames.ts';
import type { Framing } from '../frames/framing.ts';

export interface ShortTimeOptions {
  readonly trend: Trend;
  readonly twoSided: boolean;
  readonly scale: number;
  /** Output of the bins; default `complex`. */
  readonly part?: BinPart;
  /** Whether powers are doubled in bins that stand for both signs of a frequency. */
  readonly doubled?: boolean;
  /** Complex factors of the bins, interleaved. */
  readonly factors?: Float64Array | undefined;
}

/** The short-time transform of lines of one shape. */
export interface ShortTimeJob {
  readonly framing: Framing;
  readonly request: FrameRequest;
}

/** Bytes that a job holds. */
export function bytesOfShortTime({ framing, request }: ShortTimeJob): number {
  const { taper, factors } = request;
  return 8 * (framing.t.length + framing.segments.window.length + (taper?.length ?? 0) + (factors?.length ?? 0));
}

export function shortTimeJob(
  { complex, precision, n }: Lines,
  framing: Framing,
  { trend, twoSided, scale, part = 'complex', doubled = false, factors }: ShortTimeOptions,
): ShortTimeJob {
  const { segments, frames, edge, behind, start, boundary } = framing;
  const { window, flat, hop, nperseg: size, nfft } = segments;
  const frame: FrameSpec = {
    ...{ size, flat, hop, nfft, frames, start, trend, complex, twoSided, precision, scale, part, doubled },
    ...{ turned: factors !== undefined, binsFirst: true },
  };
  // All of the signal is in memory, as the extension may mirror samples that no frame reaches.
  const spec = { ...frame, memory: Math.max(edge + n, samplesPerLine(frame)) };
  const request = frameRequest(spec, window, factors);
  // The extension before and behind the signal: working memory of earlier calls holds zeros there, or numbers that every call writes.
  const key = `${request.plan.key} of ${n} samples, ${edge} before and ${behind} behind of ${boundary ?? 'nothing'}`;
  return { framing, request: { ...request, plan: { ...request.plan, key } } };
}

/**
 * The spectra of all lines.
 * @returns shape `[…, bins, …, frames]`: bins replace the time axis of x; no promise where there is nothing to wait for
 * @throws FftError (as a rejection) `out-of-memory`, and the errors of `device.plan`
 */
export function shortTimeSpectra(
  lines: Lines,
  { framing, request }: ShortTimeJob,
  device: Device,
  onProgress?: ((done: number, total: number) => void) | undefined,
): NumpyArray | Promise<NumpyArray> {
  const { spec } = request;
  const { frames, twoSided } = spec;
  return withFrames(device, request, (transform) => {
    if (lines.count === 1 && transform.batches === frames) {
      fillLine(lines, 0, transform.line, framing, twoSided ? 2 : 1);
      return afterwards(transform.run(0), () => {
        // The only block of a single line is the result.
        const data = copyOfFloats(transform.values);
        onProgress?.(frames, frames);
        return spectraOf(data, lines, spec);
      });
    }
    const target = new FrameTarget(lines, spec);
    const waiting = oneByOne(lines.count, (l) => {
      fillLine(lines, l, transform.line, framing, twoSided ? 2 : 1);
      return transform.each((spectra, first, count, skip) => {
        target.put(l, spectra, first, count, skip);
        onProgress?.(l * frames + first + count, lines.count * frames);
      });
    });
    return afterwards(waiting, () => spectraOf(target.data, lines, spec));
  });
}

function spectraOf(data: Floats, { array, axis }: Lines, spec: FrameSpec): NumpyArray {
  const shape = array.shape.slice();
  shape[axis] = binsOf(spec);
  shape.push(spec.frames);
  return { data, shape, dtype: dtypeOf(realsPerBin(spec) === 2, spec.precision === 'single') } as NumpyArray;
}

/** Writes a line and its extension to the memory that frames are read from. */
function fillLine(lines: Lines, line: number, target: Floats, { edge, behind, boundary }: Framing, parts: 1 | 2) {
  const length = lines.n;
  readLineAs(lines, line, target, { at: edge, length, parts });
  if (boundary === null || boundary === 'zeros') return;
  const reached = Math.min(behind, target.length / parts - edge - length);
  extend(target, { from: edge, length, edge, behind: reached, parts }, boundary);
}

/** The result: in one line bins lie inner · frames apart, and frames 1 apart. */
class FrameTarget {
  private readonly lines: Lines;
  private readonly spec: FrameSpec;
  readonly data: Floats;

  constructor(lines: Lines, spec: FrameSpec) {
    this.lines = lines;
    this.spec = spec;
    this.data = floatZeros(lines.count * binsOf(spec) * spec.frames * realsPerBin(spec), spec.precision === 'single');
  }

  /**
   * Copies the frames from `first` on of line l to the result; `spectra` has a row for each bin, which begins with `skip` frames that are copied
   * already.
   */
  put(l: number, spectra: Floats, first: number, count: number, skip: number): void {
    const { lines, spec } = this;
    const { frames } = spec;
    const [bins, batches, reals] = [binsOf(spec), batchesOf(spec), realsPerBin(spec)];
    const { inner } = lines;
    const start = Math.floor(l / inner) * inner * bins * frames + (l % inner) * frames;
    const { data } = this;
    if (batches === frames && inner === 1) return data.set(spectra, start * reals);
    for (let bin = 0; bin < bins; bin++) {
      const row = spectra.subarray((bin * batches + skip) * reals, (bin * batches + skip + count) * reals);
      data.set(row, (start + bin * inner * frames + first) * reals);
    }
  }
}
