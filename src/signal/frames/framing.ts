/** Positions of the frames in a signal: by a boundary extension, as in SciPy, or by the frames' middles, as in librosa and PyTorch. */
import { FftError } from '../../problem/errors.ts';
import { type Boundary, boundaries } from '../arguments/boundary.ts';
import { check, checkWord } from '../arguments/check.ts';
import { framesIn, type Segments } from './segments.ts';

/** Extension of a signal beyond its ends: mirrored at its end samples, zeros, or its end values. */
export type PadMode = 'reflect' | 'constant' | 'edge';
const BOUNDARY_OF: Readonly<Record<PadMode, Boundary>> = { reflect: 'even', constant: 'zeros', edge: 'constant' };

export interface CenterOptions {
  /**
   * Position of frames. True: frame k has its middle at sample k · hop, as in librosa and PyTorch, shorter windows stand in the middle of their
   * transform, and no zeros complete the last frame. False: frame k begins at sample k · hop. Default: `boundary` and `padded` decide.
   */
  readonly center?: boolean | undefined;
  /** Extension of the signal by half a transform at either end, with `center: true`, which it implies; default `constant`, zeros. */
  readonly padMode?: PadMode | undefined;
}

export interface FramingOptions extends CenterOptions {
  /** Extension of the signal by half a frame at either end. */
  readonly boundary?: Boundary | undefined;
  /** Whether zeros complete the last frame, so that all samples are in a frame. */
  readonly padded?: boolean | undefined;
}

export interface Framing {
  readonly segments: Segments;
  /** Samples of memory before the signal. */
  readonly edge: number;
  /** Samples of the extension behind the signal. */
  readonly behind: number;
  /** Samples of memory before the first frame. */
  readonly start: number;
  readonly boundary: Boundary;
  readonly frames: number;
  /** Times of the frames' middles, in seconds. */
  readonly t: Float64Array;
}

/** The padding of centred frames; undefined where SciPy's options decide. @throws FftError `invalid-argument` */
export function framePadding({ center, padMode, boundary, padded }: FramingOptions): boolean | undefined {
  if (padMode !== undefined) checkWord('padMode', padMode, ['reflect', 'constant', 'edge']);
  if (center === undefined && padMode === undefined) return undefined;
  checkWord('center', center, [true, false, undefined]);
  const other = boundary !== undefined ? 'boundary' : padded !== undefined ? 'padded' : undefined;
  if (other !== undefined) {
    const message = `${other} is of SciPy's frames, and ${center === undefined ? 'padMode' : 'center'} of librosa's; give the one or the other.`;
    throw new FftError('invalid-argument', message, { path: other });
  }
  if (center === false && padMode !== undefined) {
    const message = 'padMode is what frames reach beyond the ends of the signal, which they do with center: true.';
    throw new FftError('invalid-argument', message, { path: 'padMode' });
  }
  return center ?? true;
}

/** Frames as long as the transforms, with the window in their middle. */
export function centered({ window, nperseg, nfft, flat, ...rest }: Segments): Segments {
  if (nperseg === nfft) return { window, nperseg, nfft, flat, ...rest };
  const wide = new Float64Array(nfft);
  wide.set(window, Math.floor((nfft - nperseg) / 2));
  return { ...rest, window: wide, nperseg: nfft, nfft, flat: false };
}

/**
 * The frames of a signal.
 * @param options options in which `boundary` and `padded` have their defaults
 * @param length samples of the signal
 * @throws FftError `invalid-argument`
 */
export function framingOf(
  { center, padMode = 'constant', boundary = null, padded = false }: FramingOptions,
  given: Segments,
  length: number,
): Framing {
  const segments = center === undefined ? given : centered(given);
  const { nperseg, hop, fs } = segments;
  const beyond = center === undefined ? boundary : center ? BOUNDARY_OF[padMode] : null;
  checkWord('boundary', beyond, boundaries);
  checkWord('padded', padded, [true, false]);
  const edge = beyond === null ? 0 : Math.floor(nperseg / 2);
  if (beyond === 'even' || beyond === 'odd') {
    const path = center ? 'padMode' : 'boundary';
    const accepted = `${edge + 1} samples or more where it mirrors ${edge} of them`;
    check(path, center ? padMode : beyond, edge < length, accepted, " Take shorter frames, or 'constant'.");
  }
  const whole = length + 2 * edge;
  const short = center === undefined ? '' : ' Take a shorter nfft, or center: true.';
  check('nfft', nperseg, nperseg <= whole, `at most ${whole}, the samples that there are`, short);
  const frames = framesIn(padded ? whole + ((((nperseg - whole) % hop) + hop) % hop) : whole, segments);
  const begin = beyond === null ? nperseg / 2 : 0;
  const t = Float64Array.from({ length: frames }, (_, k) => (begin + k * hop) / fs);
  return { segments, edge, behind: edge, start: 0, boundary: beyond, frames, t };
}
