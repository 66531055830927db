/**
 * Tables of roots of unity that a kernel reads. Described exactly here, rounded once by whoever fills them.
 */
import type { ArrayRef, ElementType } from './arrays.ts';

/** e^{−2πi·p/q}, to be written at `re` and `im` (element indices). */
export interface TableRoot {
  readonly p: number;
  readonly q: number;
  readonly re: number;
  readonly im: number;
}

/** An array of constants. Two tables with equal keys have equal contents, whichever kernels read them. */
export interface Table extends ArrayRef {
  readonly space: 'table';
  readonly type: ElementType;
  readonly length: number;
  readonly key: string;
  roots(): Iterable<TableRoot>;
}

/** Collects the roots of several passes into one table. */
export class TableBuilder {
  private readonly parts: { key: string; roots: () => Iterable<TableRoot> }[] = [];
  private size = 0;
  private readonly array: { name: string; space: 'table'; type: ElementType };

  constructor(name: string, type: ElementType) {
    this.array = { name, space: 'table', type };
  }

  /** What kernels load from: one object for all segments of this table. */
  get ref(): ArrayRef {
    return this.array;
  }

  /**
   * Appends a segment and returns its first element. Segments begin at multiples of 16 elements, a cache line.
   * @param key says what the segment holds, exactly.
   * @param length in reals.
   * @param roots places relative to the segment.
   */
  append(key: string, length: number, roots: () => Iterable<TableRoot>): number {
    const start = this.size;
    this.size = start + Math.ceil(length / 16) * 16;
    this.parts.push({
      key,
      roots: function* () {
        for (const { p, q, re, im } of roots()) yield { p, q, re: re + start, im: im + start };
      },
    });
    return start;
  }

  /** The finished table, or undefined when nothing was appended. */
  build(): Table | undefined {
    if (this.size === 0) return undefined;
    const { parts } = this;
    return Object.assign(this.array, {
      length: this.size,
      key: `${this.array.type}:${parts.map((part) => part.key).join(';')}`,
      *roots() {
        for (const part of parts) yield* part.roots();
      },
    });
  }
}
