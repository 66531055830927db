/** The places of bins that uploads have left in their own order (`unordered`). */
import { unorderedPlace } from '../numeric/primes.ts';
import { placeInRows } from './schemes/unordered-reals.ts';
import { type BranchNode, isLeaf } from './tree/node.ts';

/** The place of bin k along an axis of a problem. @param tree of either direction */
export function binPlace({ children }: BranchNode, axis: number, k: number): number {
  const node = children.find((child) => child.axisOf === axis && !isLeaf(child)) as BranchNode | undefined;
  if (!node?.left) return k;
  return node.left === 'hermitian' ? placeInRows(k, node.parts!) : unorderedPlace(k, node.parts!);
}
