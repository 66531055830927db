/** Ranges of indices that jump, for checking the rules of kernels. */
import type { Guard } from './guard.ts';
import { add, type Index, indexKey, range, scale, sub } from './integer.ts';
import { boundedRange, boundsOf, multipleOf } from './within.ts';

/** The most values of a quotient that are told apart: a window that reaches over both borders of an array has three. */
const MOST_CASES = 4;

/**
 * The range of an index whose address jumps, as those beyond the border of a periodic or a reversed array do: each quotient that has few values is
 * taken for one after another, under the bound that makes it so, and all bounds are used together.
 * @returns low > high if the guard never holds
 */
export function rangeByCases(at: Index, guard: Guard): [low: number, high: number] {
  const [low, high] = jointRange(at, guard);
  if (low > high) return [low, high];
  // Quotients whose arguments contain other quotients come first (they were made later): once a quotient has been replaced by a value, bounds on
  // sums that contain it no longer apply.
  const jump = at.terms
    .filter(({ atom }) => {
      if (atom.kind !== 'div') return false;
      const { first, last } = quotientRange(atom, guard);
      return first >= 0 && last - first < MOST_CASES;
    })
    .sort((one, other) => other.atom.id - one.atom.id)[0];
  if (jump?.atom.kind !== 'div') return [low, high];
  const { atom, factor } = jump;
  const rest = { ...at, terms: at.terms.filter((term) => term !== jump) };
  const { first, last } = quotientRange(atom, guard);
  const cases = Array.from({ length: last - first + 1 }, (_, n) => {
    const value = first + n;
    const bound = { index: atom.argument, from: value * atom.by, to: (value + 1) * atom.by };
    return rangeByCases(add(rest, value * factor), [...guard, bound]);
  });
  const possible = cases.filter(([from, to]) => from <= to);
  const [least, most] = [Math.min(...possible.map(([from]) => from)), Math.max(...possible.map(([, to]) => to))];
  return [Math.max(low, least), Math.min(high, most)];
}

/** The least and the largest value of a quotient. */
function quotientRange({ argument, by }: { readonly argument: Index; readonly by: number }, guard: Guard) {
  const [least, most] = boundedRange(argument, guard, []);
  return { first: Math.floor(least / by), last: Math.floor(most / by) };
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
