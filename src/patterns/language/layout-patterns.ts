/** Patterns that rearrange arrays without computing: they make no kernel, but change where other patterns read and write. */
import { show } from '../../problem/errors.ts';
import { type Length, type Size, sizeOfLength } from './sizes.ts';
import type { Arr, AsValue, Tuple } from './static-types.ts';
import { type ArrayType, arrayOf, isNumber, scalarOf, tupleOf } from './types.ts';
import { asValue, type Boundary, describedValue, refuseProgram, Value } from './values.ts';

/** A given value whose type is an array; anything else is refused. @param takes the accepted argument, in words */
export function arrayValue(pattern: string, takes: string, given: unknown): { value: Value; type: ArrayType } {
  const value = asValue(given);
  if (value?.type.kind === 'array') return { value, type: value.type };
  return refuseProgram(pattern, `it takes ${takes}; it was given ${describedValue(given)}.`);
}

/** A pattern that may be called without its last argument, and is a function of that argument then. */
export function curried<F>(count: number, pattern: (...given: readonly unknown[]) => unknown): F {
  const call = (...given: readonly unknown[]) =>
    given.length < count ? (x: unknown) => pattern(...given, x) : pattern(...given);
  return call as F;
}

/**
 * Zips arrays of the same length into one array of tuples: [α]_n and [β]_n become [(α, β)]_n. Functions get the parts of a tuple as separate
 * arguments.
 * @throws FftError `invalid-program`
 */
export function zip<const T extends readonly (readonly unknown[])[]>(
  ...arrays: T
): Arr<Tuple<{ -readonly [K in keyof T]: T[K] extends readonly (infer A)[] ? AsValue<A> : never }>> {
  const values = arrays.map(asValue);
  const types = values.map((value) => (value?.type.kind === 'array' ? value.type : undefined));
  const [first] = types;
  if (!first || types.length < 2 || types.some((type) => `${type?.length}` !== `${first.length}`)) {
    refuseProgram('zip', `it takes arrays of one length; it was given ${arrays.map(describedValue).join(' and ')}.`);
  }
  const of = tupleOf(types.map((type) => type!.of));
  return new Value('zip', arrayOf(of, first.length), values as Value[]) as never;
}

/** Splits an array into chunks of m neighbours: [α]_n becomes [[α]_m]_{n/m}. @throws FftError `invalid-program`, `invalid-size` */
export const split: {
  <A>(m: Length, xs: readonly A[]): Arr<Arr<AsValue<A>>>;
  (m: Length): <A>(xs: readonly A[]) => Arr<Arr<AsValue<A>>>;
} = curried(2, (m, xs) => {
  const size = sizeOfLength('split', m);
  const { value, type } = arrayValue('split', '[α]_n', xs);
  const count = type.length.over(size);
  if (!Number.isInteger(count.known ?? 1))
    refuseProgram('split', `${size} does not divide the length of ${type.text}.`);
  return new Value('split', arrayOf(arrayOf(type.of, size), count), [value], { lengths: [size] });
});

function nestedArray(pattern: string, xs: unknown): { value: Value; outer: Size; inner: ArrayType } {
  const { value, type } = arrayValue(pattern, '[[α]_m]_n', xs);
  if (type.of.kind === 'array') return { value, outer: type.length, inner: type.of };
  return refuseProgram(pattern, `it takes [[α]_m]_n; it was given ${type.text}.`);
}

/** Joins arrays one behind another: [[α]_m]_n becomes [α]_{m·n}. @throws FftError `invalid-program` */
export function join<A>(xs: readonly (readonly A[])[]): Arr<AsValue<A>> {
  const { value, outer, inner } = nestedArray('join', xs);
  return new Value('join', arrayOf(inner.of, inner.length.times(outer)), [value]) as never;
}

/** Swaps two dimensions: [[α]_m]_n becomes [[α]_n]_m. @throws FftError `invalid-program` */
export function transpose<A>(xs: readonly (readonly A[])[]): Arr<Arr<AsValue<A>>> {
  const { value, outer, inner } = nestedArray('transpose', xs);
  return new Value('transpose', arrayOf(arrayOf(inner.of, outer), inner.length), [value]) as never;
}

const BOUNDARIES = ['wrap', 'clamp', 'mirror'];

/**
 * Extends an array at both ends: [α]_n becomes [α]_{left+n+right}. The boundary `wrap` continues the array periodically, `clamp` repeats the end
 * element, `mirror` reflects the array and repeats the end element once; a number fills the extension with that number.
 * @throws FftError `invalid-program`, `invalid-size`
 */
export const pad: {
  <A>(left: Length, right: Length, boundary: Boundary, xs: readonly A[]): Arr<AsValue<A>>;
  (left: Length, right: Length, boundary: Boundary): <A>(xs: readonly A[]) => Arr<AsValue<A>>;
} = curried(4, (left, right, boundary, xs) => {
  const lengths = [sizeOfLength('pad', left, 0), sizeOfLength('pad', right, 0)] as const;
  const isFill = typeof boundary === 'number' && Number.isFinite(boundary);
  if (!isFill && !BOUNDARIES.includes(boundary as string)) {
    refuseProgram('pad', `it takes 'wrap', 'clamp', 'mirror' or a number; it was given ${show(boundary)}.`);
  }
  const { value, type } = arrayValue('pad', '[α]_n', xs);
  if (isFill && !isNumber(scalarOf(type)))
    refuseProgram('pad', `a number pads arrays of numbers; it was given ${type.text}.`);
  const padded = arrayOf(type.of, type.length.plus(lengths[0]).plus(lengths[1]));
  return new Value('pad', padded, [value], { lengths, boundary: boundary as Boundary });
});

/**
 * Overlapping windows of neighbours: [α]_n becomes [[α]_size]_{(n−size)/step+1}. Each window begins `step` elements behind the one before, and the
 * last window ends with the array.
 * @throws FftError `invalid-program`, `invalid-size`
 */
export const slide: {
  <A>(size: Length, step: Length, xs: readonly A[]): Arr<Arr<AsValue<A>>>;
  (size: Length, step: Length): <A>(xs: readonly A[]) => Arr<Arr<AsValue<A>>>;
} = curried(3, (size, step, xs) => {
  const lengths = [sizeOfLength('slide', size), sizeOfLength('slide', step)] as const;
  const { value, type } = arrayValue('slide', '[α]_n', xs);
  const [window, by] = lengths;
  const count = type.length.minus(window).over(by).plus(1);
  const { known } = count;
  if (known !== undefined && known < 1) refuseProgram('slide', `windows of ${window} are longer than ${type.text}.`);
  if (!Number.isInteger(known ?? 1)) refuseProgram('slide', leftOver(window, by, type));
  return new Value('slide', arrayOf(arrayOf(type.of, window), count), [value], { lengths });
});

function leftOver(window: Size, step: Size, { text }: ArrayType): string {
  const windows = `windows of ${window} in steps of ${step} leave some of ${text}`;
  return `the last window has to end where the array does; ${windows}; pad fills it up.`;
}
