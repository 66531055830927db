/**
 * What one group does with its tile, step by step: copies through shared memory and Stockham passes. How the steps
 * become phases depends on what runs in lockstep: vector-phases.ts and stage.ts.
 */

import type { Index, Kernel, TableBuilder, ViewMap } from '../ir/index.ts';
import type { HermitianSplit, LanesAlong, LeafStep, MultiplyStep, PassesStep } from '../plan/tree/leaf.ts';
import type { VectorLeaf } from './vector-leaf.ts';
import type { LeafMemory, Views } from './views.ts';

/** A copy, pairs of bins, matrices, or a pass of some radix after passes whose radices have the product `stride`. */
export type KernelStep =
  | ({ readonly kind: 'pair' } & Omit<HermitianSplit, 'do'>)
  | ({ readonly kind: 'multiply' } & Omit<MultiplyStep, 'do'>)
  /** Only the first `count` points, where those are all that memory has; or only real parts, where the others are zero. */
  | { readonly kind: 'copy'; readonly count?: number; readonly reals?: true }
  | {
      readonly kind: 'pass';
      readonly radix: number;
      readonly stride: number;
      /** The passes it is one of. Which of them run first and last: `opensPasses`, `closesPasses`. */
      readonly of: PassesStep;
    };

export interface StepsToBuild {
  readonly leaf: VectorLeaf;
  readonly steps: readonly KernelStep[];
  readonly tables: TableBuilder;
  /** Transforms in a last tile that is not full. */
  readonly limit: Index | undefined;
  readonly ends: Ends;
  /** Those of the other way. */
  readonly reverse?: Ends;
  /** The output while passes work in it. */
  readonly inOutput: LeafMemory['inOutput'];
  readonly coordinates: LeafMemory['coordinates'];
  readonly kernel: LeafMemory['kernel'];
}

/** Where the first step begins and the last one ends. */
export interface Ends extends Views {
  /** Multiplies what the last pass stores, where a copy still follows: [element, transform of the tile]. */
  readonly beforeCopy?: ViewMap;
}

export type BuiltSteps = Pick<Kernel, 'shared' | 'phases' | 'reverse'>;

/** Which way bins are paired, and what they are multiplied by. */
function kindOf({ do: _, length: __, by: ___, ...kind }: HermitianSplit) {
  return kind;
}

/** Each step by itself: a pass for each radix. */
export function kernelSteps(all: readonly LeafStep[]): KernelStep[] {
  return all.flatMap((step, n): KernelStep[] => {
    if (step.do === 'copy') {
      const [before, after] = [all[n - 1], all[n + 1]];
      if (after?.do === 'passes') return [{ kind: 'copy', ...copied(after, 'read', 'real-input') }];
      return [{ kind: 'copy', ...(before?.do === 'passes' ? copied(before, 'write', 'real-output') : {}) }];
    }
    if (step.do === 'multiply') return [{ kind: 'multiply', kernel: step.kernel }];
    if (step.do === 'pair') return [{ kind: 'pair', length: step.length, by: step.by, ...kindOf(step) }];
    return passSteps(step);
  });
}

/** What a copy before or after passes moves. @param ofReals the symmetry that has reals on that end, and half of the bins on the other. */
function copied(
  { radices, symmetry, ...ends }: PassesStep,
  end: 'read' | 'write',
  ofReals: NonNullable<PassesStep['symmetry']>,
): { readonly count?: number; readonly reals?: true } {
  if (symmetry === ofReals) return { reals: true };
  const bins = symmetry && Math.floor(radices.reduce((product, radix) => product * radix, 1) / 2) + 1;
  const count = bins ?? ends[end]?.count;
  return count === undefined ? {} : { count };
}

function passSteps(of: PassesStep): KernelStep[] {
  if (of.symmetry && of.radices.length > 1 && of.radices.some((radix) => radix % 2 === 0)) {
    throw new RangeError(`passes over reals with the radices ${of.radices.join('·')}: several have to be odd`);
  }
  let stride = 1;
  const passes = of.radices.map((radix): KernelStep => {
    const pass: KernelStep = { kind: 'pass', radix, stride, of };
    stride *= radix;
    return pass;
  });
  // From bins to reals the passes undo those from reals to bins, the last one first.
  return of.symmetry === 'real-output' ? passes.reverse() : passes;
}

type Pass = Extract<KernelStep, { kind: 'pass' }>;

/** Whether a pass is the first one of its transform. @param length of the transform */
export function opensPasses({ radix, stride, of }: Pass, length: number): boolean {
  return of.symmetry === 'real-output' ? radix * stride === length : stride === 1;
}

/** Whether a pass is the last one of its transform. @param length of the transform */
export function closesPasses({ radix, stride, of }: Pass, length: number): boolean {
  return of.symmetry === 'real-output' ? stride === 1 : radix * stride === length;
}

/** Along what neighbouring threads walk in a step: along the memory that it touches, if it touches any. */
export function alongOf(lanesAlong: PassesStep['lanesAlong'], steps: readonly KernelStep[], n: number): LanesAlong {
  if (n === 0) return lanesAlong.input;
  if (n === steps.length - 1) return lanesAlong.output;
  if (lanesAlong.input === lanesAlong.output) return lanesAlong.input;
  // In between both ways are open; columns need no padding.
  return steps.some(({ kind }) => kind === 'copy') ? 'batch' : lanesAlong.output;
}
