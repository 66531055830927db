/**
 * What one group does with its tile, step by step: copies through shared memory and Stockham passes. How the steps
 * become phases depends on what runs in lockstep: vector-phases.ts and thread-phases.ts.
 */
import type { ArrayRef, ComplexView, Index, Phase, TableBuilder, ViewMap } from '../ir/index.ts';
import type { StockhamLeaf } from '../plan/leaf.ts';

/** A step moves the data of one group from one place to the next. */
export interface Place {
  readonly view: ComplexView;
  readonly shared: boolean;
}

/** A copy, or a pass of some radix after passes whose radices have the product `stride`. */
export type Step =
  | { readonly kind: 'copy' }
  | { readonly kind: 'pass'; readonly radix: number; readonly stride: number };

export interface StepsToBuild {
  readonly leaf: StockhamLeaf;
  readonly steps: readonly Step[];
  readonly tables: TableBuilder;
  /** Transforms in a last tile that is not full. */
  readonly limit: Index | undefined;
  readonly input: Place;
  readonly output: Place;
  /** Multiplies what the last pass stores, where a copy still follows: [element, transform of the tile]. */
  readonly beforeCopy?: ViewMap;
}

export interface BuiltSteps {
  readonly shared: readonly ArrayRef[];
  readonly phases: readonly Phase[];
}

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
