import type { LeafNode } from '../node.ts';

/** Where a launch reads and where it writes. */
export interface LaunchMemory {
  /** It writes the memory that it reads. */
  readonly oneMemory: boolean;
  /** Every element lies at one address on both sides; or, where one side has reals, every line of reals in the memory of its bins. */
  readonly alike: boolean;
}

/**
 * Neighbouring nodes that may be one launch (rocFFT buffer assignment, "FuseShim"). Whoever makes a tree weighs it with and without
 * such a launch, by price; what a shim says is which nodes these are, and where such a launch may write.
 */
export interface Shim {
  readonly name: string;
  /** What would be launches of their own, in their order, and is this leaf; nothing where it is not fused so. */
  joins(leaf: LeafNode): readonly string[];
  /** Whether they may be one launch that reads and writes there. */
  fits(placement: LaunchMemory): boolean;
}

/** Of what is read whole before it is written, line by line. */
export function anywhere({ oneMemory, alike }: LaunchMemory): boolean {
  return !oneMemory || alike;
}

/** Of what is written where others have yet to read. */
export function elsewhere({ oneMemory }: LaunchMemory): boolean {
  return !oneMemory;
}
