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
 * The range of an index whose address jumps, as those beyond the border of a periodic or a reversed array do: each quotient that is 0 or 1 is
 * taken for either, under the bound that makes it so, and all bounds are used together.
 * @returns low > high if the guard never holds
 */
export function rangeByCases(at: Index, guard: Guard): [low: number, high: number] {
  const jump = at.terms.find(({ atom }) => {
    if (atom.kind !== 'div') return false;
    const [least, most] = boundedRange(atom.argument, guard, []);
    return least >= 0 && most < 2 * atom.by;
  });
  if (jump?.atom.kind !== 'div') return jointRange(at, guard);
  const { atom, factor } = jump;
  const rest = { ...at, terms: at.terms.filter((term) => term !== jump) };
  const cases = [0, 1].map((value) => {
    const bound = { index: atom.argument, from: value * atom.by, to: (value + 1) * atom.by };
    return rangeByCases(add(rest, value * factor), [...guard, bound]);
  });
  const possible = cases.filter(([low, high]) => low <= high);
  return [Math.min(...possible.map(([low]) => low)), Math.max(...possible.map(([, high]) => high))];
}

/** The range of a sum of bounded indices, whose bounds are used together where that is narrower. */
function jointRange(at: Index, guard: Guard): [low: number, high: number] {
  const [low, high] = boundedRange(at, guard, []);
  if (low > high) return [low, high];
  const bounds = new Map<string, { readonly index: Index; within: readonly [number, number] }>();
  for (const bound of guard) {
    // The narrowest range of each index, wherever it begins.
    const whole = { ...bound.index, constant: 0 };
    const found = boundsOf(bound, range(bound.index));
    if (!found) continue;
    const [from, to] = found.map((end) => end - bound.index.constant) as [number, number];
    const known = bounds.get(indexKey(whole))?.within ?? [from, to];
    bounds.set(indexKey(whole), { index: whole, within: [Math.max(from, known[0]), Math.min(to, known[1])] });
  }
  let rest = at;
  let [least, most] = [0, 0];
  for (const { index, within } of bounds.values()) {
    if (within[0] > within[1]) return [0, -1];
    const times = multipleOf(index, rest);
    if (times === undefined) continue;
    rest = sub(rest, scale(index, times));
    const ends = within.map((end) => end * times);
    least += Math.min(...ends);
    most += Math.max(...ends);
  }
  const [from, to] = range(rest);
  return [Math.max(low, least + from), Math.min(high, most + to)];
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

function boundedRange(at: Index, guard: Guard, tails: Guard): [low: number, high: number] {
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
function boundsOf(
  { from, to, outside }: Guard[number],
  [low, high]: readonly [number, number],
): [low: number, high: number] | undefined {
  if (!outside) return [Math.max(from, low), Math.min(to - 1, high)];
  if (to > high) return [low, Math.min(high, from - 1)];
  return from <= low ? [Math.max(low, to), high] : undefined;
}

/** The factor by which an index contains the first term of another one. */
function multipleOf({ terms: [first] }: Index, at: Index): number | undefined {
  if (!first) return undefined;
  const keyOf = ({ atom }: Index['terms'][number]) => indexKey({ constant: 0, terms: [{ atom, factor: 1 }] });
  const own = at.terms.find((term) => keyOf(term) === keyOf(first));
  const times = own && own.factor / first.factor;
  return Number.isInteger(times) ? times : undefined;
}
