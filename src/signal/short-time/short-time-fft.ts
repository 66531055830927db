/** Short-time transforms with a given window and hop, as `scipy.signal.ShortTimeFFT`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, type ComplexArray, isComplex, isSingle, type NumpyArray } from '../../numpy/arrays/array.ts';
import { resolveAxis } from '../../numpy/calls/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import type { Boundary } from '../arguments/boundary.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import { type Floats, isFloats, liveSamples } from '../arguments/floats.ts';
import { geometryOf, type LineGeometry, linesAlong, linesOfArray } from '../arguments/lines.ts';
import { type PreparedCall, PreparedCalls } from '../calls/prepared-calls.ts';
import type { Trend } from '../filters/detrend.ts';
import type { BinPart } from '../frames/frames.ts';
import { overlapAddRequest } from '../frames/overlap-add.ts';
import type { Segments } from '../frames/segments.ts';
import { conj, multiply } from '../spectra/complex.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { type WindowArguments, type WindowOptions, windowFunction } from '../windows/windows.ts';
import { type IstftJob, overlapAdded } from './istft.ts';
import { bytesOfShortTime, type ShortTimeJob, shortTimeJob, shortTimeSpectra } from './short-time.ts';
import { type FftMode, type FftScaling, fromCentered, modeFactors, toCentered } from './short-time-modes.ts';
import { SliceGeometry } from './slice-geometry.ts';

export interface ShortTimeFftOptions extends DeviceChoice {
  /** Length of the transforms, at least that of the window, which is the default. */
  readonly mfft?: number | undefined;
  /**
   * Mode of the bins. `onesided`: from 0 on, for real signals (the default); `onesided2X`: likewise, with the power of the negative side added;
   * `twosided`: all from 0 on; `centered`: all, with 0 in the middle.
   */
  readonly fftMode?: FftMode | undefined;
  /** Scaling: a sine of amplitude 1 gives 0.5 in its bin (`magnitude`), or squares are powers per hertz (`psd`); default `null`: unscaled sums. */
  readonly scaleTo?: FftScaling | undefined;
  /** Reference sample of the phases, counted from the window's middle; default 0. `null`: the window's first sample. */
  readonly phaseShift?: number | null | undefined;
  /** Window of the inverse transform; default the dual window of the least energy. */
  readonly dualWin?: Float32Array | Float64Array | undefined;
}

export interface SlicesOptions {
  /** First slice; default `pMin`. */
  readonly p0?: number | undefined;
  /** Slice behind the last; default `pMax(n)`. */
  readonly p1?: number | undefined;
  /** Sample of x at time 0; default 0. */
  readonly kOffset?: number | undefined;
  /** Extension of x beyond its ends; default `zeros`. */
  readonly padding?: 'zeros' | 'edge' | 'even' | 'odd' | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

export interface SpectrogramSlicesOptions extends SlicesOptions {
  /** Trend that is subtracted from each slice; default none. */
  readonly detr?: Exclude<Trend, false> | null | undefined;
}

export interface InverseSlicesOptions {
  /** First sample; default 0. */
  readonly k0?: number | undefined;
  /** Sample behind the last; default all samples that slices reach. */
  readonly k1?: number | undefined;
  /** Axis of bins; default −2. */
  readonly fAxis?: number | undefined;
  /** Axis of slices; default −1. */
  readonly tAxis?: number | undefined;
}

const WORKS = ['mfft', 'fftMode', 'scaleTo', 'phaseShift', 'dualWin', 'device'];
const SLICES = ['p0', 'p1', 'kOffset', 'padding', 'axis'];
const BOUNDARIES: Readonly<Record<NonNullable<SlicesOptions['padding']>, Boundary>> = {
  ...({ zeros: 'zeros', edge: 'constant', even: 'even', odd: 'odd' } as const),
};
const MODES: readonly FftMode[] = ['onesided', 'onesided2X', 'twosided', 'centered'];

/**
 * A short-time transform with a window, a hop and a sampling rate, and its inverse. Slice p has the middle of its window at sample p · hop; slices
 * that begin before the signal have negative numbers. Names, meaning and results are those of `scipy.signal.ShortTimeFFT` (in camel case); windows
 * are real.
 */
export class ShortTimeFFT extends SliceGeometry {
  readonly mfft: number;
  readonly fftMode: FftMode;
  readonly phaseShift: number | null;
  private readonly device: DeviceChoice['device'];
  private given: Float64Array | undefined;
  private scale: FftScaling = null;
  private calls: SliceCalls | undefined;

