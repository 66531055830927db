/**
 * Work-groups of programs as kernels: each iteration of a `mapWorkgroup` is a group, each array in its memory a phase that stores it. Arrays that are
 * not needed at the same time share the same memory.
 */
import {
  type ArrayRef,
  add,
  coefficient,
  div,
  type ElementType,
  Expressions,
  evaluate,
  guardAt,
  type Index,
  index,
  type LoadNode,
  type Phase,
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  storageBytes,
  type Var,
  variable,
} from '../../../ir/index.ts';
import { beyondDevice } from '../../../patterns/language/values.ts';
import { chooseLayout, type SharedLayout, spanOf, type WaveAccess } from '../../threads/banks.ts';
import type { WorkGroup } from '../expressions/environment.ts';
import type { LoopProfile } from '../expressions/loop-profile.ts';
import type { KernelBuilder, LoopNest } from './builder.ts';
import { inUnits, type LoopTarget, lanesLoop, loopIndices, type PhasesOfKernel } from './loops.ts';

/** Threads of a work-group at most, even if the device allows more, so that registers suffice for a butterfly in each thread. */
const MOST_THREADS = 512;

/** The number of accesses per phase that an array's layout is chosen by. */
const SAMPLES = 8;

/** @throws FftError `device-limit` where arrays that a program keeps in the memory of a group are too large for it */
export function phasesOfGroup(
  builder: KernelBuilder,
  group: WorkGroup,
  nests: readonly LoopNest[],
  target: LoopTarget,
): PhasesOfKernel {
  return new GroupKernel(builder, group, nests, target).made();
}

/** Loops and stores of a phase, before arrays in the group's memory have places. */
interface Part {
  /** The loops of the phase; neighbouring threads run along the innermost one, which is last. */
  readonly loops: readonly Var[];
  readonly stores: readonly Store[];
  readonly nodes: readonly Real[];
  /** Iterations of all loops, and of the loops that one item runs through itself. */
  readonly items: number;
  readonly sequential: number;
}

/** A range of shared memory that several arrays use in turn. */
interface Slot {
  length: number;
  /** The last phase that needs the slot's present array. */
  end: number;
}

interface Placed {
  readonly slot: Slot;
  readonly layout: SharedLayout | undefined;
  readonly words: number;
}

class GroupKernel {
  private readonly builder: KernelBuilder;
  private readonly group: WorkGroup;
  private readonly target: LoopTarget;
  private readonly parts: readonly Part[];
  private readonly threads: number;
  private readonly slots: Slot[] = [];
  private readonly placed = new Map<ArrayRef, Placed>();
  /** Phases that store into the memory that they read. */
  private readonly readsFirst = new Set<number>();

  constructor(builder: KernelBuilder, group: WorkGroup, nests: readonly LoopNest[], target: LoopTarget) {
    this.builder = builder;
    this.group = group;
    this.target = target;
    this.parts = nests.map((nest) => phasePart(nest, builder.sequential, target.profile));
    this.threads = threadsOfGroup(this.parts, target.profile);
    this.parts.forEach((part, n) => {
      for (const { array } of part.stores)
        if (array.space === 'shared' && !this.placed.has(array)) this.place(array, n);
    });
  }

  made(): PhasesOfKernel {
    const { target, threads, slots } = this;
    this.refuseLarge();
    const { loops, iterations } = this.group;
    const group = variable('group', iterations);
    const arrays = slots.map(({ length }, n): ArrayRef => {
      return { name: `shared${n}`, space: 'shared', type: target.precision, guarded: true, length };
    });
    const at = new Substitution(new Map(loopIndices(loops, index(group))));
    const phases = this.parts.map((part, n) => this.phaseOf(part, n, at, arrays));
    return { group, threads, shared: arrays, phases };
  }

