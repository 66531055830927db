/** Patterns that call functions: maps, reductions, repetition; arrays of known numbers; transforms. */
import { show } from '../../problem/errors.ts';
import { arrayValue, curried } from './layout-patterns.ts';
import { nestingProblem } from './nesting.ts';
import { type Length, type Size, sizeOfLength } from './sizes.ts';
import type { Arr, AsValue, Complex, Elements, NumberLike, Real, RealLike } from './static-types.ts';
import { arrayOf, COMPLEX, isNumber, isSameType, REAL, type Type } from './types.ts';
import {
  argumentTypes,
  asValue,
  describedValue,
  freeOf,
  lambdaOf,
  type MapOp,
  type MemoryOp,
  MOST_ELEMENTS,
  type Op,
  patternsAround,
  type ReduceOp,
  refuseProgram,
  type TransformOp,
  Value,
  widened,
} from './values.ts';

function checkNesting(op: Op): void {
  const problem = nestingProblem(op, patternsAround());
  if (problem) refuseProgram(op, problem);
}

/** map(f, xs), or map(f), a function of xs. */
export interface MapPattern {
  <A, R>(f: (...element: Elements<AsValue<A>>) => R, xs: readonly A[]): Arr<AsValue<R>>;
  <A, R>(f: (...element: Elements<AsValue<A>>) => R): (xs: readonly A[]) => Arr<AsValue<R>>;
}

function mapPattern(op: MapOp): MapPattern {
  return curried(2, (f, xs) => {
    checkNesting(op);
    const { value, type } = arrayValue(op, 'a function and [α]_n', xs);
    const lambda = lambdaOf(op, f, argumentTypes(type.of));
    return new Value(op, arrayOf(lambda.body.type, type.length), [value], {}, lambda);
  });
}

/** Applies a function to each element: [α]_n becomes [f(α)]_n. @throws FftError `invalid-program` */
export const map = mapPattern('map');
/** A map whose iterations are spread over all threads. @throws FftError `invalid-program`, also inside another low-level map */
export const mapGlobal = mapPattern('mapGlobal');
/** A map whose iterations are spread over groups of threads. @throws FftError `invalid-program`, also inside another low-level map */
export const mapWorkgroup = mapPattern('mapWorkgroup');
/**
 * A map whose iterations are spread over the threads of a group. @throws FftError `invalid-program`, also outside a mapWorkgroup or inside another
 * mapLocal
 */
export const mapLocal = mapPattern('mapLocal');
/** A map whose iterations follow one another in a thread. @throws FftError `invalid-program` */
export const mapSeq = mapPattern('mapSeq');

/** reduce(f, first, xs), or reduce(f, first), a function of xs. */
export interface ReducePattern {
  <I, A, R>(f: (sum: AsValue<I>, ...element: Elements<AsValue<A>>) => R, first: I, xs: readonly A[]): AsValue<R>;
  <I, A, R>(f: (sum: AsValue<I>, ...element: Elements<AsValue<A>>) => R, first: I): (xs: readonly A[]) => AsValue<R>;
}

function reducePattern(op: ReduceOp): ReducePattern {
  return curried(3, (f, first, xs) => {
    const begin = asValue(first);
    if (!begin || begin.type.kind === 'condition') {
      refuseProgram(op, `it begins with a value; it was given ${describedValue(first)}.`);
    }
    const { value, type } = arrayValue(op, 'a function, a value to begin with and [α]_n', xs);
    const element = argumentTypes(type.of);
    let of: Type = begin.type;
    let lambda = lambdaOf(op, f, [of, ...element]);
    const both = widened(of, lambda.body.type);
    if (both && !isSameType(both, of)) lambda = lambdaOf(op, f, [(of = both), ...element]);
    const gave = lambda.body.type;
    if (!both || !isSameType(widened(of, gave) ?? REAL, of)) {
      refuseProgram(op, `its function has to give ${of.text}, as it begins with; it gave ${gave.text}.`);
    }
    return new Value(op, of, [begin, value], {}, lambda);
  });
}

/**
 * Folds an array into one value: f(… f(f(first, x₀), x₁) …). If f is associative, elements may be combined in any order. @throws FftError
 * `invalid-program`
 */
export const reduce = reducePattern('reduce');
/** A reduction that combines the elements strictly in order. @throws FftError `invalid-program` */
export const reduceSeq = reducePattern('reduceSeq');

