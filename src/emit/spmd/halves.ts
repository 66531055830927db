/**
 * A pass over trees for shared memory that holds one half of the data at a time: a phase computes everything before it writes anything, and
 * the next phase reads both halves before it computes.
 */
import type { ArrayRef, Index } from '../../ir/index.ts';
import { halfOf } from './accesses.ts';
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
    for (const [half, written] of halves.entries()) {
      // A barrier ensures that all threads have read the previous half.
      result.push(...(n === 0 && half === 0 ? first : exchange()), ...written, ...exchange());
      const [read, rest] = splitStatements(items, (s) => s.op === 'declare' && halvesIn([s]).has(half));
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

/** The halves that statements read. */
function halvesIn(statements: readonly Statement[]): Set<number> {
  const found = new Set<number>();
  visitExpressions(statements, (e) => {
    const half = e.op === 'load' ? halfOf(e.array, e.at) : undefined;
    if (half !== undefined) found.add(half);
  });
  return found;
}
