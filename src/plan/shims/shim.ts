import type { LeafNode } from '../node.ts';

/**
 * What would be kernels of its own and is part of a launch instead (rocFFT buffer assignment, "FuseShim"): what it is
 * called, how many kernels it saves in a leaf, and whether it may be there where the leaf writes the memory that it reads.
 */
export interface Shim {
  readonly name: string;
  saves(leaf: LeafNode): number;
  readonly inPlace: boolean;
}