  private place(array: ArrayRef, first: number): void {
    const { precision, profile } = this.target;
    const touches = this.parts.map(({ stores, nodes }) =>
      [...stores, ...nodes.filter(isLoad)].filter((access) => access.array === array).map((access) => access.index),
    );
    const end = touches.findLastIndex((each) => each.length > 0);
    const words = this.builder.wordsOf(array);
    const elements = array.length! / words;
    const layout =
      profile.banks > 1
        ? layoutOf(this.parts, touches, elements, wordsAtOnce(profile, precision, words), words)
        : undefined;
    const length = words * (layout ? spanOf(layout, { length: elements, columns: 1 }) : elements);
    let slot = this.slots.find((each) => each.end < first || (each.end === first && this.mayReadFirst(first)));
    if (slot?.end === first) this.readsFirst.add(first);
    if (!slot) this.slots.push((slot = { length, end }));
    slot.length = Math.max(slot.length, length);
    slot.end = end;
    this.placed.set(array, { slot, layout, words });
  }

  /** Whether all threads can load everything that a phase reads before any of them stores. */
  private mayReadFirst(n: number): boolean {
    const { items, nodes } = this.parts[n]!;
    const { doubleBuffered, lockstep } = this.target.profile;
    return lockstep === 'threads' && !doubleBuffered && items <= this.threads && !nodes.some(({ op }) => op === 'fold');
  }

  private refuseLarge(): void {
    const { profile, precision, storeOutside } = this.target;
    const bytes = this.slots.reduce((sum, { length }) => sum + length, 0) * storageBytes(precision);
    if (profile.lockstep === 'vector' || bytes <= profile.sharedBytes) return;
    for (const [key, { isChosen }] of this.group.arrays) if (isChosen) storeOutside(key);
    beyondDevice(
      'toLocal',
      `a work-group of the program needs ${bytes} bytes of shared memory, and the device has ${profile.sharedBytes}; ` +
        'shorter rows for mapWorkgroup take less, and toGlobal stores arrays outside.',
    );
  }

  private phaseOf(part: Part, n: number, at: Substitution, arrays: readonly ArrayRef[]): Phase {
    const x = new Expressions();
    const moved = (array: ArrayRef, place: Index): readonly [ArrayRef, Index] => {
      const own = this.placed.get(array);
      const to = at.apply(place);
      return own ? [arrays[this.slots.indexOf(own.slot)]!, laidOut(to, own)] : [array, to];
    };
    const made = new Map<Real, Real>();
    const make = (node: Real): Real => {
      let known = made.get(node);
      if (!known) {
        const isShared = node.op === 'load' && node.array.space === 'shared';
        known = isShared
          ? x.load(...moved(node.array, node.index), node.guard && guardAt(node.guard, at))
          : x.rebuilt(node, make, at);
        made.set(node, known);
      }
      return known;
    };
    const stores = part.stores.map(({ array, index: place, value, guard }): Store => {
      const [to, where] = moved(array, place);
      return { array: to, index: where, value: make(value), ...(guard ? { guard: guardAt(guard, at) } : {}) };
    });
    const loops = part.loops.length > 0 ? part.loops : [variable('item', 1)];
    const first = this.readsFirst.has(n);
    return {
      loops: loops.map((loop) => ({ variable: loop })),
      lanes: loops.at(-1)!,
      stores,
      repeatable: !first,
      ...(first ? { readsFirst: true } : {}),
      exchange: 'group',
    };
  }
}

const isLoad = (node: Real): node is LoadNode => node.op === 'load';

const iterationCount = (loops: readonly Var[]) => loops.reduce((all, { count }) => all * count, 1);

function phasePart({ loops, stores, group }: LoopNest, sequential: ReadonlySet<Var>, profile: LoopProfile): Part {
  const own = loops.filter((loop) => !group!.loops.includes(loop));
  const nodes = reachable(stores.map(({ value }) => value));
  const inItem = own.filter((loop) => sequential.has(loop));
  const dealt = own.filter((loop) => !sequential.has(loop));
  const ordered =
    profile.lockstep === 'threads'
      ? byStep(dealt, stores, nodes)
      : lanesLast(dealt, lanesLoop(dealt, stores, profile.lanes));
  return {
    loops: [...inItem, ...ordered],
    stores,
    nodes,
    items: iterationCount(own),
    sequential: iterationCount(inItem),
  };
}

