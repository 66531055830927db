/**
 * A kernel: what one launch does, before any language.
 *
 * A launch runs `groups` independent groups of threads. A group walks through its phases; between two phases lies an
 * exchange: every thread's writes to the shared arrays become visible to all threads of the stated scope. A phase is a
 * loop nest over independent work items (LIFT's nested `map`), and each item reads, computes and stores. No value can
 * outlive its phase except through a shared array, so nothing can be carried across a barrier by mistake; `verify`
 * checks the rest.
 */
import type { ArrayRef, ElementType } from './arrays.ts';
import { coefficient, type Index, indexKey, range, scale, sub, type Var, variablesOf } from './integer.ts';
import { type Real, reachable } from './real.ts';
import type { Table } from './tables.ts';

/** One loop of a phase. Items whose value reaches `limit` are left out (a tail that is only known at run time). */
export interface Loop {
  readonly variable: Var;
  readonly limit?: Index;
  /** Repeat the body instead of looping: neighbouring items can then share vector accesses. */
  readonly unroll?: number;
}

export interface Store {
  readonly array: ArrayRef;
  readonly index: Index;
  readonly value: Real;
  /** Which block of the cluster's copy of a shared array; without it the block's own. */
  readonly block?: Index;
}

/**
 * Who has to see a phase's stores before the next phase reads them. A slice is all items with the same value of the
 * outermost loop, which both phases then have in common: slices run one after another, each through all phases that are
 * joined like that, so that their data stays near, and what only one slice needs at a time has one place for all. For
 * devices that loop over items.
 */
export type Scope = 'slice' | 'lane' | 'subgroup' | 'group' | 'cluster';

export interface Phase {
  /** Outermost first. */
  readonly loops: readonly Loop[];
  /** The loop whose neighbouring items run in lockstep on neighbouring lanes. */
  readonly lanes: Var;
  readonly stores: readonly Store[];
  /**
   * Groups of values in an order that keeps few of them alive at a time, for devices whose compiler does not find one.
   * A hint: results do not depend on it.
   */
  readonly steps?: readonly (readonly Real[])[];
  /**
   * True where an item may safely run twice: nothing the phase reads can be what it writes. Lets a device fill its last
   * vector by repeating items.
   */
  readonly repeatable: boolean;
  /**
   * All loads of all items come before any store, so that the phase may read and write the same shared array. Only for
   * devices whose threads keep the values of a whole group in registers meanwhile (`doubleBuffered: false`). Where the
   * exchange is one of the cluster, so is what lies between loads and stores; in the first phase it is enough that the
   * other blocks have begun, unless the phase writes what it may read.
   */
  readonly readsFirst?: boolean;
  /** The exchange that follows the phase. */
  readonly exchange: Scope;
}

export interface Kernel {
  readonly name: string;
  readonly precision: ElementType;
  /** The group's number, 0 … groups − 1. */
  readonly group: Var;
  /**
   * A group may be a cluster of several blocks: each has its own copy of the shared arrays and `threads` threads, and does
   * all items of every phase for its own `rank`. Only stores reach into the copies of others.
   */
  readonly cluster?: { readonly blocks: number; readonly rank: Var };
  /** Threads per group that the planner asks for; devices that loop over items ignore it. */
  readonly threads: number;
  /** Blocks that should find room side by side on a multiprocessor: a compiler may not spend more registers than that. */
  readonly beside?: number;
  readonly globals: readonly ArrayRef[];
  /** The globals may be the same memory: the transform is in place. */
  readonly aliased?: boolean;
  readonly tables: readonly Table[];
  readonly shared: readonly ArrayRef[];
  readonly phases: readonly Phase[];
  /**
   * What the kernel does instead where it runs the other way: as many phases, the very same ones but for those that touch
   * the globals. Which way is the first argument then, 0 or 1, before the globals.
   */
  readonly reverse?: readonly Phase[];
}

/** The phases of a kernel; those that each slice goes through on its own stand together. */
export function joined(phases: readonly Phase[]): Phase[][] {
  const runs: Phase[][] = [];
  phases.forEach((phase, n) => {
    if (n > 0 && phases[n - 1]!.exchange === 'slice') runs.at(-1)!.push(phase);
    else runs.push([phase]);
  });
  return runs;
}

