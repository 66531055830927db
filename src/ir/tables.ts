/**
 * Tables of constants that a kernel reads: roots of unity, described exactly and rounded once by whoever fills them; other
 * reals, each rounded once from the nearest double; and integers that indices are looked up in.
 */
import type { RootRun } from '../numeric/nearest-roots.ts';
import type { ArrayRef, IntegerTable, NumberType, Table, ValueRun, ValueWriter } from './arrays.ts';

/** @param key says what the table holds, exactly. */
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

  /** What kernels load from: one object for all segments of this table. */
  get ref(): ArrayRef & { readonly type: NumberType } {
    return this.array;
  }

  /**
   * Appends a segment, unless there is one with that key, and returns its first element. Segments begin at multiples of 16 elements, a cache line.
   * @param key says what the segment holds, exactly.
   * @param length in reals.
   * @param append the roots in it.
   */
  append(key: string, length: number, append: AppendRuns): number {
    return this.segment(key, length, (start) => ({ key, start, append }));
  }

  /**
   * The same for any reals.
   * @param values computed when the table is filled, each the double nearest to what is meant; as double-doubles, two each, where
   * the table has those.
   */
  appendValues(key: string, length: number, values: () => ArrayLike<number> | ValueWriter): number {
    return this.segment(key, length, (start) => ({ key, start, values }));
  }

  /** A table of integers of its own. @param key says what it holds, exactly. */
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

  /** All tables: the finished one, where anything was appended, and those of integers. */
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