function lanesLast(loops: readonly Var[], lanes: Var | undefined): Var[] {
  return [...loops.filter((loop) => loop !== lanes), ...(lanes ? [lanes] : [])];
}

/** Sorts loops by their step through global memory, the smallest step last, so that neighbouring threads access neighbouring numbers. */
function byStep(loops: readonly Var[], stores: readonly Store[], nodes: readonly Real[]): Var[] {
  const reads = nodes.filter(isLoad).find(({ array, index: at }) => {
    return array.space === 'global' && loops.some((loop) => coefficient(at, loop) !== 0);
  });
  const [store] = stores as [Store];
  const main = store.array.space === 'global' ? store.index : (reads ?? store).index;
  const stepOf = (loop: Var) => Math.abs(coefficient(main, loop) || Number.MAX_SAFE_INTEGER);
  return [...loops].sort((a, b) => stepOf(b) - stepOf(a));
}

/** The number of threads of a group: as many as the phase with the most work has items, within the limits. */
function threadsOfGroup(parts: readonly Part[], { lanes, maxThreads }: LoopProfile): number {
  const workOf = ({ items, nodes }: Part) => items * nodes.length;
  const heaviest = parts.reduce((most, part) => (workOf(part) > workOf(most) ? part : most));
  const items = heaviest.items / heaviest.sequential;
  return Math.max(1, Math.min(maxThreads, MOST_THREADS, Math.ceil(items / lanes) * lanes));
}

/** The number of array elements that threads can access at once, each in another bank of shared memory. */
function wordsAtOnce({ banks }: LoopProfile, precision: ElementType, words: number): number {
  return Math.max(1, (banks * 4) / (storageBytes(precision) * words));
}

/** The layout of an array in a group's memory with the fewest bank conflicts between neighbouring threads; undefined for the plain one. */
function layoutOf(
  parts: readonly Part[],
  touches: readonly (readonly Index[])[],
  length: number,
  wave: number,
  words: number,
): SharedLayout | undefined {
  const accesses = touches.flatMap((places, n): WaveAccess[] => {
    const { loops, items } = parts[n]!;
    const threads = Array.from({ length: Math.min(wave, items) }, (_, item) => loopValues(loops, item));
    const elements = places.map((place) => inUnits(place, words, 0)).filter((each) => each !== undefined);
    return elements
      .slice(0, SAMPLES)
      .map((place) => threads.map((at) => [clampedIndex(evaluate(place, at), length), 0] as const));
  });
  const tile = { length, columns: 1 };
  // The largest step between neighbours; it is long where neighbouring threads work on different rows.
  const steps = touches.flatMap((places, n) => {
    const lanes = parts[n]!.loops.at(-1);
    return places.map((place) => Math.abs((lanes && coefficient(place, lanes)) ?? 0) / words);
  });
  const stores = Math.max(1, ...steps);
  const question = { tile, accesses, stores, wave, room: Math.ceil(1.25 * length), aligned: false };
  const layout = chooseLayout(question);
  return layout.pad === 0 ? undefined : layout;
}

/** A place clamped to the array; guards keep the items beyond it from storing. */
function clampedIndex(place: number, length: number): number {
  return Math.max(0, Math.min(length - 1, place));
}

/** The values of loop variables in an item. */
function loopValues(loops: readonly Var[], item: number): Map<Var, number> {
  let rest = item;
  return new Map(
    [...loops].reverse().map((loop) => {
      const own = rest % loop.count;
      rest = (rest - own) / loop.count;
      return [loop, own] as const;
    }),
  );
}

function laidOut(place: Index, { layout, words }: Placed): Index {
  if (!layout) return place;
  const part = ((place.constant % words) + words) % words;
  const element = inUnits(place, words, part)!;
  return add(scale(add(element, scale(div(element, layout.period), layout.pad)), words), part);
}
