/**
 * The form of a program's values while kernels are built. Arrays are layouts over arrays in memory, or over arrays whose elements a kernel computes
 * when it reads them; so patterns that only rearrange are constructors of layouts for both kinds.
 */
import type { Expressions, Index, Real, TableBuilder } from '../../../ir/index.ts';
import type { Layout } from '../../../layout/index.ts';
import * as layouts from '../../../layout/index.ts';

/** An array; or a number of an array, where there is an index for each of its dimensions. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly layout: Layout;
  /** Indices in the first dimensions of the layout. The other dimensions are the array's own. */
  readonly at: readonly Index[];
}

/** A number as an expression. */
export interface NumberExpression {
  readonly kind: 'number';
  readonly re: Real;
  /** The imaginary part; missing where the number is real. */
  readonly im?: Real;
}

export interface TupleOf {
  readonly kind: 'tuple';
  readonly parts: readonly Pulled[];
}

/** The condition left < right. */
export interface ConditionExpression {
  readonly kind: 'condition';
  readonly left: Real;
  readonly right: Real;
}

/** A value of a program in a kernel. An array of tuples is a tuple of arrays. */
export type Pulled = Leaf | NumberExpression | TupleOf | ConditionExpression;

/** The numbers of one `array`, which are the same for all kernels of a program. */
export interface KnownNumbers {
  readonly shape: readonly number[];
  readonly isComplex: boolean;
  /** The element at known indices, as a constant. Roots of unity are exact. */
  constant(x: Expressions, at: readonly Index[]): NumberExpression;
  /** The first place of the numbers in a kernel's table; complex numbers take two places each. */
  place(tables: TableBuilder): number;
  /** A number by its position in the array. */
  valueAt(place: number): number | undefined;
}

/** Applies a function to all arrays in a value. */
export function eachLeaf(value: Pulled, change: (leaf: Leaf) => Pulled): Pulled {
  if (value.kind === 'leaf') return change(value);
  return value.kind === 'tuple' ? { kind: 'tuple', parts: value.parts.map((part) => eachLeaf(part, change)) } : value;
}

/** A value whose arrays have another layout. @param change is told the first dimension that is the array's own */
export function withLayouts(value: Pulled, change: (layout: Layout, dimension: number) => Layout): Pulled {
  return eachLeaf(value, (leaf) => ({ ...leaf, layout: change(leaf.layout, leaf.at.length) }));
}

/** An element of an array. */
export function elementOf(value: Pulled, at: Index): Pulled {
  return eachLeaf(value, (leaf) => ({ ...leaf, at: [...leaf.at, at] }));
}

/** A packed layout: the last dimension is the fastest. */
export function packedLayout(name: string, shape: readonly number[]): Layout {
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, count) => product * count, 1));
  return layouts.memory(name, shape, strides);
}

/**
 * The array of a rearranging function's results, made from the result for one element: the index of that element becomes a dimension of the layout.
 */
export function asDimension(value: Pulled, index: Index, count: number): Pulled {
  return eachLeaf(value, ({ layout, at }) => {
    const place = at.indexOf(index);
    const d = at.length;
    if (place < 0) return { kind: 'leaf', layout: layouts.repeat(layout, d, count), at };
    const order = layout.shape.map((_, k) => k);
    order.splice(d - 1, 0, ...order.splice(place, 1));
    return { kind: 'leaf', layout: layouts.permute(layout, order), at: at.filter((_, k) => k !== place) };
  });
}

/**
 * A layout with elements added in front and behind, by the boundaries of the pattern `pad`. @param filled an array filled with the boundary's number
 */
export function paddedLayout(
  of: Layout,
  d: number,
  [left, right]: readonly [number, number],
  boundary: 'wrap' | 'clamp' | 'mirror' | number,
  filled: (shape: readonly number[]) => Layout,
): Layout {
  const n = of.shape[d]!;
  const around = (count: number, before: boolean): Layout[] => {
    if (count === 0) return [];
    if (typeof boundary === 'number') return [filled(of.shape.map((own, k) => (k === d ? count : own)))];
    if (boundary === 'clamp') {
      const edge = layouts.slice(of, d, before ? 0 : n - 1, 1);
      return [layouts.join(layouts.repeat(edge, d, count), d)];
    }
    const back = boundary === 'mirror' ? layouts.reverse(of, d) : undefined;
    const once = back ? layouts.concat(d, ...(before ? [of, back] : [back, of])) : of;
    const periods = Math.ceil(count / once.shape[d]!);
    const long = periods === 1 ? once : layouts.join(layouts.repeat(once, d, periods), d);
    return [layouts.slice(long, d, before ? long.shape[d]! - count : 0, count)];
  };
  const parts = [...around(left, true), of, ...around(right, false)];
  return parts.length === 1 ? of : layouts.concat(d, ...parts);
}
