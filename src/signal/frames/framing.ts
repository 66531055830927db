/** Where the frames of a signal lie: as SciPy has it, by a boundary, or as librosa and PyTorch have it, by their middles. */
import { FftError } from '../../problem/errors.ts';
import { type Boundary, boundaries } from '../arguments/boundary.ts';
import { check, checkWord } from '../arguments/check.ts';
import { framesIn, type Segments } from './segments.ts';

/** What a signal is beyond its ends: mirrored without its end values, zeros, or its end values. */
export type PadMode = 'reflect' | 'constant' | 'edge';
const BOUNDARY_OF: Readonly<Record<PadMode, Boundary>> = { reflect: 'even', constant: 'zeros', edge: 'constant' };

export interface CenterOptions {
  /**
   * True: frame k has its middle at sample k · hop, as in librosa and PyTorch, windows are in the middle of transforms that are longer, and no zeros
   * fill up the last frame. False: frame k begins at sample k · hop. Default: `boundary` and `padded` say it.
   */
  readonly center?: boolean | undefined;
  /** What half a transform beyond either end is, with `center: true`, which it implies; default `constant`, zeros. */
  readonly padMode?: PadMode | undefined;
}

export interface FramingOptions extends CenterOptions {
  /** What the signal is beyond its ends, where half of the first and of the last frame lies. */
  readonly boundary?: Boundary | undefined;
  /** Whether zeros fill up the last frame, so that all samples are in one. */
  readonly padded?: boolean | undefined;
}

export interface Framing {
  readonly segments: Segments;
  /** Samples beyond each end that frames reach. */
  readonly edge: number;
  readonly boundary: Boundary;
  readonly frames: number;
  /** Times of the middles of the frames, in seconds. */
  readonly t: Float64Array;
}

/** Undefined where SciPy's options say where frames lie. @throws FftError `invalid-argument` */
export function centerOf({ center, padMode, boundary, padded }: FramingOptions): boolean | undefined {
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
 * @param options `boundary` and `padded` have their defaults
 * @param length of the signal
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
  return { segments, edge, boundary: beyond, frames, t };
}
