/** Loop nests with stores → kernels: which loop the lanes run along, and how the other loops are dealt to groups and threads. */

import { guardAt } from '../../../ir/guard.ts';
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
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  sub,
  type Var,
  variable,
} from '../../../ir/index.ts';
import { refusePattern } from '../../../patterns/language/values.ts';
import type { LoopProfile } from '../expressions/loop-profile.ts';
import type { KernelBuilder, LoopNest } from './builder.ts';

/** A kernel and the buffers that it reads, in the order of its globals; the one that it writes comes last. */
export interface LaunchDraft {
  readonly kernel: Kernel;
  readonly reads: readonly string[];
  readonly writes: string;
}

/** The most operations of one kernel. */
const MOST_OPERATIONS = 4096;

/** The wanted number of items of a group. */
export const ITEMS = { vector: 4096, threads: 1024 } as const;

/** The target that kernels are built for. @param newBuffer makes a buffer of a given number of reals, and returns its name */
export interface LoopTarget {
  readonly profile: LoopProfile;
  readonly precision: ElementType;
  newBuffer(reals: number): string;
  /** Records the nest that a kernel was made of. */
  note(kernel: Kernel, nest: LoopNest): void;
  /** Gives up a work-group's array: it has to lie in global memory instead. */
  storeOutside(key: string): never;
}

/** @throws FftError `unsupported-feature` where stores take too many operations for one kernel */
export function refuseLong(stores: readonly Store[]): void {
  const operations = reachable(stores.map(({ value }) => value)).length;
  if (operations <= MOST_OPERATIONS) return;
  refusePattern(
    'program',
    `a kernel of it would have ${operations} operations; ${MOST_OPERATIONS} are the most. toGlobal stores arrays between.`,
  );
}

/** The kernel of a nest of loops that are dealt to groups and threads. */
export function singleDraft(
  builder: KernelBuilder,
  placed: Placed,
  buffers: ReadonlyMap<ArrayRef, string>,
  { precision }: LoopTarget,
): LaunchDraft {
  return draftOf(builder, inOnePhase(placed), buffers, precision);
}

function inOnePhase({ dealt: { loops, lanes, group, threads }, stores }: Placed): PhasesOfKernel {
  return { group, threads, shared: [], phases: [{ loops, lanes, stores, repeatable: true, exchange: 'group' }] };
}

/** Phases of a kernel with its groups, threads and shared arrays. */
export type PhasesOfKernel = Pick<Kernel, 'group' | 'threads' | 'shared' | 'phases'>;

export function draftOf(
  builder: KernelBuilder,
  own: PhasesOfKernel,
  buffers: ReadonlyMap<ArrayRef, string>,
  precision: ElementType,
): LaunchDraft {
  const stores = own.phases.flatMap((phase) => phase.stores);
  const read = new Set<ArrayRef>();
  let hasTable = false;
  for (const node of reachable(stores.map(({ value }) => value))) {
    if (node.op !== 'load') continue;
    if (node.array.space === 'table') hasTable = true;
    else read.add(node.array);
  }
  const written = stores.at(-1)!.array;
  const reads = [...buffers].filter(([array]) => read.has(array));
  const kernel: Kernel = {
    name: 'program',
    precision,
    ...own,
    globals: [...reads.map(([array]) => array), written],
    tables: hasTable ? builder.tables.all() : [],
  };
  return { kernel, reads: reads.map(([, name]) => name), writes: buffers.get(written)! };
}

interface Dealt {
  readonly group: Var;
  readonly loops: readonly Loop[];
  readonly lanes: Var;
  readonly threads: number;
  /** The values of the nest's loop variables, in terms of the group and its items. */
  readonly at: ReadonlyMap<Var, Index>;
}

export interface Nest {
  readonly stores: readonly Store[];
  /** The loop that lanes run along. */
  readonly along: Var | undefined;
  readonly others: readonly Var[];
}

export interface Placed {
  readonly dealt: Dealt;
  readonly stores: readonly Store[];
}

export function untiled(nest: Nest, profile: LoopProfile): Placed {
  const dealt = deal(nest, profile);
  return { dealt, stores: substituted(new Expressions(), nest.stores, dealt.at).stores };
}

