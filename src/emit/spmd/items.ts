/**
 * The work items of a phase, dealt out to the threads of a group: thread t takes items t, t + T, t + 2T …
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
} from '../../ir/index.ts';

/** What a thread does at a time: one item, if there is one. */
export interface Slot {
  /** The value of each loop variable. */
  readonly at: ReadonlyMap<Var, Index>;
  /** There is an item where all of these are positive. */
  readonly conditions: readonly Index[];
}

/** All that a thread does in a phase: some slots in a row, or one again and again. */
export interface Share {
  readonly slots: readonly Slot[];
  readonly loop?: { readonly counter: Var; readonly rounds: number };
  /** Variables that stand for the thread's number where it is known to be smaller. */
  readonly aliases: readonly Var[];
}

/** Loops over items of a thread are written out up to so many items, and so many operations in all. */
const UNROLLED_ITEMS = 16;
const UNROLLED_OPERATIONS = 2048;

/**
 * @param operations of one item: long bodies are looped over rather than repeated,
 * @param unrolled unless all items have to be in hand at once.
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
  const unroll = rounds === 1 || (rounds <= UNROLLED_ITEMS && rounds * operations <= UNROLLED_OPERATIONS);
  if (!unroll && !unrolled) {
    const counter = variable('round', rounds);
    const item = add(thread, scale(counter, threads));
    const only = slot(item, [sub(total, item)]);
    return { slots: only ? [only] : [], loop: { counter, rounds }, aliases: [] };
  }
  const slots: (Slot | undefined)[] = [];
  const aliases: Var[] = [];
  for (let first = 0; first < total; first += threads) {
    const left = Math.min(threads, total - first);
    if (left === threads) slots.push(slot(add(index(thread), first), []));
    else {
      // Under the condition the thread's number is smaller, and more of the arithmetic folds.
      const last = variable(thread.name, left);
      aliases.push(last);
      slots.push(slot(add(index(last), first), [sub(left, thread)]));
    }
  }
  return { slots: slots.filter((each) => each !== undefined), aliases };
}
