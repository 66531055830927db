/** Loop nests with stores → kernels: which loop the lanes run along, and how the other loops are dealt to groups and threads. */

import { guardAt } from '../../ir/guard.ts';
import {
  type ArrayRef,
  add,
  coefficient,
  div,
  type ElementType,
  Expressions,
  type Index,
  index,
  type Kernel,
  type Loop,
  mod,
  type Phase,
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  sub,
  type Var,
  variable,
} from '../../ir/index.ts';
import { unsupported } from '../../patterns/values.ts';
import type { KernelBuilder, LoopNest } from './builder.ts';
import type { LoopProfile } from './loop-profile.ts';

/** A kernel and the buffers that it reads, in the order of its globals; the one that it writes comes last. */
export interface LaunchDraft {
  readonly kernel: Kernel;
  readonly reads: readonly string[];
  readonly writes: string;
}

/** Operations of one kernel at most. */
const MOST_OPERATIONS = 4096;

/** Items of a group, where there are enough of them. */
const ITEMS = { vector: 4096, threads: 1024 } as const;

export function kernelsOf(builder: KernelBuilder, profile: LoopProfile, precision: ElementType): LaunchDraft[] {
  return builder.nests.map((nest) => {
    const operations = reachable(nest.stores.map(({ value }) => value)).length;
    if (operations > MOST_OPERATIONS) {
      unsupported(
        'program',
        `a kernel of it would have ${operations} operations; ${MOST_OPERATIONS} are the most. toGlobal stores arrays between.`,
      );
    }
    return kernelOf(builder, nest, profile, precision);
  });
}

function kernelOf(builder: KernelBuilder, nest: LoopNest, profile: LoopProfile, precision: ElementType): LaunchDraft {
  const dealt = deal(nest, profile);
  const stores = again(nest.stores, dealt.at);
  const read = new Set<ArrayRef>();
  let hasTable = false;
  for (const node of reachable(stores.map(({ value }) => value))) {
    if (node.op !== 'load') continue;
    if (node.array.space === 'table') hasTable = true;
    else read.add(node.array);
  }
  const written = stores[0]!.array;
  const buffers = [...builder.memory];
  const reads = buffers.filter(([, array]) => read.has(array));
  const phase: Phase = { loops: dealt.loops, lanes: dealt.lanes, stores, repeatable: true, exchange: 'group' };
  const kernel: Kernel = {
    name: 'program',
    precision,
    group: dealt.group,
    threads: dealt.threads,
    globals: [...reads.map(([, array]) => array), written],
    tables: hasTable ? builder.tables.all() : [],
    shared: [],
    phases: [phase],
  };
  return { kernel, reads: reads.map(([name]) => name), writes: buffers.find(([, array]) => array === written)![0] };
}

interface Dealt {
  readonly group: Var;
  readonly loops: readonly Loop[];
  readonly lanes: Var;
  readonly threads: number;
  /** What the loops of the nest are, in terms of the group and its items. */
  readonly at: ReadonlyMap<Var, Index>;
}

function deal(
  { loops, stores }: LoopNest,
  { lockstep, lanes: width, maxThreads, multiprocessors }: LoopProfile,
): Dealt {
  const along = lanesLoop(loops, stores, width);
  const count = along?.count ?? 1;
  const others = loops.filter((loop) => loop !== along);
  const rows = others.reduce((product, loop) => product * loop.count, 1);
  // Every multiprocessor has something to do.
  const share = Math.ceil((rows * count) / multiprocessors / (lockstep === 'vector' ? 1 : 4));
  const items = Math.max(width, Math.min(ITEMS[lockstep], share));
  const at = new Map<Var, Index>();
  const rowOf = (row: Index) => {
    let rest = row;
    for (const loop of [...others].reverse()) {
      at.set(loop, mod(rest, loop.count));
      rest = div(rest, loop.count);
    }
  };
  const threadsFor = (wanted: number) => Math.min(maxThreads, 256, Math.max(1, Math.ceil(wanted / width) * width));
  if (count >= items) {
    const tile = fitting(count, items);
    const tiles = Math.ceil(count / tile);
    const group = variable('group', rows * tiles);
    const lanes = variable('lane', tile);
    const begin = scale(mod(index(group), tiles), tile);
    rowOf(div(index(group), tiles));
    if (along) at.set(along, add(begin, lanes));
    const limit = count % tile === 0 ? {} : { limit: sub(count, begin) };
    return { group, loops: [{ variable: lanes, ...limit }], lanes, threads: threadsFor(tile), at };
  }
  const together = fitting(rows, Math.max(1, Math.min(rows, Math.floor(items / count))));
  const group = variable('group', Math.ceil(rows / together));
  const [row, lanes] = [variable('row', together), variable('lane', count)];
  const begin = scale(index(group), together);
  rowOf(add(begin, row));
  if (along) at.set(along, index(lanes));
  const limit = rows % together === 0 ? {} : { limit: sub(rows, begin) };
  return {
    group,
    loops: [{ variable: row, ...limit }, { variable: lanes }],
    lanes,
    threads: threadsFor(together * count),
    at,
  };
}

/** A number near to what is wanted; a divisor of the count where there is one. */
function fitting(count: number, wanted: number): number {
  for (let divisor = wanted; divisor >= wanted / 4; divisor--) if (count % divisor === 0) return divisor;
  return wanted;
}

/** The loop along which neighbours are stored side by side, unless it fills no vector and another one does. */
function lanesLoop(loops: readonly Var[], stores: readonly Store[], width: number): Var | undefined {
  const stepOf = (loop: Var) => Math.abs(coefficient(stores[0]!.index, loop) ?? Number.MAX_SAFE_INTEGER);
  const full = loops.filter(({ count }) => count >= width);
  if (full.length > 0) return full.reduce((best, loop) => (stepOf(loop) < stepOf(best) ? loop : best));
  return loops.reduce<Var | undefined>((best, loop) => (!best || loop.count > best.count ? loop : best), undefined);
}

/** The same stores at other indices. */
function again(stores: readonly Store[], by: ReadonlyMap<Var, Index>): Store[] {
  const x = new Expressions();
  const at = new Substitution(by);
  const made = new Map<Real, Real>();
  const make = (node: Real): Real => {
    let known = made.get(node);
    if (!known) made.set(node, (known = x.rebuilt(node, make, at)));
    return known;
  };
  return stores.map((store) => ({
    ...store,
    index: at.apply(store.index),
    value: make(store.value),
    ...(store.guard ? { guard: guardAt(store.guard, at) } : {}),
  }));
}
