/** The range of an index under guards, for checking the rules of kernels. */
import { type Guard, guardAt } from './guard.ts';
import { add, type Index, indexKey, range, Substitution, scale, sub, type Var, variable } from './integer.ts';

/**
 * The range of values of an index under a guard. Each bound is used on its own, if `at` contains a multiple of the bounded index.
 * @param tails bounds that hold in any case
 * @returns low > high if the guard never holds
 */
export function rangeWithin(at: Index, guard: Guard, tails: Guard = []): [low: number, high: number] {
  const indices = [at, ...guard.map(({ index }) => index), ...tails.map(({ index }) => index)];
  const digits = digitsIn(indices);
  const [low, high] = boundedRange(at, guard, tails);
  if (!digits) return [low, high];
  const [least, most] = rangeWithin(digits.apply(at), guardAt(guard, digits), guardAt(tails, digits));
  return [Math.max(low, least), Math.min(high, most)];
}

/**
 * Replaces each variable that occurs in quotients and remainders by its mixed-radix digits, so that these become sums of independent
 * variables and ranges of sums are exact. A variable is left alone if its divisors do not divide one another.
 * @returns undefined if there is nothing to replace
 */
function digitsIn(indices: readonly Index[]): Substitution | undefined {
  const divisors = new Map<Var, Set<number>>();
  const visit = ({ terms }: Index): void => {
    for (const { atom } of terms) {
      if (atom.kind === 'var') continue;
      visit(atom.argument);
      const { constant, terms: inner } = atom.argument;
      const [first] = inner;
      if (atom.kind === 'lookup' || constant !== 0 || inner.length !== 1 || first!.factor !== 1) continue;
      if (first!.atom.kind !== 'var') continue;
      divisors.set(first!.atom, (divisors.get(first!.atom) ?? new Set()).add(atom.by));
    }
  };
  indices.forEach(visit);
  const by = new Map<Var, Index>();
  for (const [whole, steps] of divisors) {
    const all = [1, ...[...steps].sort((a, b) => a - b)];
    if (all.some((step, n) => n > 0 && step % all[n - 1]! !== 0)) continue;
    const digits = all.map((step, n) => variable(whole.name, Math.ceil((all[n + 1] ?? whole.count) / step)));
    by.set(whole, add(...digits.map((digit, n) => scale(digit, all[n]!))));
  }
  return by.size > 0 ? new Substitution(by) : undefined;
}

export function boundedRange(at: Index, guard: Guard, tails: Guard): [low: number, high: number] {
  const reach = (index: Index) => (tails.length > 0 ? boundedRange(index, tails, []) : range(index));
  let [low, high] = reach(at);
  for (const bound of guard) {
    const within = boundsOf(bound, reach(bound.index));
    if (within && within[0] > within[1]) return [0, -1];
    const times = multipleOf(bound.index, at);
    if (!within || times === undefined) continue;
    const rest = range(sub(at, scale(bound.index, times)));
    const bounds = within.map((end) => end * times);
    low = Math.max(low, rest[0] + Math.min(...bounds));
    high = Math.min(high, rest[1] + Math.max(...bounds));
  }
  return [low, high];
}

/** The part of an index's range that a bound allows; undefined if the bound cuts a block out of the middle. */
export function boundsOf(
  { from, to, outside }: Guard[number],
  [low, high]: readonly [number, number],
): [low: number, high: number] | undefined {
  if (!outside) return [Math.max(from, low), Math.min(to - 1, high)];
  if (to > high) return [low, Math.min(high, from - 1)];
  return from <= low ? [Math.max(low, to), high] : undefined;
}

/** The factor by which an index contains the first term of another one. */
export function multipleOf({ terms: [first] }: Index, at: Index): number | undefined {
  if (!first) return undefined;
  const keyOf = ({ atom }: Index['terms'][number]) => indexKey({ constant: 0, terms: [{ atom, factor: 1 }] });
  const own = at.terms.find((term) => keyOf(term) === keyOf(first));
  const times = own && own.factor / first.factor;
  return Number.isInteger(times) ? times : undefined;
}
