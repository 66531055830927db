/** The room's door: one plan leaf in, one kernel out. A new kind of leaf adds a file here and a line below. */
import type { Kernel } from '../ir/index.ts';
import type { Leaf } from '../plan/leaf.ts';
import { fusedKernel } from './fused.ts';
import { stockhamKernel } from './stockham.ts';

export function buildKernel(leaf: Leaf): Kernel {
  return leaf.scheme === 'fused' ? fusedKernel(leaf) : stockhamKernel(leaf);
}
