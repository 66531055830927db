/**
 * Constant-Q transforms, as `librosa.cqt` defines them: spectra whose bins are equally far apart in pitch, each by a window as many periods long
 * (J. C. Brown, "Calculation of a constant Q spectral transform", Journal of the Acoustical Society of America 89 (1991); J. C. Brown and M. S.
 * Puckette, "An efficient algorithm for the calculation of a constant Q transform", ibid. 92 (1992)).
 */
import type { Device } from '../../engine/index.ts';
import type { ArrayInput, ShapeOf, Transformed } from '../../numpy/arrays/array.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { type Boundary, extend } from '../arguments/boundary.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import {
  geometryOf,
  type LineGeometry,
  type Lines,
  linesAlong,
  linesOfArray,
  newLines,
  readLine,
} from '../arguments/lines.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import { type FrameRequest, type FrameSpec, frameRequest, withFrames } from '../frames/frames.ts';
import type { PadMode } from '../frames/framing.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { type CqtOctave, type CqtSpec, octavesOf } from './cqt-kernels.ts';

/** Options by librosa's names. */
export interface CqtOptions extends DeviceChoice {
  /** Sampling rate, in hertz; default 22050. */
  readonly fs?: number | undefined;
  /** Samples from one frame to the next; default 512. */
  readonly hopLength?: number | undefined;
  /** Lowest frequency, in hertz; default 32.703, the note C1. */
  readonly fMin?: number | undefined;
  /** Number of bins; default 84, seven octaves. */
  readonly nBins?: number | undefined;
  /** Bins per octave; default 12. */
  readonly binsPerOctave?: number | undefined;
  /** Factor of the windows' lengths, relative to those that follow from the bins' distance; default 1. */
  readonly filterScale?: number | undefined;
  /** A window by its name, in periodic form; default `hann`. */
  readonly window?: Exclude<WindowName, 'kaiser'> | undefined;
  /** Scaling. True, the default: filters have equal energy; false: a peak grows with the filter's length. */
  readonly scale?: boolean | undefined;
  /** Extension of the signal beyond its ends; default `constant`, zeros. */
  readonly padMode?: PadMode | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

export interface Cqt<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Times of the frames' middles, in seconds. */
  readonly t: Float64Array;
  /** Spectra, shape `[…, bins, …, frames]`: bins replace the time axis of x, frames are last. */
  readonly cqt: Transformed<X, readonly [...ShapeOf<X>, number]>;
}

const WORKS = [
  ...[
    'fs',
    'hopLength',
    'fMin',
    'nBins',
    'binsPerOctave',
    'filterScale',
    'window',
    'scale',
    'padMode',
    'axis',
    'device',
  ],
];
/** The frequency of C1 in hertz, at A4 = 440 Hz. */
const C1 = 440 * 2 ** (-45 / 12);
const BOUNDARY: Readonly<Record<PadMode, Boundary>> = { reflect: 'even', constant: 'zeros', edge: 'constant' };

/**
 * Constant-Q transform of a real signal. Bin k has the frequency f = fMin · 2^(k / binsPerOctave) and a window of N = Q · fs / f samples; with its
 * middle at sample t · hopLength it is √N · Σ w(n) x(n) e^(−2πi f n / fs) / Σ w(n) (with `scale: false`, N times the sum). librosa approximates the
 * same sums by resampling octave by octave; here they are computed as they are, to rounding.
 *
 * @param x real, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @throws FftError (as a rejection) `invalid-argument` for options out of range, bins beyond half the sample rate too; `wrong-array-type` for
 *   complex signals, `unknown-field`, `invalid-size`, `wrong-length`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function cqt<X extends ArrayInput>(x: X, options: CqtOptions = {}): Promise<Cqt<X>> {
  const { arrays, job, device: chosen } = calls.read([x], options);
  const { spec, key, frames, f, t } = job;
  const lines = linesOfArray(job.lines, arrays[0]!);
  const device = chosen ?? (await sharedDevice());
  const octaves = await octavesOf(spec, key, device);
  const result = newLines(lines, spec.nBins * frames, true);
  for (const octave of octaves) await addOctave(octave, job, lines, result, device);
  const shape = [...lines.array.shape.map((length, d) => (d === lines.axis ? spec.nBins : length)), frames];
  return { f: f.slice(), t: t.slice(), cqt: { ...result.array, shape } as unknown as Cqt<X>['cqt'] };
}

interface CqtJob {
  readonly lines: LineGeometry;
  readonly spec: CqtSpec;
  /** The name of a spec among kept filters. */
  readonly key: string;
  readonly padMode: PadMode;
  readonly hop: number;
  readonly frames: number;
  readonly f: Float64Array;
  readonly t: Float64Array;
  /** Frame specs of octaves, by the length of their transforms; the first call makes them. */
  readonly requests: Map<number, FrameRequest>;
}

