/**
 * Distributes the work items of a phase over the T threads of a group: thread t takes items t, t + T, t + 2T …
 *
 * Items are numbered with the phase's lane loop fastest, so that neighbouring threads take neighbouring lanes.
 */
import {
  add,
  coordinates,
  type Index,
  index,
  type Phase,
  range,
  scale,
  sub,
  substitute,
  type Var,
  variable,
} from '../../../ir/index.ts';

/** One work item of a thread, which may be absent at the end of the range. */
export interface Slot {
  /** The value of each loop variable. */
  readonly at: ReadonlyMap<Var, Index>;
  /** Index expressions: the item exists if every one of them is positive. */
  readonly conditions: readonly Index[];
}

/** The work of a thread in a phase: a list of slots, executed once or in a loop. */
export interface Share {
  readonly slots: readonly Slot[];
  readonly loop?: { readonly counter: Var; readonly rounds: number };
  /** Variables with the value of the thread's number and a smaller range, for items that only the first threads have. */
  readonly aliases: readonly Var[];
}

/**
 * Limits of unrolling: the items of a thread are written out one after another, so that their loads overlap, up to this many items and up
 * to this many operations of all items together. A thread with more items loops over groups of them.
 */
const UNROLLED_ITEMS = 16;
const UNROLLED_OPERATIONS = 2048;

/**
 * @param operations number of operations of one item; items with many are looped over rather than repeated
 * @param unrolled whether all items of a thread have to be written out
 */
export function share(
  phase: Phase,
  thread: Var,
  threads: number,
  operations: number,
  unrolled = phase.readsFirst ?? false,
): Share {
  const loops = [...phase.loops].sort(
    (a, b) => Number(a.variable === phase.lanes) - Number(b.variable === phase.lanes),
  );
  const counts = loops.map(({ variable }) => variable.count);
  const total = counts.reduce((a, b) => a * b, 1);
  const slot = (item: Index, conditions: readonly Index[]): Slot | undefined => {
    const flat = coordinates(item, [...counts].reverse()).reverse();
    const at = new Map<Var, Index>(loops.map((loop, n) => [loop.variable, flat[n]!]));
    const limits = loops.flatMap((loop) =>
      loop.limit ? [sub(substitute(loop.limit, at), at.get(loop.variable)!)] : [],
    );
    const all = [...conditions, ...limits].filter((condition) => range(condition)[0] <= 0);
    return all.some((condition) => range(condition)[1] <= 0) ? undefined : { at, conditions: all };
  };
  const rounds = Math.ceil(total / threads);
  const most = Math.min(UNROLLED_ITEMS, Math.floor(UNROLLED_OPERATIONS / operations));
  const trips = unrolled ? 1 : Math.ceil(rounds / Math.max(1, most));
  if (trips > 1) {
    const counter = variable('round', trips);
    const flight = Math.ceil(rounds / trips);
    const items = Array.from({ length: flight }, (_, n) =>
      add(add(thread, n * threads), scale(counter, flight * threads)),
    );
    const some = items.map((item) => slot(item, [sub(total, item)])).filter((each) => each !== undefined);
    return { slots: some, loop: { counter, rounds: trips }, aliases: [] };
  }
  const slots: (Slot | undefined)[] = [];
  const aliases: Var[] = [];
  for (let first = 0; first < total; first += threads) {
    const left = Math.min(threads, total - first);
    if (left === threads) slots.push(slot(add(index(thread), first), []));
    else {
      // Under the condition, the thread's number is below `left`, so that more index arithmetic folds.
      const last = variable(thread.name, left);
      aliases.push(last);
      slots.push(slot(add(index(last), first), [sub(left, thread)]));
    }
  }
  return { slots: slots.filter((each) => each !== undefined), aliases };
}
