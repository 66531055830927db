/**
 * The kernel of a launch that multiplies channels by matrices: y[o] = Σ x[i] · w[i, o] at each bin of each batch. An item computes a block
 * of channels and batches. Sums over channels are loops or phases of a few terms each, which keep partial sums in shared memory.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  coordinates,
  Expressions,
  type Guard,
  type Index,
  type IndexLike,
  index,
  type Kernel,
  type Loop,
  type Phase,
  scale,
  sub,
  TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import type { Leaf, MixStep } from '../plan/tree/leaf.ts';
import type { BuiltSteps } from './passes/steps.ts';
import { LayoutView } from './views/layout-view.ts';
import { numberTypeOf } from './views/number-types.ts';
import { type CommonArrays, leafMemory } from './views/sides.ts';
import { conjugated } from './views/views.ts';

export function mixKernel(leaf: Leaf, step: MixStep): Kernel {
  const group = variable(
    'group',
    groupCounts(leaf, step).reduce((a, b) => a * b, 1),
  );
  const tables = new TableBuilder(numberTypeOf(leaf.precision));
  const { globals, ...built } = mixPhases(leaf, step, { group, tables });
  return {
    ...{ name: `mix${step.in}x${step.out}`, precision: numberTypeOf(leaf.precision), group },
    ...{ threads: leaf.threads, globals, aliased: leaf.aliased, tables: tables.all() },
    ...built,
  };
}

/** The phases of a leaf that mixes channels, and the global arrays that they access. @param common only for one of several leaves */
export function mixPhases(
  leaf: Leaf,
  step: MixStep,
  { group, tables, common }: { readonly group: Var; readonly tables: TableBuilder; readonly common?: CommonArrays },
): BuiltSteps & Pick<Kernel, 'globals'> {
  const grid = gridOf(leaf, step, group);
  // The views get coordinates in the whole batch, so the first transform of a tile is 0.
  const sides = leafMemory(leaf, { first: index(0), outer: [] }, tables, common);
  const { input, output } = sides.views(leaf);
  const kernel = sides.kernel!;
  const numbers = new LayoutView({
    ...{ layout: step.layout, arrays: new Map([[kernel.name, kernel]]), batch: leaf.batch.length },
    coordinates: (at) => at,
    table: () => {
      throw new RangeError('The numbers of a kernel come in no order that needs a table.');
    },
  });
  const shared = partialSums(leaf, step);
  const round = variable('i', step.in);
  const phases = termRanges(step).map(([from, to], n, all): Phase => {
    const x = new Expressions();
    const own: TermRange = { from, to, first: n === 0, last: n === all.length - 1 };
    const stores = cellsOf(step).flatMap((cell) => {
      const sum = channelSum(x, { step, grid, input, numbers, cell, piece: own, round });
      const kept = shared && partialSumAt(shared, grid, step, cell);
      const whole = kept && !own.first ? x.cadd(kept.load(x, []), sum) : sum;
      if (kept && !own.last) return kept.store(x, [], whole);
      const at = resultPlace(grid, step, cell);
      return output.store(x, [at.out, ...at.batch], whole, at.guard);
    });
    return {
      ...{ loops: grid.loops, lanes: grid.lane, stores, steps: x.steps },
      repeatable: !shared || own.first,
      ...(shared && !own.first && !own.last ? { inPlace: 1 } : {}),
      exchange: 'group',
    };
  });
  return { globals: sides.globals, shared: shared ? [shared] : [], phases };
}

/** The loops of a group. */
interface MixGrid {
  readonly loops: readonly Loop[];
  readonly lane: Var;
  /** The block of channels and the block of batches that an item computes. */
  readonly out: Index;
  readonly batches: Index;
  /** The variables that count the blocks of a group. */
  readonly own: { readonly out: Var; readonly batches: Var };
  /** The coordinates in all batch dimensions but the last. */
  readonly bin: readonly Index[];
  readonly counts: { readonly out: number; readonly batches: number };
}

/** The groups along each batch dimension but the last, along channels, and along the last batch dimension. */
function groupCounts({ batch, tile }: Leaf, { out, block, blocks }: MixStep): number[] {
  const [lanes, ...middle] = batch.slice(0, -1) as [number, ...number[]];
  const all = { out: Math.ceil(out / block.out), batches: Math.ceil(batch.at(-1)! / block.batches) };
  return [Math.ceil(lanes / tile), ...middle, all.out / blocks.out, all.batches / blocks.batches];
}

