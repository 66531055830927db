/** Tables of roots of unity, taken apart into single roots: for tests that look at each, or compute them their own way. */
import type { Table } from '../../src/ir/index.ts';

/** e^{−2πi·p/q}, to be written at `re` and `im` (element indices). */
export interface TableRoot {
  readonly p: number;
  readonly q: number;
  readonly re: number;
  readonly im: number;
}

export function* rootsIn(table: Pick<Table, 'runs'>): Generator<TableRoot> {
  for (const { p, step, q, count, re, im, stride, block, skip } of table.runs()) {
    for (let i = 0; i < count; i++) {
      const at = stride * i + skip * Math.floor(i / block);
      yield { p: p + step * i, q, re: re + at, im: im + at };
    }
  }
}
