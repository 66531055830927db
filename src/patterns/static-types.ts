/**
 * What TypeScript knows of a program's values: whether they are real or complex, and how arrays are nested. Lengths are in the types
 * that programs have when they run (`types.ts`).
 */

declare const KIND: unique symbol;
declare const ELEMENTS: unique symbol;

/** A real number of a program. */
export interface Real {
  readonly [KIND]: 'real';
}

/** A complex number of a program. */
export interface Complex {
  readonly [KIND]: 'complex';
}

/** Whether something holds, for `select`. */
export interface Condition {
  readonly [KIND]: 'condition';
}

/**
 * An array of a program. It can be taken apart like a list where its length is known and at most 64, but it is none: it has none of
 * a list's methods.
 */
export type Arr<A> = readonly [A, A, A, A, A, A, A, A, ...A[]] & { readonly [KIND]: 'array' };

interface TupleOf<T extends readonly unknown[]> {
  readonly [KIND]: 'tuple';
  readonly [ELEMENTS]: T;
}

/** What `zip` makes of elements that belong together. It can be taken apart like a list. */
export type Tuple<T extends readonly unknown[]> = Readonly<T> & TupleOf<T>;

/** What real numbers can be made of. */
export type RealLike = number | Real;
/** What numbers can be made of. */
export type NumberLike = RealLike | Complex | Parts;

/** Both parts of a complex number. */
export interface Parts {
  readonly re: RealLike;
  readonly im: RealLike;
}

/** The value that a pattern makes of what a function gives: of numbers, of both parts of a number, of lists. */
export type AsValue<R> = R extends number
  ? Real
  : R extends Real | Complex | Condition | TupleOf<readonly unknown[]> | { readonly [KIND]: 'array' }
    ? R
    : R extends Parts
      ? Complex
      : R extends readonly (infer A)[]
        ? Arr<AsValue<A>>
        : never;

/** What a function is called with for an element: the element, or the parts of a tuple, one by one. */
export type Elements<A> = A extends TupleOf<infer T> ? T : [A];

/** Of two numbers the kind that holds both. */
export type Promoted<A, B> = [AsValue<A> | AsValue<B>] extends [Real] ? Real : Complex;

/** What a program may give: a number, or arrays of numbers, however nested. */
export type Result = NumberLike | readonly Result[];
