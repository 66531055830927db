/**
 * A pass over trees for shared memory that holds one part of the data at a time, a half or a quarter: a phase computes everything before
 * it writes anything, and the next phase reads every part before it computes.
 */
import { range } from '../../../ir/index.ts';
import { type Statement, splitStatements, visitExpressions } from '../tree/tree.ts';
import { sharedPart } from './accesses.ts';

/** The statements of a phase: its items, whose stores use named results, and the barrier that follows. */
export interface PhaseStatements {
  readonly headline: readonly Statement[];
  readonly items: readonly Statement[];
  exchange(): readonly Statement[];
}

/** @param count how many parts there are. @param first statements before the first store. */
export function exchangeByParts(
  phases: readonly PhaseStatements[],
  count: number,
  first: readonly Statement[],
): Statement[] {
  const result: Statement[] = [];
  let items = phases[0]!.items;
  phases.forEach(({ headline, exchange }, n) => {
    result.push(...headline);
    const next = phases[n + 1];
    if (!next) {
      result.push(...items);
      return;
    }
    const [prepared, stores] = splitStatements(items, (s) => s.op !== 'store');
    result.push(...prepared);
    items = next.items;
    for (let part = 0; part < count; part++) {
      // Stores to other memory go with the last part.
      const [written] = splitStatements(
        stores,
        (s) => s.op === 'store' && (sharedPart(s.array, s.at) ?? count - 1) === part,
      );
      // A barrier ensures that all threads have read the previous part.
      result.push(...(n === 0 && part === 0 ? first : exchange()), ...written, ...exchange());
      const totals = totalsOf(items, part);
      const isRead = (s: Statement) =>
        s.op === 'declare'
          ? partsRead([s]).has(part) || totals.has(s.name)
          : s.op === 'loop' && partsRead([s]).has(part);
      const [read, rest] = splitStatements(items, isRead);
      result.push(...read);
      items = rest;
    }
    if (partsRead(items).size > 0) throw new RangeError(SEVERAL_PARTS);
  });
  return result;
}

const SEVERAL_PARTS = 'a sum over what is in several parts has to have all of them in memory';

/** The names that hold the totals of the loops over one part: they are declared before the loops. */
function totalsOf(statements: readonly Statement[], part: number): Set<string> {
  const found = new Set<string>();
  for (const s of statements) {
    if (s.op === 'if') for (const total of totalsOf(s.body, part)) found.add(total);
    if (s.op !== 'loop') continue;
    const parts = partsRead([s]);
    if (parts.size > 1) throw new RangeError(SEVERAL_PARTS);
    if (parts.has(part))
      for (const inner of s.body) if (inner.op === 'assign' && inner.to.op === 'name') found.add(inner.to.name);
  }
  return found;
}

/** The parts that statements read. */
function partsRead(statements: readonly Statement[]): Set<number> {
  const found = new Set<number>();
  visitExpressions(statements, (e) => {
    if (e.op !== 'load' || e.array.partLength === undefined) return;
    const { partLength } = e.array;
    const [low, high] = range(e.at).map((at) => Math.floor(at / partLength)) as [number, number];
    for (let part = low; part <= high; part++) found.add(part);
  });
  return found;
}
