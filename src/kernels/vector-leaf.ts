/** A leaf for vectors, with the fields of its passes. */

import { allInMemory } from '../layout/index.ts';
import { type Leaf, type PassesStep, passesOf, stagedOf } from '../plan/tree/leaf.ts';

export function vectorLeaf(leaf: Leaf): VectorLeaf {
  const [{ radices, convolved = [], rader = [], lanesAlong, symmetry, read, write }, ...more] = passesOf(leaf) as [
    PassesStep,
    ...PassesStep[],
  ];
  const sides = [leaf.input, leaf.output];
  const plain =
    !read &&
    !write &&
    more.length === 0 &&
    sides.every(({ layout, format, factors }) => !factors && format !== 'real' && allInMemory(layout));
  const passes = { radices, convolved, rader, lanesAlong, ...(symmetry ? { symmetry } : {}) };
  return { ...leaf, length: leaf.lengths[0]!, ...passes, plain, staged: stagedOf(leaf) };
}

/** A leaf for vectors: all its passes go along one axis. */
export interface VectorLeaf
  extends Leaf,
    Pick<PassesStep, 'radices' | 'lanesAlong' | 'convolved' | 'rader' | 'symmetry'> {
  readonly length: number;
  /** One transform whose points are all in memory and are loaded and stored unchanged, without factors. */
  readonly plain: boolean;
  readonly staged: ReturnType<typeof stagedOf>;
}