function gridOf(leaf: Leaf, step: MixStep, group: Var): MixGrid {
  const { batch, tile } = leaf;
  const { out, blocks } = step;
  const [lanes, batches] = [batch[0]!, batch.at(-1)!];
  const at = coordinates(group, groupCounts(leaf, step));
  const lane = variable('m', tile);
  const own = { out: variable('o', blocks.out), batches: variable('b', blocks.batches) };
  const first = scale(at[0]!, tile);
  const limit = lanes % tile === 0 ? {} : { limit: sub(lanes, first) };
  return {
    ...{ lane, own, counts: { out, batches } },
    loops: [{ variable: own.out }, { variable: own.batches }, { variable: lane, ...limit }],
    out: add(scale(at.at(-2)!, blocks.out), own.out),
    batches: add(scale(at.at(-1)!, blocks.batches), own.batches),
    bin: [add(first, lane), ...at.slice(1, -2)],
  };
}

/** One number of a block. */
interface Cell {
  readonly out: number;
  readonly batch: number;
}

function cellsOf({ block }: MixStep): Cell[] {
  return Array.from({ length: block.out * block.batches }, (_, n) => ({
    out: Math.floor(n / block.batches),
    batch: n % block.batches,
  }));
}

/** The coordinates of a result in a block, and its guards: the last block may be partial. */
function resultPlace({ out, batches, bin, counts }: MixGrid, { block }: MixStep, cell: Cell) {
  const [o, b] = [add(scale(out, block.out), cell.out), add(scale(batches, block.batches), cell.batch)];
  const guardOut: Guard = counts.out % block.out === 0 ? [] : [{ index: o, from: 0, to: counts.out }];
  const guardBatch: Guard = counts.batches % block.batches === 0 ? [] : [{ index: b, from: 0, to: counts.batches }];
  return { out: o, batch: [...bin, b], guard: [...guardOut, ...guardBatch], guardOut, guardBatch };
}

/** A range of terms of a sum that one phase adds up. */
interface TermRange {
  readonly from: number;
  readonly to: number;
  readonly first: boolean;
  readonly last: boolean;
}

function termRanges({ in: count, terms }: MixStep): (readonly [from: number, to: number])[] {
  if (terms === undefined) return [[0, count]];
  return Array.from({ length: Math.ceil(count / terms) }, (_, n) => [n * terms, Math.min(count, (n + 1) * terms)]);
}

interface ChannelSum {
  readonly step: MixStep;
  readonly grid: MixGrid;
  readonly input: ComplexView;
  readonly numbers: LayoutView;
  readonly cell: Cell;
  readonly piece: TermRange;
  /** The loop variable over the channels of the signal. All sums of an item use it, so they share one loop. */
  readonly round: Var;
}

function channelSum(x: Expressions, { step, grid, input, numbers, cell, piece, round }: ChannelSum): Complex {
  const { out, batch, guardOut, guardBatch } = resultPlace(grid, step, cell);
  const term = (i: IndexLike): Complex => {
    const bin = input.load(x, [i, ...batch], guardBatch);
    const factor = numbers.load(x, [...batch, i, out], guardOut);
    return x.cmul(
      step.conjugate === 'signal' ? conjugated(x, bin) : bin,
      step.conjugate === 'kernel' ? conjugated(x, factor) : factor,
    );
  };
  if (step.terms === undefined) {
    const { re, im } = term(index(round));
    return { re: x.sum(round, re), im: x.sum(round, im) };
  }
  let total = term(piece.from);
  for (let i = piece.from + 1; i < piece.to; i++) total = x.cadd(total, term(i));
  return total;
}

/** The shared array of partial sums: reals of all blocks of a group, bins fastest. Undefined if one phase adds up all terms. */
function partialSums({ precision, tile }: Leaf, step: MixStep): ArrayRef | undefined {
  if (termRanges(step).length === 1) return undefined;
  const { block, blocks } = step;
  const length = 2 * tile * block.out * block.batches * blocks.out * blocks.batches;
  return { name: 'sums', space: 'shared', type: numberTypeOf(precision), length };
}

function partialSumAt(array: ArrayRef, { lane, own }: MixGrid, { block, blocks }: MixStep, cell: Cell): ComplexView {
  const number = add(
    cell.batch + block.batches * cell.out,
    scale(add(own.batches, scale(index(own.out), blocks.batches)), block.batches * block.out),
  );
  const re = add(lane, scale(number, 2 * lane.count));
  const im = add(re, lane.count);
  return {
    load: (x) => ({ re: x.load(array, re), im: x.load(array, im) }),
    store: (_, __, value) => [
      { array, index: re, value: value.re },
      { array, index: im, value: value.im },
    ],
  };
}
