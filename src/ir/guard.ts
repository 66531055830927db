/**
 * Guards: conditions under which a load or a store takes place. A guard is a conjunction of bounds on indices. The ranges of indices
 * decide many bounds at plan time, so that an access disappears or needs no test.
 */
import { type Index, indexKey, range, type Substitution } from './integer.ts';

/** The condition `from` ≤ index < `to`; `outside` negates it. */
export interface Bound {
  readonly index: Index;
  readonly from: number;
  readonly to: number;
  readonly outside?: true;
}

/** A conjunction of bounds. The empty list holds everywhere. */
export type Guard = readonly Bound[];

export const EVERYWHERE: Guard = [];

/** A guard without the bounds that always hold; undefined if it never holds. */
export function simplified(guard: Guard): Guard | undefined {
  const kept: Bound[] = [];
  const seen = new Set<string>();
  for (const bound of guard) {
    const always = alwaysOrNever(bound);
    if (always === false) return undefined;
    const key = indexBoundKey(bound);
    if (always === undefined && !seen.has(key)) kept.push(bound);
    seen.add(key);
  }
  return kept.length === guard.length ? guard : kept.length === 0 ? EVERYWHERE : kept;
}

/** Whether a bound holds for all values of its index (true) or for none (false); undefined if it depends on the value. */
function alwaysOrNever({ index, from, to, outside }: Bound): boolean | undefined {
  const elsewhere = outside === true;
  if (from >= to) return elsewhere;
  const [low, high] = range(index);
  if (low >= from && high < to) return !elsewhere;
  if (high < from || low >= to) return elsewhere;
  return undefined;
}

/** The guard with variables in its indices substituted. */
export function guardAt(guard: Guard, at: Substitution): Guard {
  return guard.length === 0 ? guard : guard.map((bound) => ({ ...bound, index: at.apply(bound.index) }));
}

/** Equal for equal guards. */
export function guardKey(guard: Guard): string {
  return guard.map(indexBoundKey).join('&');
}

function indexBoundKey({ index, from, to, outside }: Bound): string {
  return `${outside ? '!' : ''}${from}:${to}:${indexKey(index)}`;
}

/** Whether a guard holds, given the value of each index. */
export function holds(guard: Guard, at: (index: Index) => number): boolean {
  return guard.every(({ index, from, to, outside }) => {
    const value = at(index);
    return (value >= from && value < to) !== (outside === true);
  });
}