const calls = /* @__PURE__ */ new PreparedCalls<CqtOptions, CqtJob>({
  ...{ name: 'cqt', works: WORKS },
  prepare: ([x], own) => {
    const lines = linesAlong(x!, own.axis ?? -1);
    if (lines.complex) {
      throw new FftError('wrong-array-type', 'x is complex; cqt takes a real signal.', { path: 'x' });
    }
    const spec = readSpec(own, lines);
    const padMode = checkWord<PadMode>('padMode', own.padMode ?? 'constant', ['reflect', 'constant', 'edge']);
    const hop = checkInteger('hopLength', own.hopLength ?? 512, 1);
    const frames = 1 + Math.floor(lines.n / hop);
    const f = Float64Array.from({ length: spec.nBins }, (_, k) => spec.fMin * 2 ** (k / spec.binsPerOctave));
    const t = Float64Array.from({ length: frames }, (_, k) => (k * hop) / spec.fs);
    const requests = new Map<number, FrameRequest>();
    return { lines: geometryOf(lines), spec, key: JSON.stringify(spec), padMode, hop, frames, f, t, requests };
  },
  bytesOf: ({ f, t }) => 8 * (f.length + t.length),
});

function readSpec(own: CqtOptions, { precision }: Lines): CqtSpec {
  const { fs = 22050, fMin = C1, nBins = 84, binsPerOctave = 12, filterScale = 1, window = 'hann', scale = true } = own;
  checkPositive('fs', fs);
  checkPositive('fMin', fMin);
  checkInteger('nBins', nBins, 1, 2 ** 16);
  checkInteger('binsPerOctave', binsPerOctave, 1, 2 ** 16);
  checkPositive('filterScale', filterScale);
  checkWord('scale', scale, [true, false]);
  const highest = fMin * 2 ** ((nBins - 1) / binsPerOctave);
  const fitting = Math.floor(binsPerOctave * Math.log2(fs / 2 / fMin)) + 1;
  const advice = fitting >= 1 ? ` Take nBins up to ${fitting}, or a higher fs.` : ' Take a lower fMin, or a higher fs.';
  check(
    'nBins',
    nBins,
    highest <= fs / 2,
    `bins up to half the sample rate, ${fs / 2} Hz, where the last one is at ${highest} Hz`,
    advice,
  );
  return { fs, fMin, nBins, binsPerOctave, filterScale, window, scale, precision };
}

/** The bins of an octave: spectra of frames as long as the octave's longest window, times the spectra of its filters. */
async function addOctave(octave: CqtOctave, job: CqtJob, lines: Lines, result: Lines, device: Device): Promise<void> {
  const { frames, padMode, spec } = job;
  const { nfft, rows } = octave;
  const { nBins } = spec;
  const { inner } = lines;
  const edge = nfft / 2;
  let request = job.requests.get(nfft);
  if (!request) job.requests.set(nfft, (request = octaveFrames(job, nfft)));
  await withFrames(device, request, async (transform) => {
    for (let l = 0; l < lines.count; l++) {
      const { line } = transform;
      const length = Math.min(lines.n, line.length - edge);
      readLine(lines, l, line, edge, length);
      const behind = Math.min(edge, line.length - edge - length);
      extend(line, { from: edge, length, edge, behind, parts: 1 }, BOUNDARY[padMode]);
      const start = Math.floor(l / inner) * inner * nBins * frames + (l % inner) * frames;
      await transform.each((spectra, first, count, skip) => {
        for (const row of rows) {
          const at = start + row.bin * inner * frames + first;
          for (let frame = 0; frame < count; frame++) {
            const from = 2 * (skip + frame) * transform.bins;
            filteredSum(row, spectra, from, result.array.data as Floats, 2 * (at + frame));
          }
        }
      });
    }
  });
}

/** @throws FftError `invalid-argument` where a signal is too short to be mirrored */
function octaveFrames({ lines, hop, frames, padMode }: CqtJob, nfft: number): FrameRequest {
  const edge = nfft / 2;
  const { n, precision } = lines;
  if (padMode === 'reflect') {
    const hint = " Take fewer octaves, a higher fMin, or padMode: 'constant'.";
    check('padMode', padMode, edge < n, `${edge + 1} samples or more where it mirrors ${edge} of them`, hint);
  }
  const spec: FrameSpec = {
    ...{
      size: nfft,
      flat: true,
      hop,
      nfft,
      frames,
      trend: false,
      complex: false,
      twoSided: false,
      precision,
      scale: 1,
    },
    ...{ part: 'complex', doubled: false, turned: false, binsFirst: false },
  };
  const { plan, ...request } = frameRequest(spec, new Float64Array(0));
  // The memory behind the signal keeps its zeros.
  return { ...request, plan: { ...plan, key: `${plan.key} of ${n} samples and ${edge} of ${padMode}` } };
}

/** The sum of a filter times a spectrum, over positive frequencies and over negative ones, whose spectrum is the conjugate. */
function filteredSum(
  { from, values, mirroredFrom, mirrored }: CqtOctave['rows'][number],
  spectra: Floats,
  at: number,
  target: Floats,
  to: number,
): void {
  let [re, im] = [0, 0];
  for (let k = 0, s = at + 2 * from; k < values.length; k += 2, s += 2) {
    re += values[k]! * spectra[s]! - values[k + 1]! * spectra[s + 1]!;
    im += values[k]! * spectra[s + 1]! + values[k + 1]! * spectra[s]!;
  }
  for (let k = 0, s = at + 2 * mirroredFrom; k < mirrored.length; k += 2, s += 2) {
    re += mirrored[k]! * spectra[s]! + mirrored[k + 1]! * spectra[s + 1]!;
    im += mirrored[k + 1]! * spectra[s]! - mirrored[k]! * spectra[s + 1]!;
  }
  target[to] = re;
  target[to + 1] = im;
}