/** Applies a function a fixed number of times: f(f(… x)). @throws FftError `invalid-program`, `invalid-size` */
export const iterate: {
  <A>(times: number, f: (x: A) => A, x: A): A;
  <A>(times: number, f: (x: A) => A): (x: A) => A;
} = curried(3, (times, f, x) => {
  if (!Number.isSafeInteger(times) || (times as number) < 0) {
    refuseProgram('iterate', `it takes a whole number of times; it was given ${show(times)}.`);
  }
  const value = asValue(x);
  if (!value) return refuseProgram('iterate', `it begins with a value; it was given ${describedValue(x)}.`);
  const lambda = lambdaOf('iterate', f, [value.type]);
  if (!isSameType(lambda.body.type, value.type)) {
    const gave = lambda.body.type.text;
    refuseProgram('iterate', `its function has to give ${value.type.text}, as it begins with; it gave ${gave}.`);
  }
  return new Value('iterate', value.type, [value], { times: times as number }, lambda);
});

/** toLocal(f, x), or toLocal(f), a function of x. */
export interface MemoryPattern {
  <A, R>(f: (x: A) => R, x: A): AsValue<R>;
  <A, R>(f: (x: A) => R): (x: A) => AsValue<R>;
}

function memoryPattern(op: MemoryOp): MemoryPattern {
  return curried(2, (f, x) => {
    checkNesting(op);
    const value = asValue(x);
    if (!value) refuseProgram(op, `it takes a function and a value; it was given ${describedValue(x)}.`);
    const lambda = lambdaOf(op, f, [value.type]);
    return new Value(op, lambda.body.type, [value], {}, lambda);
  });
}

/** Places the result of f in the shared memory of a group of threads. @throws FftError `invalid-program`, also outside a mapWorkgroup */
export const toLocal = memoryPattern('toLocal');
/** Places the result of f in global memory, which all threads share. @throws FftError `invalid-program` */
export const toGlobal = memoryPattern('toGlobal');
/** Places the result of f in the registers of a thread. @throws FftError `invalid-program` */
export const toPrivate = memoryPattern('toPrivate');

function tableValue(pattern: string, lengths: readonly Length[], f: unknown): Value {
  const shape = lengths.map((length) => sizeOfLength(pattern, length));
  if (typeof f !== 'function')
    refuseProgram(pattern, `it takes a function of positions; it was given ${describedValue(f)}.`);
  const make = f as (...numbers: number[]) => unknown;
  // The kind of the numbers does not depend on lengths, so that an unknown length is taken for 1 here.
  const type = tableEntry(pattern, make, [...shape.map(() => 0), ...shape.map(({ known }) => known ?? 1)]).type;
  const whole = shape.reduceRight<Type>((of, length) => arrayOf(of, length), type);
  return new Value('array', whole, [], { lengths: shape, make });
}

/** The number that `make` gives for an index; it must be known at compile time. @throws FftError `invalid-program` */
export function tableEntry(pattern: string, make: (...numbers: number[]) => unknown, at: readonly number[]): Value {
  const given = make(...at);
  const value = asValue(given);
  if (value && isNumber(value.type) && freeOf(value).size === 0) return value;
  return refuseProgram(
    pattern,
    `its function has to give a number that only positions tell; it gave ${describedValue(given)}.`,
  );
}

/** The array of the numbers f(0, n) … f(n − 1, n); f is called when a program is compiled. @throws FftError `invalid-program`, `invalid-size` */
export function array<R>(n: Length, f: (i: number, n: number) => R): Arr<AsValue<R>> {
  return tableValue('array', [n], f) as never;
}

/** The two-dimensional array of f(i, j, m, n), slowest dimension first. @throws FftError `invalid-program`, `invalid-size` */
export function array2<R>(
  m: Length,
  n: Length,
  f: (i: number, j: number, m: number, n: number) => R,
): Arr<Arr<AsValue<R>>> {
  return tableValue('array2', [m, n], f) as never;
}

/** The three-dimensional array of f(i, j, k, …lengths), slowest dimension first. @throws FftError `invalid-program`, `invalid-size` */
export function array3<R>(
  l: Length,
  m: Length,
  n: Length,
  f: (i: number, j: number, k: number, l: number, m: number, n: number) => R,
): Arr<Arr<Arr<AsValue<R>>>> {
  return tableValue('array3', [l, m, n], f) as never;
}

