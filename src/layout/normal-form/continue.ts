/** Recognises two layouts as the two pieces of one layout that was cut along a dimension, and puts that layout together again. */
import type { Layout, Mapped, Memory, Row, RowBound } from '../layout.ts';
import {
  affineNode,
  alternateNode,
  concatNode,
  gatherNode,
  joinNode,
  mapNode,
  maskNode,
  memoryNode,
  zerosNode,
} from './nodes.ts';
import { areIdentity, boundKey, floorModulus, normalBound, normalRow, shiftedRow } from './rows.ts';

/** How the second piece follows the first one. */
interface Seam {
  readonly d: number;
  /** Elements of the first and of the second piece along `d`. */
  readonly counts: readonly [number, number];
  /** Distance from the first element of the first piece to the first element of the second one. */
  readonly distance: number;
}

/**
 * The layout that begins with `x` along dimension `d` and ends with `y`, with `skip` elements between them; undefined if the affine
 * coordinates of `x` and `y` do not continue one another.
 */
export function continued(x: Layout, y: Layout, d: number, skip = 0): Layout | undefined {
  const counts = [x.shape[d]!, y.shape[d]!] as const;
  return layoutOver(x, y, { d, counts, distance: counts[0] + skip });
}

function shapeOver(shape: readonly number[], { d, counts, distance }: Seam): number[] {
  return shape.map((count, k) => (k === d ? distance + counts[1] : count));
}

function layoutOver(x: Layout, y: Layout, seam: Seam): Layout | undefined {
  if (x.kind === 'mask' || y.kind === 'mask') return maskedOver(x, y, seam);
  if (x.kind === 'zeros' && y.kind === 'zeros') return zerosNode(shapeOver(x.shape, seam));
  if (x.kind === 'memory' && y.kind === 'memory') return memoryOver(x, y, seam);
  if (x.kind === 'map' && y.kind === 'map') return mapOver(x, y, seam);
  if (x.kind === 'alternate' && y.kind === 'alternate') {
    const row = rowOver(x.row, y.row, seam, 2);
    const of = row && layoutOver(x.of, y.of, seam);
    return of && alternateNode(row, of as Exclude<Layout, { kind: 'alternate' }>);
  }
  if (x.kind === 'affine' && y.kind === 'affine') {
    if (x.of !== y.of && JSON.stringify(x.of) !== JSON.stringify(y.of)) return undefined;
    const rows = rowsOver(x.rows, y.rows, seam);
    if (!rows) return undefined;
    const shape = shapeOver(x.shape, seam);
    return areIdentity(rows, shape, x.of.shape) ? x.of : affineNode(shape, rows, x.of);
  }
  if (x.kind === 'concat' && y.kind === 'concat') {
    if (x.dimension !== y.dimension || x.dimension === seam.d || x.parts.length !== y.parts.length) return undefined;
    const parts = allOf(x.parts.map((part, n) => partOver(part, y.parts[n]!, x.dimension, seam)));
    return parts && concatNode(x.dimension, parts);
  }
  if (x.kind === 'join' && y.kind === 'join') {
    if (x.dimension !== y.dimension) return undefined;
    const inner = seamInside(x.dimension, x.of.shape, y.of.shape, seam);
    const of = inner && layoutOver(x.of, y.of, inner);
    return of && joinNode(x.dimension, of);
  }
  if (x.kind === 'gather' && y.kind === 'gather') {
    if (x.dimension !== y.dimension || x.dimension === seam.d) return undefined;
    if (JSON.stringify(x.order) !== JSON.stringify(y.order)) return undefined;
    const of = layoutOver(x.of, y.of, seam);
    return of && gatherNode(x.dimension, x.order, x.shape[x.dimension]!, of);
  }
  return undefined;
}

function partOver(x: Layout, y: Layout, dimension: number, seam: Seam): Layout | undefined {
  return x.shape[dimension] === y.shape[dimension] ? layoutOver(x, y, seam) : undefined;
}

/** The seam inside a join, in the coordinates before dimensions `join` and `join` + 1 became one. */
function seamInside(
  join: number,
  x: readonly number[],
  y: readonly number[],
  { d, counts, distance }: Seam,
): Seam | undefined {
  if (x[join + 1] !== y[join + 1] || (d !== join && x[join] !== y[join])) return undefined;
  if (d < join) return { d, counts, distance };
  if (d > join) return { d: d + 1, counts, distance };
  const b = x[join + 1]!;
  return distance % b === 0 ? { d, counts: [x[join]!, y[join]!], distance: distance / b } : undefined;
}

function allOf<T>(all: readonly (T | undefined)[]): T[] | undefined {
  return all.includes(undefined) ? undefined : (all as T[]);
}

/** The common step along the seam of a row with these constants and steps in the two pieces; undefined if there is none. */
function stepOver(
  first: readonly [number, number],
  steps: readonly [number, number],
  { counts, distance }: Seam,
): number | undefined {
  const step = counts[0] > 1 ? steps[0] : counts[1] > 1 ? steps[1] : (first[1] - first[0]) / distance;
  const goesOn = Number.isInteger(step) && first[1] === first[0] + step * distance;
  return goesOn && (counts[1] === 1 || steps[1] === step) ? step : undefined;
}