/** What breaks the rules of a kernel, in words; empty when it is sound. */
export function verify(kernel: Kernel): string[] {
  const { phases, reverse = phases } = kernel;
  // Phases that both ways have in common are wrong once.
  const problems = new Set([...complaints(kernel, phases), ...complaints(kernel, reverse)]);
  if (reverse.length !== phases.length) {
    problems.add(`${kernel.name}: ${reverse.length} phases the other way, not ${phases.length}`);
  }
  if (reverse.some(({ exchange }, n) => exchange !== phases[n]?.exchange)) {
    problems.add(`${kernel.name}: other exchanges the other way`);
  } else if (reverse.some((phase, n) => phase.exchange === 'slice' && slicesOf(phase) !== slicesOf(phases[n]!))) {
    problems.add(`${kernel.name}: other slices the other way`);
  }
  return [...problems];
}

function complaints(kernel: Kernel, phases: readonly Phase[]): string[] {
  const problems: string[] = [];
  const written = new Set<ArrayRef>();
  const known = new Set([...kernel.globals, ...kernel.tables, ...kernel.shared]);
  phases.forEach((phase, number) => {
    const say = (what: string) => problems.push(`${kernel.name}, phase ${number}: ${what}`);
    const own = kernel.cluster ? [kernel.group, kernel.cluster.rank] : [kernel.group];
    const inScope = new Set<Var>([...own, ...phase.loops.map((loop) => loop.variable)]);
    if (!phase.loops.some((loop) => loop.variable === phase.lanes)) say('the lane variable is not one of its loops');
    const check = (array: ArrayRef, at: Index) => {
      if (!known.has(array)) say(`array ${array.name} is not declared`);
      for (const v of variablesOf(at)) if (!inScope.has(v)) say(`index of ${array.name} uses ${v.name} out of scope`);
      const [low, high] = range(at);
      if (low < 0) say(`index of ${array.name} can be ${low}`);
      if (array.space === 'shared' && high >= array.length!) {
        say(`index of ${array.name} can be ${high}, its length is ${array.length}`);
      }
      if (array.half !== undefined && low < array.half && high >= array.half) {
        say(`index of ${array.name} can be in either half`);
      }
    };
    const reads = new Set<ArrayRef>();
    let pairs = false;
    for (const node of reachable(phase.stores.map((store) => store.value))) {
      pairs ||= node.op === 'swap' || node.op === 'conj';
      if (node.op !== 'load') continue;
      check(node.array, node.index);
      reads.add(node.array);
      if (node.array.space === 'shared' && !written.has(node.array)) {
        say(`reads ${node.array.name}, which no earlier phase has written: a value would cross no exchange`);
      }
    }
    if (pairs) {
      const loop = phase.loops.find(({ variable }) => variable === phase.lanes);
      // Items that are left over are done again in a whole vector: one by one they would have no neighbour.
      if (phase.lanes.count % 2 !== 0 || loop?.limit || !phase.repeatable) say('an item may be without its neighbour');
    }
    const writes = new Set<ArrayRef>();
    for (const store of phase.stores) {
      check(store.array, store.index);
      writes.add(store.array);
      if (store.block) {
        const blocks = kernel.cluster?.blocks ?? 1;
        if (range(store.block)[0] < 0 || range(store.block)[1] >= blocks) say(`stores to a block that is not there`);
        if (!phase.readsFirst || phase.exchange !== 'cluster') say(`stores to other blocks, which may not be ready`);
      }
      if (store.array.space === 'table') say(`writes the table ${store.array.name}`);
      if (store.array.space === 'shared' && reads.has(store.array) && !phase.readsFirst) {
        say(`reads and writes ${store.array.name} without an exchange between`);
      }
      if (phase.repeatable && reads.has(store.array))
        say(`is called repeatable but writes ${store.array.name}, which it reads`);
    }
    for (const array of writes) written.add(array);
  });
  let number = 0;
  for (const run of joined(phases)) {
    const [start, end] = [number, (number += run.length)];
    if (run.length === 1 && run[0]!.exchange !== 'slice') continue;
    const what = complaintsOfSlices(kernel, run);
    problems.push(...what.map((text) => `${kernel.name}, phases ${start} to ${end - 1}: ${text}`));
  }
  if (kernel.shared.some(({ half }) => half !== undefined)) {
    if (kernel.shared.length > 1) problems.push(`${kernel.name}: an array in halves stands beside another one`);
    const { length, half } = kernel.shared[0]!;
    if (length !== 2 * half!) problems.push(`${kernel.name}: ${length} elements are not two halves of ${half}`);
  }
  return problems;
}

