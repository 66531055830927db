/**
 * Roots of unity that are computed instead of loaded from a table. The position of an entry determines the root: a table consists of rows of
 * evenly spaced roots, whose first angles and increments grow by constant steps from row to row.
 *
 * Angles are exact integers; the generated code subtracts quarter turns before it rounds anything.
 */
import { add, div, type Index, mod, range, scale, sub, type Table } from '../../../ir/index.ts';
import type { RootRun } from '../../../numeric/nearest-roots.ts';

/** The root e^{−2πi·p/q}, p = first + factor · by, never negative. */
export interface Root {
  readonly first: Index;
  readonly factor: Index;
  readonly by: Index;
  readonly q: number;
  /** The largest value of p. */
  readonly most: number;
}

/** The roots of one table. */
export class ComputedTable {
  private readonly table: Table;
  private readonly runs: readonly RootRun[];

  constructor(table: Table) {
    this.table = table;
    this.runs = table.runs();
  }

  /**
   * The root at an index.
   * @param at counts pairs of reals.
   * @throws RangeError if the roots follow no such rule.
   */
  at(at: Index): Root {
    const [low, high] = range(at);
    const rows = this.rowsOf(low, high);
    const [first] = rows;
    if (!first || !this.isEven(rows)) {
      throw new RangeError(`the roots ${low} to ${high} of the table ${this.table.name} follow no rule`);
    }
    const { q, count } = first;
    const place = sub(at, first.re / 2);
    const row = div(place, count);
    const start = linearIn(
      rows.map(({ p }) => p),
      row,
    );
    const step = linearIn(
      rows.map(({ step }) => step),
      row,
    );
    const column = mod(place, count);
    if (!start || !step) {
      throw new RangeError(`the rows ${low} to ${high} of the table ${this.table.name} do not grow evenly`);
    }
    const most = range(start)[1] + range(step)[1] * range(column)[1];
    return { first: start, factor: step, by: column, q, most };
  }

  /** Whether the root at an index is a twiddle of the four-step algorithm. @param at counts pairs of reals. */
  isFourStep(at: Index): boolean {
    const [low, high] = range(at);
    return this.rowsOf(low, high)[0]?.fourStep === true;
  }

  /** The rows that a range of pairs overlaps. */
  private rowsOf(low: number, high: number): RootRun[] {
    const { runs } = this;
    let from = 0;
    for (let to = runs.length; from < to; ) {
      const middle = (from + to) >> 1;
      const { re, count } = runs[middle]!;
      if (re / 2 + count <= low) from = middle + 1;
      else to = middle;
    }
    let to = from;
    while (to < runs.length && runs[to]!.re / 2 <= high) to++;
    return runs.slice(from, to);
  }

  /** Whether rows of pairs lie one behind the other. */
  private isEven(rows: readonly RootRun[]): boolean {
    const [{ re: start, q, count }] = rows as [RootRun];
    return rows.every(
      (row, n) =>
        row.stride === 2 &&
        row.skip === 0 &&
        row.im === row.re + 1 &&
        row.p >= 0 &&
        row.step >= 0 &&
        row.q === q &&
        row.count === count &&
        row.re === start + 2 * count * n,
    );
  }
}

/** Values of rows as an index that is linear in the row; undefined if they do not grow by a constant step. */
function linearIn(values: readonly number[], row: Index): Index | undefined {
  const [first = 0, second = first] = values;
  const step = second - first;
  if (values.some((value, n) => value !== first + n * step)) return undefined;
  return add(scale(row, step), first);
}