  /**
   * Makes the transform; nothing is planned yet.
   * @param win values of the window
   * @param hop samples from one slice to the next
   * @param fs sampling rate, in hertz
   * @throws FftError `invalid-argument` for arguments out of range, `wrong-length` for a `dualWin` of another length, `unknown-field`,
   *   `detached-array`
   */
  constructor(win: Float32Array | Float64Array, hop: number, fs: number, options: ShortTimeFftOptions = {}) {
    const own = readOptions(options, { works: WORKS }, 'ShortTimeFFT');
    super(checkedValues('win', win), checkInteger('hop', hop, 1), checkPositive('fs', fs));
    this.mfft = checkInteger('mfft', own.mfft ?? this.mNum, this.mNum);
    this.fftMode = checkWord<FftMode>('fftMode', own.fftMode ?? 'onesided', MODES);
    const { phaseShift = 0, scaleTo = null, dualWin } = own;
    const isShift = phaseShift === null || (Number.isSafeInteger(phaseShift) && Math.abs(phaseShift) < this.mfft);
    check('phaseShift', phaseShift, isShift, `an integer between −mfft and mfft, ${this.mfft}, or null`);
    this.phaseShift = phaseShift;
    this.device = checkDevice(own.device);
    if (dualWin !== undefined) {
      this.given = checkedValues('dualWin', dualWin);
      if (this.given.length !== this.mNum) {
        const message = `dualWin has ${this.given.length} values; it has as many as win, ${this.mNum}.`;
        throw new FftError('wrong-length', message, { path: 'dualWin' });
      }
    }
    checkWord<FftScaling>('scaleTo', scaleTo, [null, 'magnitude', 'psd']);
    if (scaleTo !== null) this.scaleTo(scaleTo);
    if (this.fftMode === 'onesided2X' && scaleTo === null) {
      const message =
        "fftMode 'onesided2X' needs to know what is to be twice as large: give scaleTo 'magnitude' or 'psd'.";
      throw new FftError('invalid-argument', message, { path: 'scaleTo' });
    }
  }

  /**
   * A transform with a window given by name: `ShortTimeFFT.fromWindow('hann', fs, nperseg, noverlap)`.
   * @throws FftError as the constructor, and the errors of `windowFunction`
   */
  static fromWindow(
    name: WindowName,
    fs: number,
    nperseg: number,
    noverlap: number,
    { windowOptions, ...options }: ShortTimeFftOptions & { readonly windowOptions?: WindowOptions | undefined } = {},
  ): ShortTimeFFT {
    checkInteger('nperseg', nperseg, 1);
    checkInteger('noverlap', noverlap, 0, nperseg - 1);
    const window = windowFunction(name, nperseg, ...([windowOptions] as WindowArguments<WindowName>));
    return new ShortTimeFFT(window, nperseg - noverlap, fs, options);
  }

  /** The scaling of the window at present. */
  get scaling(): FftScaling {
    return this.scale;
  }

  /** Scales the window, and the dual window inversely. @throws FftError `invalid-argument` */
  scaleTo(scaling: 'magnitude' | 'psd'): void {
    checkWord('scaling', scaling, ['magnitude', 'psd']);
    if (this.scale === scaling) return;
    const factor = scaling === 'magnitude' ? this.facMagnitude : this.facPsd;
    check(
      'scaling',
      scaling,
      Number.isFinite(factor),
      'one that the window allows; the values of this one sum up to 0',
    );
    this.given = this.given?.map((value) => value / factor);
    this.setWindow(this.win.map((value) => value * factor));
    this.calls = undefined;
    this.scale = scaling;
  }

  /** The window of the inverse. @throws FftError `invalid-argument` where none exists, because slices leave out samples */
  get dualWin(): Float64Array {
    return this.given ?? this.canonicalDual();
  }

  /** Whether the transform has an inverse. */
  get invertible(): boolean {
    return this.given !== undefined || this.isCovering;
  }

  /** Frequencies of the bins, in hertz. */
  get f(): Float64Array {
    const { fPts, mfft, deltaF } = this;
    const half = Math.ceil(mfft / 2);
    return Float64Array.from({ length: fPts }, (_, k) => {
      if (this.onesidedFft) return k * deltaF;
      if (this.fftMode === 'centered') return (k - Math.floor(mfft / 2)) * deltaF;
      return (k < half ? k : k - mfft) * deltaF;
    });
  }

  get fPts(): number {
    return this.onesidedFft ? Math.floor(this.mfft / 2) + 1 : this.mfft;
  }

  /** Distance between bins, in hertz. */
  get deltaF(): number {
    return this.fs / this.mfft;
  }

  get onesidedFft(): boolean {
    return this.fftMode === 'onesided' || this.fftMode === 'onesided2X';
  }

