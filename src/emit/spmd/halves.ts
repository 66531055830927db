/**
 * A pass over trees for shared memory that holds one half of the data at a time: a phase computes everything before it writes anything, and
 * the next phase reads both halves before it computes.
 */
import { type ArrayRef, type Index, range } from '../../ir/index.ts';
import { type Half, halfOf } from './accesses.ts';
import { type Statement, splitStatements, visitExpressions } from './tree.ts';

/** The statements of a phase: its items, whose stores use named results, and the barrier that follows. */
export interface PhaseStatements {
  readonly headline: readonly Statement[];
  readonly items: readonly Statement[];
  exchange(): readonly Statement[];
}

/** @param first statements before the first store. */
export function exchangeByHalves(parts: readonly PhaseStatements[], first: readonly Statement[]): Statement[] {
  const result: Statement[] = [];
  let items = parts[0]!.items;
  parts.forEach(({ headline, exchange }, n) => {
    result.push(...headline);
    const next = parts[n + 1];
    if (!next) {
      result.push(...items);
      return;
    }
    const [prepared, stores] = splitStatements(items, (s) => s.op !== 'store');
    result.push(...prepared);
    items = next.items;
    const halves = splitStatements(stores, (s) => s.op === 'store' && isLower(s));
    for (const half of [0, 1] as const) {
      const written = halves[half];
      // A barrier ensures that all threads have read the previous half.
      result.push(...(n === 0 && half === 0 ? first : exchange()), ...written, ...exchange());
      const totals = totalsOf(items, half);
      const isRead = (s: Statement) =>
        s.op === 'declare' ? halvesIn([s]).has(half) || totals.has(s.name) : s.op === 'loop' && halvesIn([s]).has(half);
      const [read, rest] = splitStatements(items, isRead);
      result.push(...read);
      items = rest;
    }
    if (halvesIn(items).size > 0) throw new RangeError('a sum over what is in either half has to have both in memory');
  });
  return result;
}

function isLower({ array, at }: { readonly array: ArrayRef; readonly at: Index }): boolean {
  return halfOf(array, at) === 0;
}

/** What the loops of sums over one half add up to: their names are declared before them. */
function totalsOf(statements: readonly Statement[], half: Half): Set<string> {
  const found = new Set<string>();
  for (const s of statements) {
    if (s.op === 'if') for (const total of totalsOf(s.body, half)) found.add(total);
    if (s.op !== 'loop') continue;
    const halves = halvesIn([s]);
    if (halves.size > 1) throw new RangeError('a sum over what is in either half has to have both in memory');
    if (halves.has(half))
      for (const inner of s.body) if (inner.op === 'assign' && inner.to.op === 'name') found.add(inner.to.name);
  }
  return found;
}

/** The halves that statements read. */
function halvesIn(statements: readonly Statement[]): Set<number> {
  const found = new Set<number>();
  visitExpressions(statements, (e) => {
    if (e.op !== 'load' || e.array.halfLength === undefined) return;
    const [low, high] = range(e.at);
    if (low < e.array.halfLength) found.add(0);
    if (high >= e.array.halfLength) found.add(1);
  });
  return found;
}
