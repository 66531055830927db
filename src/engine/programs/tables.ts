/** Fills tables with roots of unity and other values, each rounded once to the type that the device reads. */
import type { RealArray } from '../../devices/device.ts';
import type { Table } from '../../ir/index.ts';
import { complexDdRootsOf } from '../../numeric/double-double/complex-dd.ts';
import { NearestRoots, type RealTable, type RootRun } from '../../numeric/nearest-roots.ts';

/** @param data of the table's type and length */
export function fillTable(data: RealArray, table: Table): void {
  if (!table.pairs) {
    setValues(data, table, 1);
    // Roots are only in tables of singles or doubles.
    return eachRun(table.runs(), nearestRoots, (roots, run) => roots.fill(data as RealTable, run));
  }
  if (table.type === 'f64') {
    setValues(data, table, 2);
    return eachRun(table.runs(), complexDdRootsOf, (roots, run) => roots.fill(data as Float64Array, run));
  }
  // The table holds each double as two singles.
  const doubles = new Float64Array(table.length / 2);
  setValues(doubles, table, 1);
  eachRun(table.runs(), nearestRoots, (roots, run) => roots.fill(doubles, run));
  toPairs(doubles, data as Float32Array);
}

function setValues(data: RealArray, table: Table, words: 1 | 2): void {
  for (const { start, values } of table.values?.() ?? []) {
    if (typeof values === 'function') values(data, words * start);
    else data.set(values, words * start);
  }
}

function nearestRoots(n: number, wanted?: number): NearestRoots {
  return new NearestRoots(n, wanted);
}

/**
 * Calls `fill` for each run of a table with a generator of its roots. The orders of most runs divide the largest order, so one
 * generator serves them all.
 */
function eachRun<R extends { readonly n: number }>(
  runs: readonly RootRun[],
  rootsOf: (n: number, wanted?: number) => R,
  fill: (roots: R, run: RootRun) => void,
): void {
  if (runs.length === 0) return;
  let order = 1;
  let wanted = 0;
  for (const { q, count } of runs) {
    order = Math.max(order, q);
    wanted += count;
  }
  const longest = rootsOf(order, wanted);
  const others = new Map<number, R>();
  for (const run of runs) {
    let roots = longest.n % run.q === 0 ? longest : others.get(run.q);
    if (!roots) others.set(run.q, (roots = rootsOf(run.q)));
    fill(roots, run);
  }
}

/** Doubles as sums of two singles, to 48 bits: hi, lo, hi, lo … */
export function toPairs(doubles: ArrayLike<number>, pairs: Float32Array): void {
  for (let n = 0; n < doubles.length; n++) {
    const value = doubles[n]!;
    const hi = Math.fround(value);
    pairs[2 * n] = hi;
    // A value whose upper part is not finite gets the lower part 0.
    pairs[2 * n + 1] = Number.isFinite(hi) ? value - hi : 0;
  }
}

/** The inverse of `toPairs`. */
export function fromPairs(pairs: ArrayLike<number>, doubles: { [n: number]: number; readonly length: number }): void {
  for (let n = 0; n < doubles.length; n++) doubles[n] = pairs[2 * n]! + pairs[2 * n + 1]!;
}
