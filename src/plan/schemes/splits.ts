/**
 * How the axes of a problem are transformed: what the search over trees decides, and nearly all that planning takes its time for.
 * The rest of a plan follows from it.
 */
import type { AxisScheme } from './axis-scheme.ts';

/** Axes that share launches: the first `axes` of them one launch; or up to three of them two, the second one cut into `parts`. */
export type Sharing =
  | { readonly launches: 1; readonly axes: number }
  | { readonly launches: 2; readonly parts: readonly [number, number] };

export interface Splits {
  /** How the first of the axes that have no scheme of their own share launches; missing where none do. */
  readonly shared?: Sharing;
  /** For each axis of the problem its scheme; null for one that shares launches, or is not transformed. */
  readonly axes: readonly (AxisScheme | null)[];
  /** Threads that groups are to have, where that was timed on a device with threads; missing where the planner decides. */
  readonly threads?: number;
}
