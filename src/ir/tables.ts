/**
 * Tables of roots of unity that a kernel reads. Described exactly here, rounded once by whoever fills them.
 */
import type { RootRun } from '../numeric/nearest-roots.ts';
import type { ArrayRef, ElementType } from './arrays.ts';

/** An array of constants. Two tables with equal keys have equal contents, whichever kernels read them. */
export interface Table extends ArrayRef {
  readonly space: 'table';
  readonly type: ElementType;
  readonly length: number;
  readonly key: string;
  /** What it holds, exactly; what lies between the runs is never read. */
  runs(): RootRun[];
}

/** Appends the runs of a segment that begins at the element `start`. There can be many thousands. */
export type AppendRuns = (start: number, runs: RootRun[]) => void;

/** Collects the roots of several passes into one table. */
export class TableBuilder {
  private readonly parts: { key: string; start: number; append: AppendRuns }[] = [];
  private size = 0;
  private readonly array: { name: string; space: 'table'; type: ElementType };

  constructor(type: ElementType) {
    this.array = { name: 'table', space: 'table', type };
  }

  /** What kernels load from: one object for all segments of this table. */
  get ref(): ArrayRef {
    return this.array;
  }

  /**
   * Appends a segment, unless there is one with that key, and returns its first element. Segments begin at multiples of 16 elements, a cache line.
   * @param key says what the segment holds, exactly.
   * @param length in reals.
   * @param append the roots in it.
   */
  append(key: string, length: number, append: AppendRuns): number {
    const known = this.parts.find((part) => part.key === key);
    if (known) return known.start;
    const start = this.size;
    this.size = start + Math.ceil(length / 16) * 16;
    this.parts.push({ key, start, append });
    return start;
  }

  /** The finished table, or undefined when nothing was appended. */
  build(): Table | undefined {
    if (this.size === 0) return undefined;
    const { parts } = this;
    return Object.assign(this.array, {
      length: this.size,
      key: `${this.array.type}:${parts.map((part) => part.key).join(';')}`,
      runs: () => {
        const runs: RootRun[] = [];
        for (const { start, append } of parts) append(start, runs);
        return runs;
      },
    });
  }
}
