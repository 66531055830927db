/**
 * Callbacks: the types of the functions that users write, and of the plain data that is made of them. A callback is called once, at plan time,
 * with symbols instead of numbers; every device runs what it builds from these (record.ts). (In cuFFT and rocFFT, load and store callbacks are
 * functions in the device's own language instead.)
 */
import type { Direction } from './directions.ts';

declare const REAL: unique symbol;
declare const CONDITION: unique symbol;
declare const INDEX: unique symbol;

/** A symbol for a real number of the data. */
export interface CallbackReal {
  readonly [REAL]: true;
}

/** A symbol for a complex number: two reals. */
export interface CallbackComplex {
  readonly re: CallbackReal;
  readonly im: CallbackReal;
}

/** A condition, for `select`. */
export interface CallbackCondition {
  readonly [CONDITION]: true;
}

/** A symbol for an integer of known range: a position along an axis, or in an array. */
export interface CallbackIndex {
  readonly [INDEX]: true;
}

/**
 * The element that a callback is given: `{ re, im }` where that side of the transform has complex numbers, a real where it has reals. (The
 * problem decides which of the two; the type is both, so that callbacks need not repeat it.)
 */
export type CallbackValue = CallbackReal & CallbackComplex;

/** The result of a callback: a complex number or a real. */
export type CallbackResult = CallbackReal | CallbackComplex;

/**
 * Builds expressions. Numbers and symbols are told apart: a number becomes a value by `constant`. Everything is computed in the
 * problem's precision, by the device's own operations: a quotient in single precision of a GPU may be off by 3 units in the last
 * place, and what `min`, `max` and `less` make of a NaN is not defined.
 */
export interface CallbackBuilder {
  /** @param value a number of the problem's precision: 0, or one of a magnitude from 2⁻¹²⁶ (single) or 2⁻²⁰⁰ (double) up. */
  constant(value: number): CallbackReal;
  add(a: CallbackReal, b: CallbackReal): CallbackReal;
  sub(a: CallbackReal, b: CallbackReal): CallbackReal;
  mul(a: CallbackReal, b: CallbackReal): CallbackReal;
  div(a: CallbackReal, b: CallbackReal): CallbackReal;
  neg(a: CallbackReal): CallbackReal;
  sqrt(a: CallbackReal): CallbackReal;
  abs(a: CallbackReal): CallbackReal;
  /** The natural logarithm, to 4 units in the last place where the device divides exactly. Not in double-double. */
  log(a: CallbackReal): CallbackReal;
  /** e^a, to 4 units in the last place. Not in double-double. */
  exp(a: CallbackReal): CallbackReal;
  min(a: CallbackReal, b: CallbackReal): CallbackReal;
  max(a: CallbackReal, b: CallbackReal): CallbackReal;
  /** a < b */
  less(a: CallbackReal, b: CallbackReal): CallbackCondition;
  /** `a` where the condition holds, otherwise `b`. Both are computed. */
  select(condition: CallbackCondition, a: CallbackReal, b: CallbackReal): CallbackReal;
  /** Element `index` of the array of that name in `callbacks.arrays`. It has to lie in the array for all values of its parts. */
  load(name: string, index: CallbackIndex | number): CallbackReal;
  /** Arithmetic of integers. */
  readonly index: {
    add(a: CallbackIndex | number, b: CallbackIndex | number): CallbackIndex;
    mul(a: CallbackIndex, by: number): CallbackIndex;
    /** ⌊a / by⌋ for a positive number. */
    div(a: CallbackIndex, by: number): CallbackIndex;
    /** The remainder of that division, from 0 to by − 1. */
    mod(a: CallbackIndex, by: number): CallbackIndex;
  };
}

/** The coordinates of the element in the tensor that is read or written, each counted from 0. */
export interface CallbackPlace {
  /** Along each axis, fastest first. */
  readonly axis: readonly CallbackIndex[];
  readonly coordinate: CallbackIndex;
  readonly batch: CallbackIndex;
  readonly left: CallbackIndex;
}

/**
 * A function of one element, called once when the problem is planned.
 *
 * As `load`, it gets what memory holds and returns what is transformed: `{ re, im }` for complex transforms, a real for real ones. As
 * `store`, it gets the result, with `scale` and `normalize` in it, and returns what is written: the same kind of number, or,
 * of a complex one, a single real. That side is real data then.
 *
 * As `bin`, for problems with `bands`, it gets a bin of the spectrum and returns the real that the bands weigh; `store` gets their sums.
 */
