/**
 * The steps of a group on its tile: copies through shared memory, Stockham passes, the Hermitian split and products with matrices.
 * Vectors (vector-phases.ts) and threads (stage.ts) turn steps into phases in different ways.
 */

import type { ArrayRef, Index, Kernel, TableBuilder, ViewMap } from '../../ir/index.ts';
import type { HermitianSplit, LanesAlong, LeafStep, MultiplyStep, PassesStep } from '../../plan/tree/leaf.ts';
import type { LeafMemory, Views } from '../views/views.ts';
import { type RaderStep, raderSteps } from './rader-pass.ts';
import type { VectorLeaf } from './vector-form.ts';

/** A Hermitian split, a product with matrices, a copy, or a pass that follows passes whose radices have the product `stride`. */
export type KernelStep =
  | ({ readonly kind: 'hermitian-split' } & Omit<HermitianSplit, 'do'>)
  | ({ readonly kind: 'multiply' } & Omit<MultiplyStep, 'do'>)
  /** Moves only the first `count` points if memory has no others, or only real parts if imaginary parts are zero. */
  | { readonly kind: 'copy'; readonly count?: number; readonly reals?: true }
  | {
      readonly kind: 'pass';
      readonly radix: number;
      readonly stride: number;
      /** The passes of the transform; `opensPasses` and `closesPasses` tell whether this is the first or the last one. */
      readonly passes: PassesStep;
    }
  | RaderStep;

export interface StepsToBuild {
  readonly leaf: VectorLeaf;
  readonly steps: readonly KernelStep[];
  readonly tables: TableBuilder;
  /** Transforms that remain for a tile (`Tiles.limit`). */
  readonly limit: Index | undefined;
  readonly ends: Ends;
  /** The ends of the opposite direction, if the kernel serves both. */
  readonly reverse?: Ends;
  /** A view of the output as the working array of passes. */
  readonly inOutput: LeafMemory['inOutput'];
  readonly coordinates: LeafMemory['coordinates'];
  readonly kernel: LeafMemory['kernel'];
  /** Shared arrays that the launch has already, and that these steps may use again. */
  readonly arrays: readonly ArrayRef[];
}

/** A shared array, or the one of that name that the launch has already, if it is long enough. */
export function reused(array: ArrayRef, arrays: readonly ArrayRef[]): ArrayRef {
  const known = arrays.find(({ name }) => name === array.name);
  if (!known) return array;
  return known.length! >= array.length! ? known : { ...array, name: `${array.name}2` };
}

/** The views that the first step loads from and the last step stores to. */
export interface Ends extends Views {
  /** Multiplies what the last pass stores before the final copy, at coordinates [element, transform of the tile]. */
  readonly beforeCopy?: ViewMap;
}

export type BuiltSteps = Pick<Kernel, 'shared' | 'phases' | 'reverse'>;

/** The optional fields of a Hermitian split: its direction and the convolution kernel. */
function splitOptions({ do: _, length: __, by: ___, ...kind }: HermitianSplit) {
  return kind;
}

/** The steps of a leaf as steps of a kernel, which have one pass for each radix. */
export function kernelSteps(all: readonly LeafStep[]): KernelStep[] {
  return all.flatMap((step, n): KernelStep[] => {
    if (step.do === 'copy') {
      const [before, after] = [all[n - 1], all[n + 1]];
      if (after?.do === 'passes') return [{ kind: 'copy', ...copied(after, 'read', 'real-input') }];
      return [{ kind: 'copy', ...(before?.do === 'passes' ? copied(before, 'write', 'real-output') : {}) }];
    }
    // Mixing channels and sums over bins are kernels of their own; the passes of such a launch are steps of other leaves.
    if (step.do === 'mix' || step.do === 'layer' || step.do === 'bands') return [];
    if (step.do === 'multiply') return [{ kind: 'multiply', kernel: step.kernel }];
    if (step.do === 'hermitian-split')
      return [{ kind: 'hermitian-split', length: step.length, by: step.by, ...splitOptions(step) }];
    return passSteps(step);
  });
}

/** The points that a copy before or after passes moves. @param ofReals symmetry of passes with reals, not bins, on that side */
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

function passSteps(passes: PassesStep): KernelStep[] {
  if (passes.symmetry && passes.radices.length > 1 && passes.radices.some((radix) => radix % 2 === 0)) {
    throw new RangeError(`passes over reals with the radices ${passes.radices.join('·')}: several have to be odd`);
  }
  let stride = 1;
  const steps = passes.radices.flatMap((radix): KernelStep[] => {
    const rader = passes.rader?.find(({ prime }) => prime === radix);
    const own: KernelStep[] = rader ? raderSteps(rader, stride, passes) : [{ kind: 'pass', radix, stride, passes }];
    stride *= radix;
    return own;
  });
  // Passes from bins to reals invert the passes from reals to bins, the last one first.
  return passes.symmetry === 'real-output' ? steps.reverse() : steps;
}

/** Whether a step is the first one of the passes of its transform. @param length of the transform */
export function opensPasses(step: KernelStep, length: number): boolean {
  if (step.kind === 'rader') return step.opens && step.stride === 1;
  if (step.kind !== 'pass') return false;
  const { radix, stride, passes } = step;
  return passes.symmetry === 'real-output' ? radix * stride === length : stride === 1;
}

/** Whether a step is the last one of the passes of its transform. @param length of the transform */
export function closesPasses(step: KernelStep, length: number): boolean {
  if (step.kind === 'rader') return step.closes && step.prime * step.stride === length;
  if (step.kind !== 'pass') return false;
  const { radix, stride, passes } = step;
  return passes.symmetry === 'real-output' ? stride === 1 : radix * stride === length;
}

/** The dimension along which neighbouring threads walk in step `n`: along neighbours in global memory, if the step accesses it. */
export function alongOf(lanesAlong: PassesStep['lanesAlong'], steps: readonly KernelStep[], n: number): LanesAlong {
  if (n === 0) return lanesAlong.input;
  if (n === steps.length - 1) return lanesAlong.output;
  if (lanesAlong.input === lanesAlong.output) return lanesAlong.input;
  // Between the first and the last step, either is possible; columns need no padding.
  return steps.some(({ kind }) => kind === 'copy') ? 'batch' : lanesAlong.output;
}

/** Whether step n reads or writes global memory. */
export function touchesMemory(steps: readonly KernelStep[], n: number): boolean {
  const step = steps[n]!;
  return n === 0 || n === steps.length - 1 || ('passes' in step && step.passes.write?.origin !== undefined);
}

/** The data in shared memory between two steps: complex points, bins of real data, or reals. */
export type Content = 'points' | 'bins' | 'reals';

/** The data that step n hands to the step after it. */
export function contentOf(steps: readonly KernelStep[], n: number): Content {
  const beside = [steps[n]!, steps[n + 1]!];
  if (beside.some((step) => step.kind === 'copy' && step.reals)) return 'reals';
  return besideSplit(steps, n) || beside.some((step) => step.kind === 'pass' && step.passes.symmetry)
    ? 'bins'
    : 'points';
}

/** Whether step n or the step after it is a Hermitian split. */
export function besideSplit(steps: readonly KernelStep[], n: number): boolean {
  return steps[n]!.kind === 'hermitian-split' || steps[n + 1]!.kind === 'hermitian-split';
}