/** The values of loop variables, outermost first, for the number of an iteration among all of them. */
export function loopIndices(loops: readonly Var[], number: Index): (readonly [Var, Index])[] {
  let rest = number;
  return [...loops].reverse().map((loop) => {
    const own = mod(rest, loop.count);
    rest = div(rest, loop.count);
    return [loop, own] as const;
  });
}

function deal({ along, others }: Nest, { lockstep, lanes: width, maxThreads, multiprocessors }: LoopProfile): Dealt {
  const count = along?.count ?? 1;
  const rows = others.reduce((product, loop) => product * loop.count, 1);
  // The share of a group that leaves work for every multiprocessor.
  const share = Math.ceil((rows * count) / multiprocessors / (lockstep === 'vector' ? 1 : 4));
  const items = Math.max(width, Math.min(ITEMS[lockstep], share));
  const at = new Map<Var, Index>();
  const rowOf = (row: Index) => {
    for (const [loop, own] of loopIndices(others, row)) at.set(loop, own);
  };
  const threadsFor = (wanted: number) => Math.min(maxThreads, 256, Math.max(1, Math.ceil(wanted / width) * width));
  if (count >= items) {
    const tile = fittingCount(count, items);
    const tiles = Math.ceil(count / tile);
    const group = variable('group', rows * tiles);
    const lanes = variable('lane', tile);
    const begin = scale(mod(index(group), tiles), tile);
    rowOf(div(index(group), tiles));
    if (along) at.set(along, add(begin, lanes));
    const limit = count % tile === 0 ? {} : { limit: sub(count, begin) };
    return { group, loops: [{ variable: lanes, ...limit }], lanes, threads: threadsFor(tile), at };
  }
  const together = fittingCount(rows, Math.max(1, Math.min(rows, Math.floor(items / count))));
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

/** A number near to the wanted one; a divisor of the count where there is one. */
export function fittingCount(count: number, wanted: number): number {
  for (let divisor = wanted; divisor >= wanted / 4; divisor--) if (count % divisor === 0) return divisor;
  return wanted;
}

/** The loop along which neighbouring numbers are stored side by side, unless that loop fills no vector and another loop does. */
export function lanesLoop(loops: readonly Var[], stores: readonly Store[], width: number): Var | undefined {
  const stepOf = (loop: Var) => Math.abs(coefficient(stores[0]!.index, loop) ?? Number.MAX_SAFE_INTEGER);
  const full = loops.filter(({ count }) => count >= width);
  if (full.length > 0) return full.reduce((best, loop) => (stepOf(loop) < stepOf(best) ? loop : best));
  return loops.reduce<Var | undefined>((best, loop) => (!best || loop.count > best.count ? loop : best), undefined);
}

/** Stores whose loop variables have become indices. */
export interface SubstitutedStores {
  readonly stores: readonly Store[];
  /** Any value of the stores, after the substitution. */
  readonly at: (node: Real) => Real;
  /** Any index, after the substitution. */
  readonly place: (of: Index) => Index;
}

/** The same stores with indices in the place of their loop variables. @param x makes the new expressions */
export function substituted(x: Expressions, stores: readonly Store[], by: ReadonlyMap<Var, Index>): SubstitutedStores {
  const substitution = new Substitution(by);
  const place = (of: Index) => substitution.apply(of);
  const made = new Map<Real, Real>();
  const at = (node: Real): Real => {
    let known = made.get(node);
    if (!known) made.set(node, (known = x.rebuilt(node, at, substitution)));
    return known;
  };
  const moved = stores.map((store) => ({
    ...store,
    index: place(store.index),
    value: at(store.value),
    ...(store.guard ? { guard: guardAt(store.guard, substitution) } : {}),
  }));
  return { stores: moved, at, place };
}

/** Solves index = unit · result + part, for an index of reals in units of several reals; undefined if the index has no such form. */
export function inUnits({ constant, terms }: Index, unit: number, part: number): Index | undefined {
  const isWhole = (value: number) => value % unit === 0;
  if (!isWhole(constant - part) || !terms.every(({ factor }) => isWhole(factor))) return undefined;
  return { constant: (constant - part) / unit, terms: terms.map((each) => ({ ...each, factor: each.factor / unit })) };
}