export type Callback = (x: CallbackBuilder, value: CallbackValue, at: CallbackPlace) => CallbackResult;

/** An array of the user's that callbacks load numbers from; each call of a plan is given it. */
export interface CallbackArray {
  readonly type: 'f32' | 'f64';
  /** The number of its elements. */
  readonly length: number;
}

/** A callback: a function; or the data that one has built, as in the normal form of a problem. */
export type AnyCallback = Callback | BuiltCallback | null | undefined;

/** Field `callbacks` of a problem. */
export interface Callbacks {
  /** `bin` is for problems with `bands`: it gets a bin, and returns the real that the sums take. */
  readonly forward?:
    | { readonly load?: AnyCallback; readonly bin?: AnyCallback; readonly store?: AnyCallback }
    | undefined;
  readonly inverse?: { readonly load?: AnyCallback; readonly store?: AnyCallback } | undefined;
  readonly arrays?: { readonly [name: string]: CallbackArray } | undefined;
}

/** Whether an element is one real or a complex number. */
export type NumberKind = 'real' | 'complex';

export type RealUnary = 'neg' | 'sqrt' | 'abs' | 'log' | 'exp';
export type RealBinary = 'add' | 'sub' | 'mul' | 'div' | 'min' | 'max';

/** One step of a callback. Its operands are earlier steps, named by their numbers. */
export type CallbackNode =
  /** The real part of the element, or all of a real one; the imaginary part. */
  | { readonly op: 're' | 'im' }
  | { readonly op: 'constant'; readonly value: number }
  | { readonly op: RealUnary; readonly a: number }
  | { readonly op: RealBinary; readonly a: number; readonly b: number }
  | { readonly op: 'select'; readonly less: readonly [number, number]; readonly a: number; readonly b: number }
  | { readonly op: 'load'; readonly array: string; readonly index: number }
  /** `a` where `from` ≤ index < `to`, otherwise `b`: the weights of adjoints. Users' functions cannot build it. */
  | {
      readonly op: 'where';
      readonly index: number;
      readonly from: number;
      readonly to: number;
      readonly a: number;
      readonly b: number;
    }
  /** Indices. A place is along a dimension of the tensor [left, axis 0 …, coordinate, batch]. */
  | { readonly op: 'place'; readonly dimension: number }
  | { readonly op: 'integer'; readonly value: number }
  | { readonly op: 'index-add'; readonly a: number; readonly b: number }
  | { readonly op: 'index-mul' | 'index-div' | 'index-mod'; readonly a: number; readonly by: number };

/** A callback as plain data: two that do the same in the same order are equal. */
export interface BuiltCallback {
  /** The kind of the element that it takes, and of its result. */
  readonly takes: NumberKind;
  readonly gives: NumberKind;
  readonly nodes: readonly CallbackNode[];
  /** Indices of the result's nodes: one for a real, two for the parts of a complex number. */
  readonly result: readonly number[];
}

/** Both callbacks of a direction; `null` where there is none. */
export interface BuiltPair<Store extends NumberKind = NumberKind> {
  readonly load: BuiltCallback | null;
  readonly store: (BuiltCallback & { readonly gives: Store }) | null;
}

/** The normal form of field `callbacks`. Directions that are not planned have none. */
export interface BuiltCallbacks {
  /** `bin`: only with bands. */
  readonly forward: BuiltPair & { readonly bin?: BuiltCallback };
  readonly inverse: BuiltPair;
  readonly arrays: { readonly [name: string]: CallbackArray };
}

/** Names of the arrays that a direction loads from, each once. */
export function loadedArrays(callbacks: BuiltCallbacks | null, direction: Direction): string[] {
  if (!callbacks) return [];
  const { load, store } = callbacks[direction];
  const { bin } = direction === 'forward' ? callbacks.forward : {};
  return [...new Set([load, bin, store].flatMap((callback) => (callback ? arraysOf(callback) : [])))];
}

/** Names of the arrays that a callback loads from, each once. */
export function arraysOf({ nodes }: BuiltCallback): string[] {
  return [...new Set(nodes.flatMap((node) => (node.op === 'load' ? [node.array] : [])))];
}

/** The dimensions of the tensor whose coordinates a callback uses. */
export function coordinatesUsed({ nodes }: BuiltCallback): Set<number> {
  return new Set(nodes.flatMap((node) => (node.op === 'place' ? [node.dimension] : [])));
}
