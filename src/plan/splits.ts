/**
 * How axes are split into launches: what the search over trees decides, and nearly all that planning takes its time for.
 * The rest of a plan follows from it.
 */
import { type BranchNode, isLeaf } from './node.ts';

export interface Splits {
  /**
   * The first of the axes that have no uploads of their own, where they share launches: so many in one; or up to three of them in two, the
   * second one cut into these parts.
   */
  readonly together?: number | readonly number[];
  /** For each axis of the problem the lengths of its uploads; of an axis that has none of its own, none. */
  readonly uploads: readonly (readonly number[])[];
}

/** How a tree splits the axes of a problem. */
export function splitsOf({ children }: BranchNode, axes: number): Splits {
  const uploads: (readonly number[])[] = Array.from({ length: axes }, () => []);
  let together: Splits['together'];
  for (const child of children) {
    if (child.axisOf !== undefined)
      uploads[child.axisOf] = isLeaf(child) ? [child.axis.count] : (child.parts ?? [child.length[child.axisOf + 1]!]);
    else if (!isLeaf(child)) together = child.parts!;
    else if (child.more) together = 1 + child.more.length;
  }
  return { ...(together === undefined ? {} : { together }), uploads };
}
