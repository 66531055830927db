/**
 * Splits: how the axes of a problem are transformed. They are the result of the search over trees, which takes nearly all of the planning time. The
 * rest of a plan follows from them.
 */
import type { AxisScheme } from './axis-scheme.ts';

/** Axes that share launches: the first `axes` of them in one launch, or up to three in two launches with the second axis cut into `parts`. */
export type Sharing =
  | { readonly launches: 1; readonly axes: number }
  | { readonly launches: 2; readonly parts: readonly [number, number] };

export interface Splits {
  /** How the first of the axes without a scheme of their own share launches; missing where none do. */
  readonly shared?: Sharing;
  /** The scheme of each axis of the problem; null for an axis that shares launches, or is not transformed. */
  readonly axes: readonly (AxisScheme | null)[];
  /** The number of threads in a group, if timing on a device has found one; missing where the planner decides. */
  readonly threads?: number;
}
