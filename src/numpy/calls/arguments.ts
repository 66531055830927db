/**
 * NumPy's arguments as axes, lengths and a norm. Their meanings are those of `numpy.fft` (its reference manual): `null` is NumPy's `None`, the
 * default of `n`, `s`, `axes` and `norm`.
 */
import { readOptions } from '../../engine/arguments/options.ts';
import { excerpt, FftError, show } from '../../problem/errors.ts';
import { didYouMean } from '../../problem/input/meant.ts';
import type { RawRecord } from '../../problem/input/snapshot.ts';
import { checkLength, resolveAxes, resolveAxis } from './axes.ts';

/** The direction that is divided: the inverse by n, both by √n, or the forward one by n. */
export type Norm = 'backward' | 'ortho' | 'forward';

/** Options of the transforms along one axis. */
export interface LineOptions {
  /**
   * Points of the transform along the axis: longer data is cropped at its end, shorter data is padded with zeros. For `irfft` and `hfft` it is the
   * length of the result, which takes ⌊n/2⌋ + 1 bins. Default: the length of the data; for `irfft` and `hfft` 2(m − 1), for m bins.
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
   * Points along each of `axes`, like `n` of one axis; −1 stands for the length of the data. Default: the lengths of the data, but 2(m − 1) along the
   * last axis of `irfft2`, `irfftn`, `hfft2` and `hfftn`. A single number is a list of one.
   */
  readonly s?: number | readonly number[] | null | undefined;
  /**
   * Default: the last two axes (`fft2` and similar functions), or the last `s.length` or all axes (`fftn` and similar functions; `null` for all of
   * them).
   * A single number is a list of one.
   * An axis that is named several times is transformed several times, from the last to the first except in `irfftn`; functions that only SciPy has
   * (`hfftn`, `dctn` and others) refuse that.
   */
  readonly axes?: number | readonly number[] | null | undefined;
  /** Default `backward`. */
  readonly norm?: Norm | null | undefined;
}

/** Options that only some functions have, unchecked: those functions check them. */
export interface OtherOptions {
  readonly device?: unknown;
  readonly type?: unknown;
  readonly orthogonalize?: unknown;
}

/** The arguments of a function for an array of some shape. */
export interface Arguments extends OtherOptions {
  /** Axes counted from 0, in the order in which they were given. */
  readonly axes: readonly number[];
  /** Points along each of `axes`. */
  readonly lengths: readonly number[];
  readonly norm: Norm;
  /** The options with their getters evaluated. */
  readonly requested: RawRecord;
}

/** The depth to which options are read: the options and the lists in them. */
const LEVELS = 2;

/** The facts about a function that decide how its arguments are read. */
export interface Signature {
  readonly name: string;
  /** Whether it transforms bins to reals, where the bins are half as many along the last axis. */
  readonly toReals: boolean;
  /** Names of further options, which NumPy's function does not have. */
  readonly more: readonly string[];
}

/** Reads the arguments of a transform along one axis. @throws FftError `invalid-argument`, `unknown-field`, `invalid-size` */
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

/** Reads the arguments of a transform along several axes. @param usual the default axes; all if left out. @throws FftError as above */
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
  // `null` stands for as many axes as `s` has, or all of the array, even in functions whose default is two axes.
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

/** SciPy accepts a number in the place of a list with one number. */
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
