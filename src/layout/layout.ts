/**
 * Layouts: functions from coordinates to numbers in memory, written down as data.
 *
 * A layout has a shape, as a NumPy array has. Each of its coordinates stands for one element: a real number in memory, possibly negated, or
 * a zero that has no memory. A load of such a zero gives 0 and a store to it writes nothing. Layouts are the data-layout patterns of LIFT
 * (split, join, transpose, slide, pad, …) and the views of NumPy (slices, strides, reversed and repeated dimensions), closed under
 * composition. What an FFT reads or writes is such a view of a tensor: the Hermitian half of a spectrum, the even extension of a DCT, the
 * zeros around a chirp, the digits of a four-step decomposition.
 *
 * A complex number is two reals, so layouts of complex tensors have one dimension more, the last one: part 0 is real, part 1 imaginary. All
 * strides and offsets count reals.
 *
 * Layouts are made only by the constructors of `constructors.ts`, which return the normal form at once (`normal-form.ts`). They are frozen
 * and consist of numbers, strings, lists and flags, so that they can be written as JSON and compared as text (`print.ts`).
 */

/**
 * An integer that depends on the coordinates of a layout: first + Σ steps[d] · coordinate d. Dimensions with one coordinate have
 * step 0, so that equal functions are equal data.
 */
export interface Row {
  readonly first: number;
  readonly steps: readonly number[];
}

/** A condition on coordinates: `from` ≤ row < `to`, where a `modulo` first reduces the row. `outside` negates the condition. */
export interface RowBound {
  readonly row: Row;
  readonly modulo?: number;
  readonly from: number;
  readonly to: number;
  readonly outside?: true;
}

/**
 * A list of indices, given as `entries` or by a prime: the powers of its least primitive root, or of the inverse of that root, with
 * exponents 0 to prime − 2 (the order of Rader's algorithm).
 */
export type Order = { readonly powersOf: number; readonly inverse?: true } | { readonly entries: readonly number[] };

/** Reals of one array at offset + Σ stride · coordinate. */
export interface Memory {
  readonly kind: 'memory';
  readonly array: string;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
  /** Elements are the numbers in memory negated. */
  readonly negated?: true;
}

export interface Zeros {
  readonly kind: 'zeros';
  readonly shape: readonly number[];
}

/** Another layout at affine coordinates: `rows` has the coordinate in `of` for each dimension of `of`. */
export interface Affine {
  readonly kind: 'affine';
  readonly shape: readonly number[];
  readonly rows: readonly Row[];
  readonly of: Concat | Join | Gather;
}

/** Layouts behind one another along a dimension. */
export interface Concat {
  readonly kind: 'concat';
  readonly shape: readonly number[];
  readonly dimension: number;
  readonly parts: readonly Layout[];
}

/** Two neighbouring dimensions as one: index i of `dimension` is i div b and i mod b in the layout `of`, where b is the second length. */
export interface Join {
  readonly kind: 'join';
  readonly shape: readonly number[];
  readonly dimension: number;
  readonly of: Layout;
}

/** Index i of `dimension` is index order(i) in the layout `of`. */
export interface Gather {
  readonly kind: 'gather';
  readonly shape: readonly number[];
  readonly dimension: number;
  readonly order: Order;
  readonly of: Layout;
}

/**
 * Elements that a function computes when they are loaded from `of`, or before they are stored to it. A function of reals gives one real for
 * each element of `of`. A function of complex numbers takes both parts of a number and gives both: `of` then has one more dimension than
 * the map itself, the last one, which holds the two parts, and `part` says which part of the result an element is.
 */
export interface Mapped {
  readonly kind: 'map';
  readonly shape: readonly number[];
  /** The name of the function. */
  readonly by: string;
  /** The arguments of the function beside the value: the element's coordinates in the dimensions that the function asks for. */
  readonly at: readonly Row[];
  readonly of: Layout;
  readonly part?: Row;
  /** The result of the function is negated after a load, and its argument before a store. */
  readonly negated?: true;
}

/** The elements of `of` where all bounds hold, and zeros elsewhere. */
export interface Masked {
  readonly kind: 'mask';
  readonly shape: readonly number[];
  readonly bounds: readonly RowBound[];
  readonly of: Unmasked;
}

/** The elements of `of`, negated where `row` is odd. */
export interface Alternating {
  readonly kind: 'alternate';
  readonly shape: readonly number[];
  readonly row: Row;
  readonly of: Unmasked | Masked;
}

/** Layouts that a mask may contain. */
export type Unmasked = Memory | Zeros | Affine | Concat | Join | Gather | Mapped;

/** Any layout, in normal form. */
export type Layout = Unmasked | Masked | Alternating;
