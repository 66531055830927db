/**
 * A kernel: the work of one launch, independent of the language that it will be printed in.
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

/**
 * One loop of a phase. If the end of the loop is known at run time only, it is `limit`: items whose variable is `limit` or more are left
 * out.
 */
export interface Loop {
  readonly variable: Var;
  readonly limit?: Index;
  /** Unroll the loop by this many items, which can then share vector accesses. A hint: it may be ignored. */
  readonly unroll?: number;
}

export interface Store {
  readonly array: ArrayRef;
  readonly index: Index;
  readonly value: Real;
  /** The block of the cluster whose copy of a shared array is written; if missing, the executing block's own copy. */
  readonly block?: Index;
  /** Condition under which the store takes place; missing if it always does. */
  readonly guard?: Guard;
}

/**
 * Which items have to see a phase's stores before the next phase reads them.
 *
 * `slice`: only items of the same slice. A slice consists of all items with the same value of the outermost loop, which both phases then
 * have in common. Slices run one after another, each through all phases that are joined by this scope, so that the data of a slice stays
 * in a near cache, and slices can reuse one array. Threads divide the items of each slice among them.
 */
export type Scope = 'slice' | 'lane' | 'group' | 'cluster';

export interface Phase {
  /** Outermost first. */
  readonly loops: readonly Loop[];
  /** The loop whose neighbouring items run in lockstep on neighbouring lanes. */
  readonly lanes: Var;
  readonly stores: readonly Store[];
  /**
   * Groups of values, in an order of computation that keeps few of them alive at a time, for devices whose compilers do not find such
   * an order. A hint: results do not depend on it.
   */
  readonly steps?: readonly (readonly Real[])[];
  /**
   * Whether an item may run twice, because the phase reads no memory that it writes. A device may then fill its last vector by repeating
   * items.
   */
  readonly repeatable: boolean;
  /**
   * The phase works in place: it may read and write the same array, in any order of its items, each of which loads before it stores.
   * 1: no item accesses an element that another item writes. n > 1: that holds for groups of n neighbours in lockstep, beginning at
   * multiples of n, which all load before any of them stores. (A device on which these n items form no vector uses `readsFirst`, which
   * is stronger.)
   */
  readonly inPlace?: number;
  /**
   * All loads of all items come before any store, so that the phase may read and write the same shared array. Only for devices whose
   * threads keep the values of a whole group in registers (`doubleBuffered: false`). The barrier between loads and stores has the scope
   * of the phase's exchange, group or cluster. In the first phase of a cluster, it only has to wait until the other blocks have started,
   * unless the phase writes memory that it may read.
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
   * A group may be a cluster of several blocks. Each block has its own copy of the shared arrays and `threads` threads, and executes all
   * items of every phase for its own `rank`. Only stores access the copies of other blocks.
   */
  readonly cluster?: { readonly blocks: number; readonly rank: Var };
  /** Threads per group; devices that loop over items ignore it. */
  readonly threads: number;
  /** Groups that should be resident on a multiprocessor at once, which limits the registers that a compiler may use. */
  readonly residentGroups?: number;
  readonly globals: readonly ArrayRef[];
  /** Whether input and output may be the same memory, as in a transform in place. Operands never are. */
  readonly aliased?: boolean;
  readonly tables: readonly Table[];
  readonly shared: readonly ArrayRef[];
  readonly phases: readonly Phase[];
  /**
   * The phases of the opposite direction, for a kernel that can run in both. Only phases that access globals differ from their
   * counterparts in `phases`; the others are the same objects. The direction, 0 or 1, is then the first argument, before the globals. A
   * kernel without this field runs in one direction.
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
