/**
 * Tables of constants that a kernel reads: roots of unity, described exactly and rounded once when the engine fills the table; other
 * reals, each rounded once from the nearest double; and integers for look-ups of indices.
 */
import type { RootRun } from '../numeric/nearest-roots.ts';
import type { ArrayRef, IntegerTable, NumberType, Table, ValueRun, ValueWriter } from './arrays.ts';

/** A table of integers. @param key identifies its contents exactly */
export function integerTable(name: string, key: string, entries: ArrayLike<number>): IntegerTable {
  let most = 0;
  for (let n = 0; n < entries.length; n++) most = Math.max(most, entries[n]!);
  return {
    name,
    space: 'table',
    type: 'u32',
    length: entries.length,
    key: `u32:${key}`,
    below: most + 1,
    entries,
    runs: () => [],
    values: () => [{ start: 0, values: entries }],
  };
}

/** Appends the runs of a segment that begins at the element `start`. There can be many thousands. */
export type AppendRuns = (start: number, runs: RootRun[]) => void;

interface Segment {
  readonly key: string;
  readonly start: number;
  readonly append?: AppendRuns;
  readonly values?: () => ArrayLike<number> | ValueWriter;
}

/** Collects the roots of several passes, and other values, into one table. */
export class TableBuilder {
  private readonly parts: Segment[] = [];
  private readonly lookedUp = new Map<string, IntegerTable>();
  private size = 0;
  private readonly array: { name: string; space: 'table'; type: NumberType };

  constructor(type: NumberType) {
    this.array = { name: 'table', space: 'table', type };
  }

  /** The array that kernels load from: one object for all segments of this table. */
  get ref(): ArrayRef & { readonly type: NumberType } {
    return this.array;
  }

  /**
   * Appends a segment, unless there is one with that key, and returns the index of its first element. Segments begin at multiples of 16
   * elements, which is a cache line.
   * @param key identifies the contents exactly
   * @param length in reals
   * @param append appends the roots in the segment
   */
  append(key: string, length: number, append: AppendRuns): number {
    return this.segment(key, length, (start) => ({ key, start, append }));
  }

  /**
   * Appends a segment of any reals, like `append`.
   * @param values computes them when the table is filled, each as the nearest double; for a table of double-doubles, as hi and lo.
   */
  appendValues(key: string, length: number, values: () => ArrayLike<number> | ValueWriter): number {
    return this.segment(key, length, (start) => ({ key, start, values }));
  }

  /** A separate table of integers. @param key identifies its contents exactly */
  integers(key: string, entries: () => ArrayLike<number>): IntegerTable {
    let table = this.lookedUp.get(key);
    if (!table) this.lookedUp.set(key, (table = integerTable(`index${this.lookedUp.size}`, key, entries())));
    return table;
  }

  private segment(key: string, length: number, make: (start: number) => Segment): number {
    const known = this.parts.find((part) => part.key === key);
    if (known) return known.start;
    const start = this.size;
    this.size = start + Math.ceil(length / 16) * 16;
    this.parts.push(make(start));
    return start;
  }

  /** All tables: the finished table of reals, if anything was appended to it, and the tables of integers. */
  all(): Table[] {
    const table = this.build();
    return [...(table ? [table] : []), ...this.lookedUp.values()];
  }

  /** The finished table, or undefined when nothing was appended. */
  build(): Table | undefined {
    if (this.size === 0) return undefined;
    const { parts } = this;
    const others = parts.filter(({ values }) => values);
    return Object.assign(this.array, {
      length: this.size,
      key: `${this.array.type}:${parts.map((part) => part.key).join(';')}`,
      runs: () => {
        const runs: RootRun[] = [];
        for (const { start, append } of parts) append?.(start, runs);
        return runs;
      },
      ...(others.length > 0
        ? { values: () => others.map(({ start, values }): ValueRun => ({ start, values: values!() })) }
        : {}),
    });
  }
}
