/** The room's door: one plan leaf in, one kernel out. A new kind of leaf adds a file here and a line below. */
import type { Kernel } from '../ir/index.ts';
import type { StockhamLeaf } from '../plan/leaf.ts';
import { stockhamKernel } from './stockham.ts';

/** Every kind of leaf that a plan can hold. */
export type Leaf = StockhamLeaf;

export function buildKernel(leaf: Leaf): Kernel {
  return stockhamKernel(leaf);
}
