/**
 * The constructors and the question that plans of any kind use. Memory by itself, which is most of what they read and write, goes a short
 * way here; everything else goes through the normal form, which pages load only when a problem needs it.
 */
import { concat, repeat } from './constructors.ts';
import type { Layout } from './layout.ts';
import { concatNode } from './nodes.ts';
import { joined } from './normal-form.ts';
import { alongNew, dimensionLength, isPair, isPlainLayout, joinedMemory, plainStride } from './plain.ts';
import { strideInRuns } from './runs.ts';

/** Dimensions `d` and `d` + 1, of lengths a and b → a·b. Index i is at i div b, i mod b. */
export function join(of: Layout, d: number): Layout {
  dimensionLength(of, d, 'join');
  dimensionLength(of, d + 1, 'join with the dimension before it');
  if (of.kind !== 'memory' || of.shape[d]! < 2 || of.shape[d + 1]! < 2) return joined(d, of);
  return joinedMemory(of, d);
}

/** Layouts of one shape along a new dimension `at`. */
export function stack(at: number, ...parts: readonly Layout[]): Layout {
  const [first, second, ...more] = parts;
  if (first && second && more.length === 0 && isPair(first, second))
    return concatNode(at, [alongNew(first, at), alongNew(second, at)]);
  return concat(at, ...parts.map((part) => repeat(part, at, 1)));
}

/** From an element to another one in memory along a dimension, for each step: undefined where that is not one number. */
export function strideOf(of: Layout, d: number): number | undefined {
  return isPlainLayout(of) && !(of.kind === 'concat' && of.dimension === d) ? plainStride(of, d) : strideInRuns(of, d);
}
