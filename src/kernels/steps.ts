/**
 * What one group does with its tile, step by step: copies through shared memory and Stockham passes. How the steps
 * become phases depends on what runs in lockstep: vector-phases.ts and thread-phases.ts.
 */
import type { ElementType, Index, Kernel, TableBuilder, ViewMap } from '../ir/index.ts';
import type { StockhamLeaf } from '../plan/leaf.ts';
import type { Sides, Views } from './sides.ts';

/** A copy, or a pass of some radix after passes whose radices have the product `stride`. */
export type Step =
  | { readonly kind: 'copy' }
  | { readonly kind: 'pass'; readonly radix: number; readonly stride: number };

/** What numbers of a precision are in memory. */
export function typeOf(precision: StockhamLeaf['precision']): ElementType {
  return precision === 'single' ? 'f32' : 'f64';
}

export interface StepsToBuild {
  readonly leaf: StockhamLeaf;
  readonly steps: readonly Step[];
  readonly tables: TableBuilder;
  /** Transforms in a last tile that is not full. */
  readonly limit: Index | undefined;
  readonly ends: Ends;
  /** Those of the other way. */
  readonly reverse?: Ends;
  /** The output while passes work in it. */
  readonly inOutput: Sides['inOutput'];
}

/** Where the first step begins and the last one ends. */
export interface Ends extends Views {
  /** Multiplies what the last pass stores, where a copy still follows: [element, transform of the tile]. */
  readonly beforeCopy?: ViewMap;
}

export type BuiltSteps = Pick<Kernel, 'shared' | 'phases' | 'reverse'>;

export function stepsOf(leaf: StockhamLeaf): Step[] {
  const steps: Step[] = [];
  if (leaf.staged.input) steps.push({ kind: 'copy' });
  let stride = 1;
  for (const radix of leaf.radices) {
    steps.push({ kind: 'pass', radix, stride });
    stride *= radix;
  }
  if (leaf.staged.output) steps.push({ kind: 'copy' });
  return steps;
}
