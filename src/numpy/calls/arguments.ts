/**
 * NumPy's arguments as axes, lengths and a norm. Meanings are those of `numpy.fft` (its reference manual): `null` is NumPy's
 * `None`, the default of `n`, `s`, `axes` and `norm`.
 */
import { readOptions } from '../../engine/arguments/options.ts';
import { excerpt, FftError, show } from '../../problem/errors.ts';
import { didYouMean } from '../../problem/input/meant.ts';
import type { RawRecord } from '../../problem/input/snapshot.ts';
import { checkLength, resolveAxes, resolveAxis } from './axes.ts';

/** Which direction is divided: the inverse by n, both by √n, or the forward one by n. */
export type Norm = 'backward' | 'ortho' | 'forward';

/** Options of the transforms along one axis. */
export interface LineOptions {
  /**
   * Points of the transform along the axis: longer data is cropped at its end, shorter is filled with zeros. Of `irfft` and
   * `hfft` it is the length of the result, which takes ⌊n/2⌋ + 1 bins. Default: as many as there are; of these two 2(m − 1), of m bins.
   */
  readonly n?: number | null | undefined;
  /** Default −1, the last. */
  readonly axis?: number | undefined;
  /** Default `backward`. */
  readonly norm?: Norm | null | undefined;
}

/** Options of the transforms along several axes. */
export interface TensorOptions {
  /**
   * Points along each of `axes`, as `n` of one axis; −1: as many as there are. Default: as many as there are, but along the
   * last axis of `irfft2`, `irfftn`, `hfft2` and `hfftn` 2(m − 1). A single number is a list of one.
   */
  readonly s?: number | readonly number[] | null | undefined;
  /**
   * Default: the last two (`fft2` and its like), the last `s.length` or all (`fftn` and its like; so does `null` for each).
   * A single number is a list of one.
   * An axis that is named several times is transformed several times, from the last to the first but in `irfftn`; functions
   * that only SciPy has refuse that: `hfftn`, `dctn` and their like.
   */
  readonly axes?: number | readonly number[] | null | undefined;
  /** Default `backward`. */
  readonly norm?: Norm | null | undefined;
}

/** Options that some functions have, as the caller says them: who takes them looks after them. */
export interface OtherOptions {
  readonly device?: unknown;
  readonly type?: unknown;
  readonly orthogonalize?: unknown;
}

/** What a function does to an array of some shape. */
export interface Arguments extends OtherOptions {
  /** From 0, in the order in which they were given. */
  readonly axes: readonly number[];
  /** Points along each. */
  readonly lengths: readonly number[];
  readonly norm: Norm;
  /** The options as they were read. */
  readonly requested: RawRecord;
}

/** Options and the lists in them. */
const LEVELS = 2;

/** A function for these purposes. */
export interface Signature {
  readonly name: string;
  /** Whether it makes reals of bins, which are half as many along the last axis. */
  readonly toReals: boolean;
  /** Options besides those of NumPy. */
  readonly more: readonly string[];
}

/** @throws FftError `invalid-argument`, `unknown-field`, `invalid-size` */
export function lineArguments(
  shape: readonly number[],
  options: LineOptions & OtherOptions,
  { name, toReals, more }: Signature,
): Arguments {
  const own = readOptions(options, { works: ['n', 'axis', 'norm', ...more] }, name);
  const axis = resolveAxis(own.axis === undefined ? -1 : own.axis, shape.length, 'axis');
  const n = own.n ?? undefined;
  const length = n === undefined ? usualLength(shape, axis, toReals) : checkLength(n, 'n');
  return {
    axes: [axis],
    lengths: [length],
    norm: checkNorm(own.norm),
    requested: own as RawRecord,
    ...otherOptions(own),
  };
}

/** @param usual default axes; left out: all. @throws FftError as above */
export function tensorArguments(
  shape: readonly number[],
  options: TensorOptions & OtherOptions,
  { name, toReals, more }: Signature,
  usual?: readonly number[],
): Arguments {
  const own = readOptions(options, { works: ['s', 'axes', 'norm', ...more] }, name, LEVELS);
  const s = own.s === null || own.s === undefined ? undefined : asList(own.s);
  if (s !== undefined && !Array.isArray(s)) {
    throw new FftError('invalid-argument', `s is ${show(s)}; it must list lengths, such as [64, 64].`, { path: 's' });
  }
  // `null` stands for the axes that s or the array has, even where left out they would be two.
  const given = (own.axes === undefined ? usual : own.axes) ?? lastAxes(s?.length ?? shape.length);
  const listed = asList(given);
  const axes = resolveAxes(listed, shape.length);
  if (s !== undefined && s.length !== axes.length) {
    const message = `s has ${s.length} lengths for ${axes.length} axes [${excerpt(listed.join(', '))}]; it takes one for each.`;
    throw new FftError('invalid-argument', message, { path: 's' });
  }
  const lengths = axes.map((axis, k) => {
    if (s === undefined) return usualLength(shape, axis, toReals && k === axes.length - 1);
    return s[k] === -1 ? usualLength(shape, axis, false) : checkLength(s[k]!, `s[${k}]`);
  });
  return { axes, lengths, norm: checkNorm(own.norm), requested: own as RawRecord, ...otherOptions(own) };
}

function otherOptions({ device, type, orthogonalize }: OtherOptions): OtherOptions {
  return { device, type, orthogonalize };
}

/** SciPy takes one number for a list of it. */
function asList(given: number | readonly number[]): readonly number[] {
  return typeof given === 'number' ? [given] : given;
}

function lastAxes(count: number): number[] {
  return Array.from({ length: count }, (_, k) => k - count);
}

function usualLength(shape: readonly number[], axis: number, ofReals: boolean): number {
  const there = shape[axis]!;
  if (!ofReals) return checkLength(there, `The length of axis ${axis}`);
  return checkLength(
    2 * (there - 1),
    `The default length of the result, 2(m − 1) for the ${there} bins of axis ${axis},`,
  );
}

function checkNorm(norm: Norm | null = 'backward'): Norm {
  if (norm === null) return 'backward';
  if (norm === 'backward' || norm === 'ortho' || norm === 'forward') return norm;
  const hint = didYouMean(norm, ['backward', 'ortho', 'forward']);
  const message = `norm is ${show(norm)}; it must be 'backward', 'ortho' or 'forward'.${hint}`;
  throw new FftError('invalid-argument', message, { path: 'norm' });
}