  /**
   * The short-time transform of a signal.
   *
   * @param x real, or complex for two-sided modes; at least half as long as the window
   * @returns shape `[…, bins, …, slices]`: bins replace the time axis of x
   * @throws FftError (as a rejection) `invalid-argument`, `unknown-field`, `wrong-array-type`, `detached-array`, `out-of-memory`, and the errors of
   *   `device.plan`
   */
  async stft(x: ArrayInput, options: SlicesOptions = {}): Promise<ComplexArray> {
    return (await this.slices(this.prepared().stft.read([x], options, [false]))) as ComplexArray;
  }

  /** The short-time transform of slices from which the mean (`constant`) or the line (`linear`) has been subtracted. Errors as `stft`. */
  async stftDetrend(
    x: ArrayInput,
    detr: 'constant' | 'linear' | null,
    options: SlicesOptions = {},
  ): Promise<ComplexArray> {
    return (await this.slices(this.prepared().stftDetrend.read([x], options, [detr]))) as ComplexArray;
  }

  /** The spectrogram: squared absolute values or, with another signal of the same shape, products with its conjugate. Errors as `stft`. */
  async spectrogram(x: ArrayInput, y?: ArrayInput | null, options: SpectrogramSlicesOptions = {}): Promise<NumpyArray> {
    if (y === undefined || y === null) return this.slices(this.prepared().spectrogram.read([x], options));
    const { detr = null, ...own } = readOptions(options, { works: [...SLICES, 'detr'] }, 'spectrogram');
    return multiply(await this.stftDetrend(x, detr, own), conj(await this.stftDetrend(y, detr, own)));
  }

  /**
   * The signal of slices from `pMin` on.
   *
   * @param s complex, bins and slices along two of its axes
   * @returns samples from k0 up to k1 along the axis of slices; real for one-sided modes
   * @throws FftError (as a rejection) as `stft`, and `wrong-length` for another number of bins
   */
  async istft(s: ComplexArray, options: InverseSlicesOptions = {}): Promise<NumpyArray> {
    const { arrays, job } = this.prepared().istft.read([s], options);
    const given = this.fftMode === 'centered' ? fromCentered(arrays[0]!, job.frequency) : arrays[0]!;
    return overlapAdded(given, job, this.device ?? (await sharedDevice()));
  }

  private async slices({ arrays, job }: PreparedCall<SlicesJob>): Promise<NumpyArray> {
    const lines = linesOfArray(job.lines, arrays[0]!);
    const found = shortTimeSpectra(lines, job.shortTime, this.device ?? (await sharedDevice()));
    const spectra = found instanceof Promise ? await found : found;
    return this.fftMode === 'centered' ? toCentered(spectra, lines.axis) : spectra;
  }

  /** Prepared calls of the methods, with the window as it is scaled at present. */
  private prepared(): SliceCalls {
    const slicesOf = (
      name: string,
      works: readonly string[],
      job: (own: SpectrogramSlicesOptions, trend: unknown) => [unknown, BinPart],
    ) =>
      new PreparedCalls<SpectrogramSlicesOptions, SlicesJob>({
        ...{ name, works, bytesOf: ({ shortTime }) => bytesOfShortTime(shortTime) },
        prepare: ([x], own, [trend]) => this.slicesJob(x!, own, ...job(own, trend)),
      });
    this.calls ??= {
      stft: slicesOf('stft', SLICES, () => [null, 'complex']),
      stftDetrend: slicesOf('stftDetrend', SLICES, (_, trend) => [trend, 'complex']),
      spectrogram: slicesOf('spectrogram', [...SLICES, 'detr'], ({ detr = null }) => [detr, 'power']),
      istft: new PreparedCalls<InverseSlicesOptions, IstftJob>({
        ...{ name: 'istft', works: ['k0', 'k1', 'fAxis', 'tAxis'] },
        prepare: ([s], own) => this.inverseJob(s!, own),
        bytesOf: ({ adding }) => 8 * (adding.taper.length + adding.weights.length),
      }),
    };
    return this.calls;
  }

