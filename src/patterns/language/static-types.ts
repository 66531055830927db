/**
 * TypeScript's view of a program's values: whether they are real or complex, and how arrays are nested. Lengths are checked at run time (`types.ts`).
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

/** A condition, for `select`. */
export interface Condition {
  readonly [KIND]: 'condition';
}

/** An array of a program. It can be destructured like a list where its length is known and at most 64, but it has none of a list's methods. */
export type Arr<A> = readonly [A, A, A, A, A, A, A, A, ...A[]] & { readonly [KIND]: 'array' };

interface TupleOf<T extends readonly unknown[]> {
  readonly [KIND]: 'tuple';
  readonly [ELEMENTS]: T;
}

/** A tuple, such as an element that `zip` makes. It can be destructured like a list. */
export type Tuple<T extends readonly unknown[]> = Readonly<T> & TupleOf<T>;

/** Arguments that become real numbers. */
export type RealLike = number | Real;
/** Arguments that become numbers. */
export type NumberLike = RealLike | Complex | Parts;

/** The two parts of a complex number. */
export interface Parts {
  readonly re: RealLike;
  readonly im: RealLike;
}

/** The value that a pattern makes of a function's result: a number, both parts of a number, or a list. */
export type AsValue<R> = R extends number
  ? Real
  : R extends Real | Complex | Condition | TupleOf<readonly unknown[]> | { readonly [KIND]: 'array' }
    ? R
    : R extends Parts
      ? Complex
      : R extends readonly (infer A)[]
        ? Arr<AsValue<A>>
        : never;

/** The arguments that a function gets for an element: the element itself, or the parts of a tuple one by one. */
export type Elements<A> = A extends TupleOf<infer T> ? T : [A];

/** The type of an operation on two numbers: complex if one of them is. */
export type Promoted<A, B> = [AsValue<A> | AsValue<B>] extends [Real] ? Real : Complex;

/** The result of a program: a number, or arrays of numbers, nested to any depth. */
export type Result = NumberLike | readonly Result[];