/** How many slices a phase has, as a text that two have in common where they have the same ones. */
function slicesOf({ loops: [outermost] }: Phase): string {
  const { variable, limit } = outermost!;
  return `${variable.count} ${limit ? indexKey(limit) : ''}`;
}

/** From where to where a phase reaches in an array, in slice 0. */
type Reach = readonly [low: number, high: number];

/**
 * What is wrong with phases that run slice by slice. A slice may read what an earlier run left in its own part of an
 * array, or any array that it writes first: all slices use that in turn.
 */
function complaintsOfSlices({ aliased, globals }: Kernel, run: readonly Phase[]): string[] {
  if (run.at(-1)!.exchange === 'slice') return ['a slice goes on after the last phase'];
  if (new Set(run.map(slicesOf)).size > 1) return ['their outermost loops differ'];
  const outermost = run.map(({ loops }) => loops[0]!.variable);
  if (run.some(({ lanes }, n) => lanes === outermost[n])) return ['lanes run across slices'];
  const { limit } = run[0]!.loops[0]!;
  if (limit && range(limit)[0] < 1) return ['a group may be without a slice'];
  const { count } = outermost[0]!;
  const touched = new Map<ArrayRef, { steps: Set<number | undefined>; reaches: Reach[]; first: 'read' | 'write' }>();
  const [read, written] = [new Set<ArrayRef>(), new Set<ArrayRef>()];
  run.forEach(({ stores }, n) => {
    const slice = outermost[n]!;
    const touch = (array: ArrayRef, at: Index, first: 'read' | 'write') => {
      (first === 'read' ? read : written).add(array);
      let known = touched.get(array);
      if (!known) touched.set(array, (known = { steps: new Set(), reaches: [], first }));
      const step = coefficient(at, slice);
      known.steps.add(step);
      known.reaches.push(range(step ? sub(at, scale(slice, step)) : at));
    };
    for (const node of reachable(stores.map(({ value }) => value))) {
      if (node.op === 'load') touch(node.array, node.index, 'read');
    }
    for (const { array, index } of stores) touch(array, index, 'write');
  });
  const problems: string[] = [];
  for (const [array, { steps, reaches, first }] of touched) {
    if (array.space !== 'shared' || !read.has(array) || !written.has(array) || count === 1) continue;
    const [step] = steps;
    const inTurns = step === 0 && first === 'write';
    const apart = step !== undefined && step > 0 && !meet(reaches, step, count);
    if (steps.size > 1 || !(inTurns || apart)) problems.push(`slices get into each other's way in ${array.name}`);
  }
  const writes = globals.filter((array) => written.has(array));
  if (globals.some((array) => read.has(array) && (aliased ? writes.length > 0 : written.has(array)))) {
    problems.push('slices may write what others have yet to read');
  }
  return problems;
}

/** Whether something that lies within these reaches in one slice may do so in another one, `step` further on for each. */
function meet(reaches: readonly Reach[], step: number, count: number): boolean {
  const parts: [low: number, high: number][] = [];
  for (const [low, high] of [...reaches].sort(([a], [b]) => a - b)) {
    const last = parts.at(-1);
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else parts.push([low, high]);
  }
  // The part b of a slice and the part a of one that lies `slices` behind it share an element.
  return parts.some(([low, high]) =>
    parts.some(([from, to]) => {
      const slices = Math.max(1, Math.ceil((from - high) / step));
      return slices < count && slices <= (to - low) / step;
    }),
  );
}
