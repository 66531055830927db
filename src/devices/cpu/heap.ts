/**
 * Allocates addresses in one block of memory: first fit over free ranges, which are always coalesced. It computes with numbers only; memory.ts has
 * the memory itself.
 */

/** The alignment of every block: a cache line. */
const LINE = 64;

export const PAGE = 4096;
/** The least size of blocks whose position within a page matters. */
const COLOURED = PAGE;
/**
 * A processor compares only the low 12 bits of addresses before it lets a load pass an earlier store (4K aliasing). Large blocks that begin at the
 * same offset in a page, as blocks of 2^k bytes do, would therefore make input, output and scratch wait for one another, and compete for the same
 * sets of the first-level cache. So neighbouring blocks begin this many bytes further on in the page: also at different offsets modulo 512, which is
 * a common distance between the inputs of a butterfly.
 */
export const COLOUR_STEP = 640;

export class Heap {
  /** Free ranges [starts[i], ends[i]), ascending; no two touch. */
  private readonly starts: number[];
  private readonly ends: number[];
  private readonly taken = new Map<number, number>();
  private colour = 0;

  constructor(start: number, end: number) {
    this.starts = [align(start)];
    this.ends = [end];
  }

  /** The sum of all free bytes. */
  get free(): number {
    return this.starts.reduce((sum, start, i) => sum + this.ends[i]! - start, 0);
  }

  /** Bytes of the largest free range. */
  get largest(): number {
    return this.starts.reduce((most, start, i) => Math.max(most, this.ends[i]! - start), 0);
  }

  /** The address of `bytes` bytes, a multiple of 64; undefined when no range is long enough. */
  take(bytes: number): number | undefined {
    const size = Math.max(LINE, align(bytes));
    const { starts, ends } = this;
    for (let i = 0; i < starts.length; i++) {
      const start = starts[i]!;
      const end = ends[i]!;
      if (end - start < size) continue;
      let address = start;
      if (size >= COLOURED) {
        const wanted = start + ((((this.colour - start) % PAGE) + PAGE) % PAGE);
        if (wanted + size <= end) address = wanted;
        this.colour = (this.colour + COLOUR_STEP) % PAGE;
      }
      const rest: [number, number][] = [];
      if (start < address) rest.push([start, address]);
      if (address + size < end) rest.push([address + size, end]);
      starts.splice(i, 1, ...rest.map(([from]) => from));
      ends.splice(i, 1, ...rest.map(([, to]) => to));
      this.taken.set(address, size);
      return address;
    }
    return undefined;
  }

  /** Gives back what `take` returned. */
  give(address: number): void {
    const size = this.taken.get(address);
    if (size === undefined) return;
    this.taken.delete(address);
    const { starts, ends } = this;
    const end = address + size;
    const i = upperBound(starts, address);
    const joinsBelow = i > 0 && ends[i - 1] === address;
    const joinsAbove = i < starts.length && starts[i] === end;
    if (joinsBelow && joinsAbove) {
      ends[i - 1] = ends[i]!;
      starts.splice(i, 1);
      ends.splice(i, 1);
    } else if (joinsBelow) ends[i - 1] = end;
    else if (joinsAbove) starts[i] = address;
    else {
      starts.splice(i, 0, address);
      ends.splice(i, 0, end);
    }
  }
}

function align(bytes: number): number {
  return Math.ceil(bytes / LINE) * LINE;
}

/** The number of entries that are at most `value`, in an ascending list. */
export function upperBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
