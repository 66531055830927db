/** Arithmetic of rows: integers that are affine in the coordinates of a layout. */
import type { Row, RowBound } from '../layout.ts';

/** The row whose value is one coordinate. */
export function coordinate(shape: readonly number[], dimension: number): Row {
  return { first: 0, steps: shape.map((count, d) => (d === dimension && count > 1 ? 1 : 0)) };
}

/** The rows that leave all coordinates as they are. */
export function identityRows(shape: readonly number[]): Row[] {
  return shape.map((_, d) => coordinate(shape, d));
}

/** A row without steps along dimensions that have one coordinate. */
export function normalRow({ first, steps }: Row, shape: readonly number[]): Row {
  let same = true;
  for (let d = 0; d < steps.length; d++) if (steps[d] !== 0 && shape[d]! <= 1) same = false;
  return same ? { first, steps } : { first, steps: steps.map((step, d) => (shape[d]! > 1 ? step : 0)) };
}

/** Substitutes: a row over inner coordinates, where each inner coordinate is a row over `rank` outer coordinates. */
export function composedRow({ first, steps }: Row, rows: readonly Row[], rank: number): Row {
  let constant = first;
  const sums = new Array<number>(rank).fill(0);
  for (let k = 0; k < steps.length; k++) {
    const step = steps[k]!;
    if (step === 0) continue;
    const row = rows[k]!;
    constant += step * row.first;
    for (let d = 0; d < rank; d++) sums[d] = sums[d]! + step * row.steps[d]!;
  }
  return { first: constant, steps: sums };
}

export function shiftedRow({ first, steps }: Row, by: number): Row {
  return { first: first + by, steps };
}

/** The least and the largest value of a row. */
export function rowRange({ first, steps }: Row, shape: readonly number[]): [low: number, high: number] {
  let low = first;
  let high = first;
  for (let d = 0; d < steps.length; d++) {
    const far = steps[d]! * (shape[d]! - 1);
    if (far > 0) high += far;
    else low += far;
  }
  return [low, high];
}

/** The dimensions that a row depends on. */
export function dimensionsIn({ steps }: Row): number[] {
  const found: number[] = [];
  for (let d = 0; d < steps.length; d++) if (steps[d] !== 0) found.push(d);
  return found;
}

export function sameRow(a: Row, b: Row): boolean {
  return a.first === b.first && a.steps.every((step, d) => step === b.steps[d]);
}

/** Whether rows leave the coordinates of a shape as they are. */
export function areIdentity(rows: readonly Row[], from: readonly number[], to: readonly number[]): boolean {
  if (from.length !== to.length) return false;
  for (let k = 0; k < rows.length; k++) {
    const { first, steps } = rows[k]!;
    if (first !== 0 || from[k] !== to[k]) return false;
    for (let d = 0; d < steps.length; d++) if (steps[d] !== (d === k && from[k]! > 1 ? 1 : 0)) return false;
  }
  return true;
}

/**
 * A row after dimensions `d` and `d` + 1, of lengths a and b, were joined; undefined if it is no affine function of the joined
 * coordinate.
 */
export function joinedRow({ first, steps }: Row, d: number, [a, b]: readonly [number, number]): Row | undefined {
  const [slow, fast] = [steps[d]!, steps[d + 1]!];
  const step = b === 1 ? slow : fast;
  if (a > 1 && b > 1 && slow !== fast * b) return undefined;
  return { first, steps: [...steps.slice(0, d), step, ...steps.slice(d + 2)] };
}

/** `joinedRow` for a row of which only the remainder modulo `modulo` matters. */
export function joinedRemainder(
  row: Row,
  d: number,
  counts: readonly [number, number],
  modulo: number,
): Row | undefined {
  const [a, b] = counts;
  const { first, steps } = row;
  if (a === 1 || b === 1) return joinedRow(row, d, counts);
  if (floorModulus(steps[d]! - steps[d + 1]! * b, modulo) !== 0) return undefined;
  return { first, steps: [...steps.slice(0, d), steps[d + 1]!, ...steps.slice(d + 2)] };
}

export function floorModulus(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}

/** A row with constant and steps reduced modulo `by`, for use where only its remainder matters. */
export function remainderRow({ first, steps }: Row, by: number): Row {
  return { first: floorModulus(first, by), steps: steps.map((step) => floorModulus(step, by)) };
}

/**
 * A bound in normal form: constant and steps are reduced by the modulo, and the modulo is dropped if the row stays in one period of it.
 * @returns true or false if the bound holds for all or for no coordinates
 */
export function normalBound(bound: RowBound, shape: readonly number[]): RowBound | boolean {
  const { from, to, outside } = bound;
  let row = normalRow(bound.row, shape);
  let modulo = bound.modulo;
  if (modulo !== undefined) {
    row = remainderRow(row, modulo);
    const [low, high] = rowRange(row, shape);
    const period = Math.floor(low / modulo);
    if (period === Math.floor(high / modulo)) {
      row = shiftedRow(row, -period * modulo);
      modulo = undefined;
    }
  }
  let [low, high] = rowRange(row, shape);
  if (modulo !== undefined) [low, high] = [0, modulo - 1];
  const within = low >= from && high < to;
  const apart = from >= to || high < from || low >= to;
  if (within || apart) return within !== (outside ?? false);
  if (modulo === undefined) return primitiveBound(row, Math.max(from, low), Math.min(to, high + 1), outside);
  return { row, modulo, from: Math.max(from, low), to: Math.min(to, high + 1), ...(outside ? { outside } : {}) };
}

