/**
 * The constructors and the query that all plans use. Strided memory, by far the most frequent layout, is handled here directly;
 * everything else goes through the normal form, whose code web pages load only if a problem needs it.
 */

import type { Layout } from './layout.ts';
import { concat, repeat } from './normal-form/constructors.ts';
import { concatNode } from './normal-form/nodes.ts';
import { joinedDimensions } from './normal-form/normal-form.ts';
import { alongNew, arePlanes, dimensionLength, isPlainLayout, joinedMemory, plainStride } from './normal-form/plain.ts';
import { strideInRuns } from './queries/runs.ts';

/** a, b → a·b, the lengths of dimensions `d` and `d` + 1. Index i is at (i div b, i mod b). */
export function join(of: Layout, d: number): Layout {
  dimensionLength(of, d, 'join');
  dimensionLength(of, d + 1, 'join with the dimension before it');
  if (of.kind !== 'memory' || of.shape[d]! < 2 || of.shape[d + 1]! < 2) return joinedDimensions(d, of);
  return joinedMemory(of, d);
}

/** Layouts of one shape along a new dimension `at`. */
export function stack(at: number, ...parts: readonly Layout[]): Layout {
  const [first, second, ...more] = parts;
  if (first && second && more.length === 0 && arePlanes(first, second))
    return concatNode(at, [alongNew(first, at), alongNew(second, at)]);
  return concat(at, ...parts.map((part) => repeat(part, at, 1)));
}

/** The stride along a dimension between elements that are in memory; undefined if it is not the same everywhere. */
export function strideAlong(of: Layout, d: number): number | undefined {
  return isPlainLayout(of) && !(of.kind === 'concat' && of.dimension === d) ? plainStride(of, d) : strideInRuns(of, d);
}