/** @param lengthOfResult gives the result's length for the argument's length */
function transformPattern(
  op: TransformOp,
  takes: 'real' | 'complex' | 'a number',
  gives: Type,
  lengthOfResult: (n: Size) => Size = (n) => n,
): (xs: readonly NumberLike[]) => never {
  const [what] = [takes === 'a number' ? '[complex]_n or [real]_n' : `[${takes}]_n`];
  return (xs) => {
    const { value, type } = arrayValue(op, what, xs);
    const fits = takes === 'a number' ? isNumber(type.of) : type.of.kind === takes;
    if (!fits) refuseProgram(op, `it takes ${what}; it was given ${type.text}.`);
    const problem = lengthProblem(op, type.length);
    if (problem) refuseProgram(op, `${problem}; it was given ${type.text}.`);
    return new Value(op, arrayOf(gives, lengthOfResult(type.length)), [value]) as never;
  };
}

/** The reason why a transform cannot have this length, in words; undefined where it can, or where the length is a name without a number yet. */
export function lengthProblem(op: TransformOp, { known }: Size): string | undefined {
  if (known === undefined) return undefined;
  if ((op === 'dft' || op === 'idft') && known > MOST_ELEMENTS) return `it takes up to ${MOST_ELEMENTS} numbers`;
  if (op === 'rfft' && known % 2 !== 0) return 'it takes an even number of reals';
  return op === 'irfft' && known < 2 ? 'it takes n/2 + 1 bins, two at least' : undefined;
}

type ToComplex = (xs: readonly NumberLike[]) => Arr<Complex>;

/** The forward discrete Fourier transform of at most 64 numbers, computed by one thread; not normalised. @throws FftError `invalid-program` */
export const dft: ToComplex = transformPattern('dft', 'a number', COMPLEX);
/** The inverse discrete Fourier transform of at most 64 numbers, computed by one thread; not normalised either. @throws FftError `invalid-program` */
export const idft: ToComplex = transformPattern('idft', 'a number', COMPLEX);
/** The forward Fourier transform of n numbers, any n, planned for the device; not normalised. @throws FftError `invalid-program` */
export const fft: ToComplex = transformPattern('fft', 'a number', COMPLEX);
/** The inverse Fourier transform of n numbers, planned for the device, divided by n. @throws FftError `invalid-program` */
export const ifft: ToComplex = transformPattern('ifft', 'a number', COMPLEX);
/** Bins 0 … n/2 of the Fourier transform of n reals, n even; not normalised. @throws FftError `invalid-program` */
export const rfft: (xs: readonly RealLike[]) => Arr<Complex> = transformPattern('rfft', 'real', COMPLEX, (n) =>
  n.over(2).plus(1),
);
/** The real signal of n samples from bins 0 … n/2 of its Fourier transform, divided by n. @throws FftError `invalid-program` */
export const irfft: (xs: readonly NumberLike[]) => Arr<Real> = transformPattern('irfft', 'complex', REAL, (bins) =>
  bins.minus(1).times(2),
);

/** The value x passed through functions from left to right: pipe(x, f, g) = g(f(x)). */
export function pipe<A, B>(x: A, f: (x: A) => B): B;
export function pipe<A, B, C>(x: A, f: (x: A) => B, g: (x: B) => C): C;
export function pipe<A, B, C, D>(x: A, f: (x: A) => B, g: (x: B) => C, h: (x: C) => D): D;
export function pipe<A, B, C, D, E>(x: A, f: (x: A) => B, g: (x: B) => C, h: (x: C) => D, i: (x: D) => E): E;
export function pipe<A, B, C, D, E, F>(
  x: A,
  ...functions: [(x: A) => B, (x: B) => C, (x: C) => D, (x: D) => E, (x: E) => F]
): F;
export function pipe<A, B, C, D, E, F, G>(
  x: A,
  ...functions: [(x: A) => B, (x: B) => C, (x: C) => D, (x: D) => E, (x: E) => F, (x: F) => G]
): G;
export function pipe(x: unknown, ...functions: readonly unknown[]): unknown {
  return functions.reduce((value, f) => functionOf('pipe', f)(value), x);
}

/** The composition of functions, the rightmost applied first: o(f, g)(x) = f(g(x)). */
export function o<A, B, C>(f: (x: B) => C, g: (x: A) => B): (x: A) => C;
export function o<A, B, C, D>(f: (x: C) => D, g: (x: B) => C, h: (x: A) => B): (x: A) => D;
export function o<A, B, C, D, E>(f: (x: D) => E, g: (x: C) => D, h: (x: B) => C, i: (x: A) => B): (x: A) => E;
export function o(...functions: readonly unknown[]): (x: unknown) => unknown {
  return (x) => functions.reduceRight((value, f) => functionOf('o', f)(value), x);
}

function functionOf(pattern: string, f: unknown): (x: unknown) => unknown {
  if (typeof f === 'function') return f as (x: unknown) => unknown;
  return refuseProgram(pattern, `it takes functions; it was given ${describedValue(f)}.`);
}