/** A bound whose row has no constant, and steps without common divisor of which the first is positive, so that equal bounds are equal data. */
function primitiveBound({ first, steps }: Row, from: number, to: number, outside: true | undefined): RowBound {
  const lead = steps.find((step) => step !== 0)!;
  const by = steps.reduce((a, b) => greatestDivisor(a, Math.abs(b)), 0) * Math.sign(lead);
  const [least, most] = [(from - first) / by, (to - 1 - first) / by];
  const bounds = { from: Math.ceil(Math.min(least, most)) + 0, to: Math.floor(Math.max(least, most)) + 1 };
  const row = first === 0 && by === 1 ? { first, steps } : { first: 0, steps: steps.map((step) => step / by + 0) };
  return { row, ...bounds, ...(outside ? { outside } : {}) };
}

export function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** A key that is equal for equal rows. */
export function rowKey({ first, steps }: Row): string {
  return `${first}:${steps.join()}`;
}

/** A key that is equal for equal bounds. */
export function boundKey({ row, modulo, from, to, outside }: RowBound): string {
  return `${rowKey(row)}%${modulo ?? ''}${outside ? '!' : ''}${from}:${to}`;
}

/** The block of one dimension in which a bound holds; undefined if the elements where it holds are no such block. */
export function blockOf({ row, modulo, from, to, outside }: RowBound, shape: readonly number[]) {
  const [d, ...others] = dimensionsIn(row);
  if (modulo !== undefined || others.length > 0) return undefined;
  const [step, count] = [row.steps[d!]!, shape[d!]!];
  const [first, end] =
    step > 0
      ? [Math.ceil((from - row.first) / step), Math.ceil((to - row.first) / step)]
      : [Math.floor((row.first - to) / -step) + 1, Math.floor((row.first - from) / -step) + 1];
  const [low, high] = [Math.max(0, first), Math.min(count, end)];
  if (!outside) return { d: d!, from: low, to: Math.max(low, high) };
  if (low >= high) return { d: d!, from: 0, to: count };
  if (low === 0) return { d: d!, from: high, to: count };
  return high === count ? { d: d!, from: 0, to: low } : undefined;
}

/**
 * The coordinates along dimension `d` at which a row crosses borders.
 * @returns ascending; undefined if the crossings depend on the other coordinates
 */
export function cutsAlong(
  row: Row,
  d: number,
  shape: readonly number[],
  borders: readonly number[],
): number[] | undefined {
  const step = row.steps[d]!;
  const count = shape[d]!;
  const others: Row = { first: row.first, steps: row.steps.map((other, k) => (k === d ? 0 : other)) };
  const [low, high] = rowRange(others, shape);
  const cuts: number[] = [];
  for (const border of step > 0 ? borders : [...borders].reverse()) {
    const first = step > 0 ? Math.ceil((border - low) / step) : Math.floor((high - border) / -step) + 1;
    const cut = Math.max(0, Math.min(count, first));
    const before = step * (cut - 1);
    if (cut > 0 && (step > 0 ? before + high >= border : before + low < border)) return undefined;
    cuts.push(cut);
  }
  return cuts;
}

/** A shape with another length along a dimension. */
export function withCount(shape: readonly number[], d: number, count: number): number[] {
  return shape.map((length, k) => (k === d ? count : length));
}

/** A shape with two dimensions in the place of one. */
export function splitShape(shape: readonly number[], d: number, a: number, b: number): number[] {
  return [...shape.slice(0, d), a, b, ...shape.slice(d + 1)];
}

/** Rows after a joined dimension was split again: its row becomes two, for dimensions `place` and `place` + 1 of the new shape. */
export function splitRows(rows: readonly Row[], special: number, place: number, a: number, b: number): Row[] {
  const widened = (row: Row, slow: number, fast: number): Row => ({
    first: row.first,
    steps: [...row.steps.slice(0, place), slow, fast, ...row.steps.slice(place + 1)],
  });
  return rows.flatMap((row, k) =>
    k === special ? [widened(row, a > 1 ? 1 : 0, 0), widened(row, 0, b > 1 ? 1 : 0)] : [widened(row, 0, 0)],
  );
}

/** Rows for a join of two dimensions of which one has length 1, so that it disappears. @param slow whether that is the slow one */
export function rowsWithout(shape: readonly number[], d: number, slow: boolean): Row[] {
  const none: Row = { first: 0, steps: shape.map(() => 0) };
  return shape.flatMap((_, k) => {
    const row = coordinate(shape, k);
    return k !== d ? [row] : slow ? [none, row] : [row, none];
  });
}

/** Rows that leave all coordinates of a shape as they are except dimension `d`, whose coordinate i becomes first + step·i. */
export function rowsAlong(shape: readonly number[], d: number, first: number, step: number): Row[] {
  const rows = identityRows(shape);
  rows[d] = { first, steps: rows[d]!.steps.map((unit) => unit * step + 0) };
  return rows;
}
