/** Short-time transforms of all lines of an array: bins in the place of time, frames behind all axes. */
import type { Device } from '../engine/index.ts';
import { floatZeros, type NumpyArray } from '../numpy/array.ts';
import { extend } from './boundary.ts';
import type { Trend } from './detrend.ts';
import type { Floats } from './floats.ts';
import { binsOf, type FrameSpec, withFrames } from './frames.ts';
import type { Framing } from './framing.ts';
import { type Lines, newLines, readLine } from './lines.ts';

export interface ShortTimeJob {
  readonly framing: Framing;
  readonly trend: Trend;
  readonly twoSided: boolean;
  readonly scale: number;
  /** What becomes of a complex number of a bin; left out, it stays one. */
  readonly part?: ((re: number, im: number, bin: number) => number) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Bins of so many frames are moved at a time, so that what is written lies together. */
const FRAMES_AT_ONCE = 16;

/**
 * Shape `[…, bins, …, frames]`: bins where x has the axis of time.
 * @throws FftError (as a rejection) `out-of-memory`, and those of `device.plan`
 */
export async function shortTimeSpectra(lines: Lines, job: ShortTimeJob, device: Device): Promise<NumpyArray> {
  const { framing, trend, twoSided, scale, part, onProgress } = job;
  const { segments, edge, frames } = framing;
  const { window, flat, hop, nperseg: size, nfft } = segments;
  const { complex, precision, inner } = lines;
  const spec: FrameSpec = { size, flat, hop, nfft, frames, trend, complex, precision, twoSided, scale };
  const parts = complex ? 2 : 1;
  const bins = binsOf(spec);
  // All that frames reach, and all of the signal: what is behind it stays zero.
  const reach = Math.max((frames - 1) * hop + size, lines.n + 2 * edge);
  const line = floatZeros(reach * parts, precision === 'single');
  return withFrames(device, spec, window, async (transform) => {
    // Only now: the device knows how many bins are too many.
    const { data, dtype } = newLines(lines, bins * frames, part === undefined).array;
    for (let l = 0; l < lines.count; l++) {
      readLine(lines, l, line, edge * parts);
      extend(line, { from: edge, length: lines.n, edge, parts }, framing.boundary);
      // Of one line, bins lie inner · frames apart, and frames one.
      const start = Math.floor(l / inner) * inner * bins * frames + (l % inner) * frames;
      await transform.each(line, (spectra, first, count) => {
        const place = { start: start + first, bins, count, stride: inner * frames };
        if (part) storeParts(spectra, data as Floats, place, part);
        else storeComplex(spectra, data as Floats, place);
        onProgress?.(l * frames + first + count, lines.count * frames);
      });
    }
    const shape = lines.array.shape.map((length, d) => (d === lines.axis ? bins : length));
    return { data, shape: [...shape, frames], dtype } as NumpyArray;
  });
}

/** Where frames of bins go: bin b of frame f to `start + b · stride + f`. */
interface Place {
  readonly start: number;
  readonly bins: number;
  readonly count: number;
  readonly stride: number;
}

function storeComplex(spectra: Floats, target: Floats, { start, bins, count, stride }: Place): void {
  for (let begin = 0; begin < count; begin += FRAMES_AT_ONCE) {
    const end = Math.min(count, begin + FRAMES_AT_ONCE);
    for (let bin = 0; bin < bins; bin++) {
      for (let frame = begin; frame < end; frame++) {
        const from = 2 * (frame * bins + bin);
        const to = 2 * (start + bin * stride + frame);
        target[to] = spectra[from]!;
        target[to + 1] = spectra[from + 1]!;
      }
    }
  }
}

function storeParts(
  spectra: Floats,
  target: Floats,
  { start, bins, count, stride }: Place,
  part: NonNullable<ShortTimeJob['part']>,
): void {
  for (let begin = 0; begin < count; begin += FRAMES_AT_ONCE) {
    const end = Math.min(count, begin + FRAMES_AT_ONCE);
    for (let bin = 0; bin < bins; bin++) {
      for (let frame = begin; frame < end; frame++) {
        const from = 2 * (frame * bins + bin);
        target[start + bin * stride + frame] = part(spectra[from]!, spectra[from + 1]!, bin);
      }
    }
  }
}
