/**
 * Sums whose terms have a known factor that is zero outside a band: the filters of a bank, for example, each of which sees few bins of a spectrum.
 * Only the band is summed, from a first term that is looked up in a table.
 */
import { add, evaluate, type Index, index, lookup, type Real, type TableBuilder, type Var } from '../../../ir/index.ts';
import { variablesOf } from '../../../ir/integer.ts';

/** The range of terms of a sum that may be other than zero. */
export interface Band {
  readonly first: Index;
  readonly length: number;
}

/** The most rows that are searched for bands. */
const MOST_ROWS = 2 ** 16;

/** The largest part of all terms that a band may have: looking up its beginning does not pay for a longer band. */
const LARGEST_PART = 0.75;

/**
 * The band of a sum.
 * @param term a term of the sum, as a function of the variable that the sum runs over
 * @param valuesAt gives the table's numbers, which are known, from an element on
 */
export function bandOf(
  term: { readonly re: Real; readonly im?: Real | undefined },
  over: Var,
  tables: TableBuilder,
  valuesAt: (element: number) => number | undefined,
): Band | undefined {
  for (const at of knownFactors(term, tables)) {
    const others = [...variablesOf(at)].filter((each) => each !== over);
    if (!variablesOf(at).has(over) || others.length > 1) continue;
    const [row] = others;
    const rows = row?.count ?? 1;
    if (rows > MOST_ROWS) continue;
    const ends = Array.from({ length: rows }, (_, n) => bandEnds(at, over, row && [row, n], valuesAt));
    if (ends.includes(undefined)) continue;
    const length = Math.max(1, ...ends.map((each) => each![1] - each![0]));
    if (length > LARGEST_PART * over.count) continue;
    const first = ends.map((each) => Math.min(each![0], over.count - length));
    if (!row) return { first: index(first[0]!), length };
    return {
      first: lookup(
        tables.integers(`bands ${first}`, () => first),
        row,
      ),
      length,
    };
  }
  return undefined;
}

/** Indices of the table's numbers that all parts of a term are multiples of. */
function knownFactors(
  { re, im }: { readonly re: Real; readonly im?: Real | undefined },
  tables: TableBuilder,
): Index[] {
  const found: Index[] = [];
  const visit = (node: Real): void => {
    if (node.op === 'mul') [node.a, node.b].forEach(visit);
    else if (node.op === 'load' && node.array === tables.ref && !node.guard) found.push(node.index);
  };
  // A complex term's parts may have different factors, so only real terms are searched.
  if (im === undefined) visit(re);
  return found;
}

/** The first nonzero number of a row and the end behind its last nonzero one; undefined where the numbers are not known. */
function bandEnds(
  at: Index,
  over: Var,
  row: readonly [Var, number] | undefined,
  valuesAt: (element: number) => number | undefined,
): readonly [number, number] | undefined {
  let [first, end] = [over.count, 0];
  for (let n = 0; n < over.count; n++) {
    const value = valuesAt(evaluate(at, new Map([[over, n], ...(row ? [row] : [])])));
    if (value === undefined) return undefined;
    if (value === 0) continue;
    first = Math.min(first, n);
    end = n + 1;
  }
  return [Math.min(first, end), end];
}

/** Term `n` of a band, as an index among all terms. */
export function inBand({ first }: Band, n: Index | number): Index {
  return add(first, n);
}