  private slicesJob(x: NumpyArray, own: SlicesOptions, trend: unknown, part: BinPart): SlicesJob {
    checkWord('detr', trend, ['constant', 'linear', null]);
    const lines = linesAlong(x, own.axis ?? -1);
    if (lines.complex && this.onesidedFft) {
      const message = `x is complex; fftMode '${this.fftMode}' is of real signals. Take 'twosided' or 'centered'.`;
      throw new FftError('wrong-array-type', message, { path: 'x' });
    }
    const { n } = lines;
    const kOffset = checkInteger('kOffset', own.kOffset ?? 0, Number.MIN_SAFE_INTEGER);
    const [p0, p1] = this.pRange(n, own.p0, own.p1);
    const padding = own.padding ?? 'zeros';
    const boundary = BOUNDARIES[checkWord('padding', padding, ['zeros', 'edge', 'even', 'odd'] as const)];
    const first = p0 * this.hop - this.mNumMid + kOffset;
    const length = (p1 - p0 - 1) * this.hop + this.mNum;
    const [edge, behind] = [Math.max(0, -first), Math.max(0, first + length - n)];
    const isMirrored = padding === 'even' || padding === 'odd';
    const most = Math.max(edge, behind);
    check('padding', padding, !isMirrored || most < n, `${most + 1} samples or more where it mirrors ${most} of them`);
    const frames = p1 - p0;
    const t = new Float64Array(0);
    const framing = { segments: this.segments(), edge, behind, start: Math.max(0, first), boundary, frames, t };
    const twoSided = !this.onesidedFft;
    const factors = modeFactors(this.modeOf(), this.fPts, 1);
    const spectra = { trend: (trend ?? false) as Trend, twoSided, scale: 1, part, factors };
    return { lines: geometryOf(lines), shortTime: shortTimeJob(lines, framing, spectra) };
  }

  private inverseJob(given: NumpyArray, own: InverseSlicesOptions): IstftJob {
    if (!isComplex(given.dtype) || given.shape.length < 2) {
      const message = `s is ${given.dtype} with ${given.shape.length} axes; bins and slices are complex, of two axes or more.`;
      throw new FftError('wrong-array-type', message, { path: 's' });
    }
    const frequency = resolveAxis(own.fAxis ?? -2, given.shape.length, 'fAxis');
    const time = resolveAxis(own.tAxis ?? -1, given.shape.length, 'tAxis');
    check('tAxis', time, time !== frequency, 'another axis than fAxis');
    if (given.shape[frequency] !== this.fPts) {
      const message = `s has ${given.shape[frequency]} bins; this transform has ${this.fPts}.`;
      throw new FftError('wrong-length', message, { path: 's' });
    }
    const frames = checkInteger('slices', given.shape[time]!, 1);
    const { pMin, kMin, hop, mNum, mNumMid } = this;
    const end = (pMin + frames - 1) * hop - mNumMid + mNum;
    const [k0, k1] = [own.k0 ?? 0, own.k1 ?? end];
    const isFirst = Number.isSafeInteger(k0) && k0 >= kMin && k0 < end;
    check('k0', k0, isFirst, `an integer from kMin, ${kMin}, to ${end - 1}`);
    const isEnd = Number.isSafeInteger(k1) && k1 > k0 && k1 <= end;
    check('k1', k1, isEnd, `an integer from ${k0 + 1} to ${end}, where slices end`);
    const precision = isSingle(given.dtype) ? 'single' : 'double';
    const spec = { size: mNum, hop, nfft: this.mfft, frames, onesided: this.onesidedFft, precision } as const;
    const window = this.dualWin.map((value) => value / this.mfft);
    const weights = new Float64Array((frames - 1) * hop + mNum).fill(1);
    const adding = overlapAddRequest(spec, window, weights, modeFactors(this.modeOf(), this.fPts, -1));
    return { shape: given.shape, time, frequency, adding, edge: k0 - kMin, length: k1 - k0, reached: k1 - k0 };
  }

  private segments(): Segments {
    const { fs, win: window, mNum: nperseg, hop, mfft: nfft } = this;
    return { fs, window, flat: window.every((value) => value === 1), nperseg, hop, nfft };
  }

  private modeOf() {
    const { fftMode: mode, scale: scaling, mfft, phaseShift, mNumMid, mNum } = this;
    const shift = phaseShift === null ? 0 : (((phaseShift + mNumMid) % mNum) + mNum) % mNum;
    return { mode, scaling, mfft, shift };
  }
}

interface SlicesJob {
  readonly lines: LineGeometry;
  readonly shortTime: ShortTimeJob;
}

interface SliceCalls {
  readonly stft: PreparedCalls<SlicesOptions, SlicesJob>;
  readonly stftDetrend: PreparedCalls<SlicesOptions, SlicesJob>;
  readonly spectrogram: PreparedCalls<SpectrogramSlicesOptions, SlicesJob>;
  readonly istft: PreparedCalls<InverseSlicesOptions, IstftJob>;
}

function checkedValues(path: string, given: unknown): Float64Array {
  check(path, given, isFloats(given), 'a Float32Array or a Float64Array');
  const values = Float64Array.from(liveSamples(given as Floats, path));
  const isWindow = values.length > 0 && values.every(Number.isFinite) && values.some((value) => value !== 0);
  check(path, given, isWindow, 'finite values, of which one at least is not 0');
  return values;
}