function memoryOver(x: Memory, y: Memory, seam: Seam): Memory | undefined {
  if (x.array !== y.array || x.negated !== y.negated) return undefined;
  for (let d = 0; d < x.shape.length; d++) if (d !== seam.d && x.strides[d] !== y.strides[d]) return undefined;
  const step = stepOver([x.offset, y.offset], [x.strides[seam.d]!, y.strides[seam.d]!], seam);
  if (step === undefined) return undefined;
  const strides = x.strides.map((stride, d) => (d === seam.d ? step : stride));
  return memoryNode(x.array, shapeOver(x.shape, seam), strides, x.offset, x.negated);
}

function mapOver(x: Mapped, y: Mapped, seam: Seam): Layout | undefined {
  if (x.by !== y.by || x.negated !== y.negated) return undefined;
  const at = rowsOver(x.at, y.at, seam);
  if (!at || !x.part !== !y.part) return undefined;
  const part = x.part && rowOver(x.part, y.part!, seam);
  if (x.part && !part) return undefined;
  const of = layoutOver(x.of, y.of, seam);
  return of && mapNode({ ...x, at, of, ...(part ? { part } : {}) });
}

function rowsOver(x: readonly Row[], y: readonly Row[], seam: Seam): Row[] | undefined {
  return allOf(x.map((row, k) => rowOver(row, y[k]!, seam)));
}

/** The row over both pieces. @param modulo if given, rows are compared modulo this number */
function rowOver(x: Row, y: Row, seam: Seam, modulo?: number): Row | undefined {
  const { d, counts, distance } = seam;
  if (x.steps.some((step, k) => k !== d && step !== y.steps[k])) return undefined;
  let step: number | undefined;
  if (modulo === undefined) step = stepOver([x.first, y.first], [x.steps[d]!, y.steps[d]!], seam);
  else {
    step = counts[0] > 1 ? x.steps[d]! : counts[1] > 1 ? y.steps[d]! : distance === 1 ? y.first - x.first : undefined;
    if (step === undefined || floorModulus(x.first + step * distance - y.first, modulo) !== 0) return undefined;
    if (counts[1] > 1 && floorModulus(step - y.steps[d]!, modulo) !== 0) return undefined;
    step = floorModulus(step, modulo);
  }
  return step === undefined
    ? undefined
    : { first: x.first, steps: x.steps.map((other, k) => (k === d ? step : other)) };
}

/** Masks continue one another if each bound of a piece is also a bound of the other piece, or always holds there. */
function maskedOver(x: Layout, y: Layout, seam: Seam): Layout | undefined {
  const [first, second] = [x, y].map((piece) => (piece.kind === 'mask' ? piece.bounds : [])) as [
    RowBound[],
    RowBound[],
  ];
  const of = layoutOver(x.kind === 'mask' ? x.of : x, y.kind === 'mask' ? y.of : y, seam);
  if (!of || of.kind === 'mask' || of.kind === 'alternate') return undefined;
  const all: RowBound[] = [];
  const rest = [...second];
  for (const bound of first) {
    const moved = movedTo(bound, y.shape, seam);
    const twin = moved ? rest.findIndex((candidate) => boundKey(candidate) === boundKey(moved)) : -1;
    if (twin >= 0) rest.splice(twin, 1);
    else if (!holdsOver(bound, seam.distance, y.shape, seam.d)) return undefined;
    all.push(bound);
  }
  for (const bound of rest) {
    const back = { ...bound, row: shiftedRow(bound.row, -seam.distance * bound.row.steps[seam.d]!) };
    if (!holdsOver(back, 0, x.shape, seam.d)) return undefined;
    all.push(back);
  }
  const bounds = all.map((bound) => normalBound(bound, of.shape)).filter((bound) => bound !== true);
  if (bounds.includes(false)) return undefined;
  const sorted = (bounds as RowBound[]).sort((a, b) => (boundKey(a) < boundKey(b) ? -1 : 1));
  return sorted.length > 0 ? maskNode(sorted, of) : of;
}

/** A bound of the first piece in the coordinates of the second one; undefined if it holds for all or for no elements there. */
function movedTo(bound: RowBound, shape: readonly number[], { d, distance }: Seam): RowBound | undefined {
  const moved = normalBound({ ...bound, row: shiftedRow(bound.row, distance * bound.row.steps[d]!) }, shape);
  return typeof moved === 'boolean' ? undefined : moved;
}

/** Whether a bound holds for all elements of a piece that begins at index `begin` along dimension `d`. */
function holdsOver({ row, ...bound }: RowBound, begin: number, shape: readonly number[], d: number): boolean {
  return normalBound({ ...bound, row: normalRow(shiftedRow(row, begin * row.steps[d]!), shape) }, shape) === true;
}
