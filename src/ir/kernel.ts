/**
 * A kernel: what one launch does, before any language.
 *
 * A launch runs `groups` independent groups of threads. A group walks through its phases; between two phases lies an
 * exchange: every thread's writes to the shared arrays become visible to all threads of the stated scope. A phase is a
 * loop nest over independent work items (LIFT's nested `map`), and each item reads, computes and stores. No value can
 * outlive its phase except through a shared array, or the group's own part of a global one; so nothing can be carried
 * across a barrier by mistake. `verify` (verify.ts) checks the rest.
 */
import type { ArrayRef, NumberType, Table } from './arrays.ts';
import type { Guard } from './guard.ts';
import type { Index, Var } from './integer.ts';
import type { Real } from './real.ts';

/** One loop of a phase. Items whose value reaches `limit` are left out (a tail that is only known at run time). */
export interface Loop {
  readonly variable: Var;
  readonly limit?: Index;
  /** Repeat the body instead of looping: neighbouring items can then share vector accesses. A hint: it may be ignored. */
  readonly unroll?: number;
}

export interface Store {
  readonly array: ArrayRef;
  readonly index: Index;
  readonly value: Real;
  /** The block of the cluster whose copy of a shared array is written; the block's own if missing. */
  readonly block?: Index;
  /** Condition under which the store takes place; missing if it always does. */
  readonly guard?: Guard;
}

/**
 * Who has to see a phase's stores before the next phase reads them. A slice is all items with the same value of the
 * outermost loop, which both phases then have in common: slices run one after another, each through all phases that are
 * joined like that, so that their data stays near, and what only one slice needs at a time has one place for all. Threads
 * share out the items of one slice after another.
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
   * Where it is 1, no item touches a place that another one writes: the phase may read and write the same array, in any
   * order of its items, each of which loads before it stores. Where it is more, that holds of so many neighbours in
   * lockstep together, the first of which is a multiple of it: all of them load before any of them stores. (`readsFirst` is
   * more than that, and what it becomes where these are no vector.)
   */
  readonly inPlace?: number;
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
  readonly precision: NumberType;
  /** The group's number, 0 … groups − 1. */
  readonly group: Var;
  /**
   * A group may be a cluster of several blocks: each has its own copy of the shared arrays and `threads` threads, and does
   * all items of every phase for its own `rank`. Only stores reach into the copies of others.
   */
  readonly cluster?: { readonly blocks: number; readonly rank: Var };
  /** Threads per group that the planner asks for; devices that loop over items ignore it. */
  readonly threads: number;
  /** Number of groups that should be resident on a multiprocessor at once. It limits the registers that a compiler may use. */
  readonly residentGroups?: number;
  readonly globals: readonly ArrayRef[];
  /** Whether input and output may be the same memory, as in a transform in place. Operands never are. */
  readonly aliased?: boolean;
  readonly tables: readonly Table[];
  readonly shared: readonly ArrayRef[];
  readonly phases: readonly Phase[];
  /**
   * What the kernel does instead where it runs the other way: as many phases, the very same ones but for those that touch
   * the globals. Which way is the first argument then, 0 or 1, before the globals. A device whose kernels run one way only is not
   * given it, and drops it: what is left is a kernel by itself, and the other way is another one.
   */
  readonly reverse?: readonly Phase[];
}

/** The phases of a kernel in lists: the phases that each slice runs through before the next slice begins share a list. */
export function slicedPhases(phases: readonly Phase[]): Phase[][] {
  const runs: Phase[][] = [];
  phases.forEach((phase, n) => {
    if (n > 0 && phases[n - 1]!.exchange === 'slice') runs.at(-1)!.push(phase);
    else runs.push([phase]);
  });
  return runs;
}
