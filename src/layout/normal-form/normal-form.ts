/**
 * The normal form: each function here puts one node on layouts in normal form, and returns a layout in normal form.
 *
 * Its laws:
 * - Operations that are affine in the coordinates (split, slide, slice, stride, reverse, permute, repeat) become one `affine`. It is
 *   absorbed by the strides of `memory`, and moves into `concat`, `join` and `gather` as far as possible.
 * - Negation is at the memory nodes; `alternate` is outside `mask`, and `mask` is outside everything else.
 * - Parts of a `concat` are not empty, and none is a concat along the same dimension. Neighbouring parts with one common step are merged,
 *   and zeros between two such parts become a `mask`.
 * - A layout without elements is `zeros`.
 *
 * Two layouts with the same normal form are equal; equal layouts may still have two normal forms.
 */
import { rootPowersModulo } from '../../numeric/large-primes/powers.ts';
import type { Affine, Concat, Gather, Join, Layout, Mapped, Masked, Memory, Order, Row, RowBound } from '../layout.ts';
import { continued } from './continue.ts';
import {
  affineNode,
  concatNode,
  gatherNode,
  joinedShape,
  joinNode,
  mapNode,
  maskNode,
  memoryNode,
  zerosNode,
} from './nodes.ts';
import { joinedMemory, normalMemory } from './plain.ts';
import {
  areIdentity,
  blockOf,
  boundKey,
  composedRow,
  coordinate,
  cutsAlong,
  dimensionsIn,
  floorModulus,
  identityRows,
  joinedRemainder,
  joinedRow,
  normalBound,
  normalRow,
  rowRange,
  rowsAlong,
  rowsWithout,
  shiftedRow,
  splitRows,
  splitShape,
  withCount,
} from './rows.ts';
import { alternated } from './signs.ts';

/** The elements of a layout at affine coordinates. */
export function affine(of: Layout, shape: readonly number[], rows: readonly Row[]): Layout {
  if (of.kind === 'memory') return affineMemory(of, shape, rows);
  if (of.kind === 'zeros' || shape.includes(0)) return zerosNode(shape);
  const normal = rows.map((row) => normalRow(row, shape));
  if (areIdentity(normal, shape, of.shape)) return of;
  const rank = shape.length;
  switch (of.kind) {
    case 'affine':
      return affine(
        of.of,
        shape,
        of.rows.map((row) => composedRow(row, normal, rank)),
      );
    case 'map':
      return affineMap(of, shape, normal);
    case 'mask': {
      const bounds = of.bounds.map((bound) => ({ ...bound, row: composedRow(bound.row, normal, rank) }));
      return masked(bounds, affine(of.of, shape, normal));
    }
    case 'alternate':
      return alternated(composedRow(of.row, normal, rank), affine(of.of, shape, normal));
    case 'concat':
      return affineConcat(of, shape, normal);
    case 'join':
      return affineJoin(of, shape, normal);
    case 'gather':
      return affineGather(of, shape, normal);
  }
}

function affineMap({ at, part, of, ...map }: Mapped, shape: readonly number[], rows: readonly Row[]): Layout {
  const moved = (row: Row) => composedRow(row, rows, shape.length);
  if (!part) return mappedLayout({ ...map, at: at.map(moved), of: affine(of, shape, rows) });
  const numbers = [...shape, of.shape.at(-1)!];
  const inner = rows.map(({ first, steps }): Row => ({ first, steps: [...steps, 0] }));
  return mappedLayout({
    ...map,
    at: at.map(moved),
    of: affine(of, numbers, [...inner, coordinate(numbers, shape.length)]),
    part: moved(part),
  });
}

function affineMemory(of: Memory, shape: readonly number[], rows: readonly Row[]): Layout {
  const strides = new Array<number>(shape.length).fill(0);
  let offset = of.offset;
  for (let k = 0; k < rows.length; k++) {
    const stride = of.strides[k]!;
    if (stride === 0) continue;
    const { first, steps } = rows[k]!;
    offset += first * stride;
    for (let d = 0; d < strides.length; d++) strides[d] = strides[d]! + stride * steps[d]!;
  }
  return normalMemory(of.array, shape, strides, offset, of.negated);
}

/** Indices from … to − 1 of one dimension. */
export function sliced(of: Layout, d: number, from: number, to: number): Layout {
  if (from === 0 && to === of.shape[d]) return of;
  const shape = withCount(of.shape, d, to - from);
  if (from === to) return zerosNode(shape);
  if (of.kind === 'memory') {
    const strides = to - from > 1 ? of.strides : of.strides.map((stride, k) => (k === d ? 0 : stride));
    return memoryNode(of.array, shape, strides, of.offset + of.strides[d]! * from, of.negated);
  }
  if (of.kind === 'concat' && of.dimension !== d)
    return concatenated(
      of.dimension,
      of.parts.map((part) => sliced(part, d, from, to)),
    );
  return affine(
    of,
    shape,
    identityRows(of.shape).map((row, k) => (k === d ? shiftedRow(row, from) : row)),
  );
}

/**
 * Affine over concat. If the row along the parts stays in one part, only that part is left. If a single dimension leads from part to
 * part, the result is a concat along that dimension. Otherwise only the rows of the other dimensions move inside.
 */
function affineConcat({ dimension, parts }: Concat, shape: readonly number[], rows: readonly Row[]): Layout {
  const row = rows[dimension]!;
  const [low, high] = rowRange(row, shape);
  const pieces: { readonly part: Layout; readonly begin: number }[] = [];
  let begin = 0;
  for (const part of parts) {
    const end = begin + part.shape[dimension]!;
    const [from, to] = [Math.max(begin, low), Math.min(end, high + 1)];
    if (from < to) pieces.push({ part: sliced(part, dimension, from - begin, to - begin), begin: from });
    begin = end;
  }
  const from = (start: number) => rows.map((each, k) => (k === dimension ? shiftedRow(each, -start) : each));
  if (pieces.length === 1) return affine(pieces[0]!.part, shape, from(low));
  const along = dimensionsIn(row).sort((a, b) => Math.abs(row.steps[b]!) - Math.abs(row.steps[a]!));
  const borders = pieces.slice(1).map((piece) => piece.begin);
  for (const d of along) {
    const cuts = cutsAlong(row, d, shape, borders);
    if (!cuts) continue;
    const ordered = row.steps[d]! > 0 ? pieces : [...pieces].reverse();
    const ends = [...cuts, shape[d]!];
    const moved = ordered.map(({ part, begin }, n) => {
      const start = n === 0 ? 0 : ends[n - 1]!;
      const inPart = from(begin).map((each) => shiftedRow(each, start * each.steps[d]!));
      return affine(part, withCount(shape, d, ends[n]! - start), inPart);
    });
    return concatenated(d, moved);
  }
  const trimmed = concatenated(
    dimension,
    pieces.map(({ part }) => part),
  );
  if (trimmed.kind !== 'concat' || trimmed.dimension !== dimension) return affine(trimmed, shape, from(low));
  return separatedAffine(trimmed, [dimension], shape, from(low));
}

/**
 * Affine over a layout that it cannot pass along the dimensions `special`: the rows of the other dimensions move inside, if they share no
 * dimension of the result with the special rows.
 */
function separatedAffine(
  of: Affine['of'],
  special: readonly number[],
  shape: readonly number[],
  rows: readonly Row[],
): Layout {
  const used = new Set(special.flatMap((k) => dimensionsIn(rows[k]!)));
  const mixed = rows.some((row, k) => !special.includes(k) && dimensionsIn(row).some((d) => used.has(d)));
  if (mixed) return affineNode(shape, rows, of);
  // The inner layout has the dimensions that the special rows do not use, and the special dimensions in place of the used ones.
  const place = Math.min(...used);
  const inner: { readonly outer?: number; readonly k?: number; readonly count: number }[] = [];
  const specials = special.map((k) => ({ k, count: of.shape[k]! }));
  shape.forEach((count, outer) => {
    if (outer === place) inner.push(...specials);
    if (!used.has(outer)) inner.push({ outer, count });
  });
  const innerShape = inner.map(({ count }) => count);
  const innerRows = rows.map(({ first, steps }, k): Row => {
    if (special.includes(k))
      return coordinate(
        innerShape,
        inner.findIndex((each) => each.k === k),
      );
    return { first, steps: inner.map(({ outer }) => (outer === undefined ? 0 : steps[outer]!)) };
  });
  if (areIdentity(innerRows, innerShape, of.shape)) return affineNode(shape, rows, of);
  const outerRows = inner.map(({ outer, k }) => (outer === undefined ? rows[k!]! : coordinate(shape, outer)));
  return affine(throughSpecial(of, special[0]!, innerShape, innerRows), shape, outerRows);
}

/** Affine with rows that only move the special dimension of a layout to another position. */
function throughSpecial(of: Affine['of'], special: number, shape: readonly number[], rows: readonly Row[]): Layout {
  const place = rows[special]!.steps.indexOf(1);
  switch (of.kind) {
    case 'concat':
      return concatenated(
        place,
        of.parts.map((part) => affine(part, withCount(shape, place, part.shape[special]!), rows)),
      );
    case 'gather': {
      const count = of.of.shape[special]!;
      return gathered(place, of.order, affine(of.of, withCount(shape, place, count), rows));
    }
    case 'join': {
      const [a, b] = [of.of.shape[special]!, of.of.shape[special + 1]!];
      return joinedDimensions(
        place,
        affine(of.of, splitShape(shape, place, a, b), splitRows(rows, special, place, a, b)),
      );
    }
  }
}

/**
 * Affine over join. If the joined row is a multiple of the second length b plus a rest below b, the two are the rows of the dimensions
 * that were joined.
 */
function affineJoin(join: Join, shape: readonly number[], rows: readonly Row[]): Layout {
  const { dimension: d, of } = join;
  const b = of.shape[d + 1]!;
  const { first, steps } = rows[d]!;
  const slow = steps.map((step) => (step % b === 0 ? step / b : 0));
  const fast: Row = { first: floorModulus(first, b), steps: steps.map((step) => (step % b === 0 ? 0 : step)) };
  const [low, high] = rowRange(fast, shape);
  const period = Math.floor(low / b);
  if (period === Math.floor(high / b)) {
    const quotient: Row = { first: Math.floor(first / b) + period, steps: slow };
    return affine(of, shape, [...rows.slice(0, d), quotient, shiftedRow(fast, -period * b), ...rows.slice(d + 1)]);
  }
  return affineInJoin(join, shape, rows) ?? separatedAffine(join, [d], shape, rows);
}

/** A row that walks whole blocks of the second length, in steps that divide it, forwards or backwards, is a join again. */
function affineInJoin({ dimension: d, of }: Join, shape: readonly number[], rows: readonly Row[]): Layout | undefined {
  const b = of.shape[d + 1]!;
  const row = rows[d]!;
  const [p, ...others] = dimensionsIn(row);
  const step = row.steps[p!]!;
  const size = Math.abs(step);
  const count = b / size;
  if (others.length > 0 || b % size !== 0 || shape[p!]! % count !== 0) return undefined;
  const rest = floorModulus(row.first, b);
  if (step > 0 ? rest >= step : rest < b - size) return undefined;
  const [whole, digits] = [shape[p!]! / count, splitShape(shape, p!, shape[p!]! / count, count)];
  const inDigits = ({ first, steps }: Row): Row => ({
    first,
    steps: [...steps.slice(0, p), whole > 1 ? steps[p!]! * count : 0, steps[p!]!, ...steps.slice(p! + 1)],
  });
  const only = (at: number, by: number) => digits.map((_, k) => (k === at ? by : 0));
  const quotient: Row = { first: Math.floor(row.first / b), steps: only(p!, whole > 1 ? Math.sign(step) : 0) };
  const remainder: Row = { first: rest, steps: only(p! + 1, step) };
  const inner = rows.flatMap((each, k) => (k === d ? [quotient, remainder] : [inDigits(each)]));
  return joinedDimensions(p!, affine(of, digits, inner));
}

function affineGather(of: Gather, shape: readonly number[], rows: readonly Row[]): Layout {
  const { dimension: d, order } = of;
  if (dimensionsIn(rows[d]!).length > 0) return separatedAffine(of, [d], shape, rows);
  const entry: Row = { first: orderIndices(order)[rows[d]!.first]!, steps: rows[d]!.steps };
  return affine(
    of.of,
    shape,
    rows.map((row, k) => (k === d ? entry : row)),
  );
}

/** The indices of an order. */
export function orderIndices(order: Order): readonly number[] {
  return 'entries' in order ? order.entries : rootPowersModulo(order.powersOf, order.inverse);
}

/** Joins dimensions `d` and `d` + 1. */
export function joinedDimensions(d: number, of: Layout): Layout {
  const counts = [of.shape[d]!, of.shape[d + 1]!] as const;
  const shape = joinedShape(of.shape, d);
  if (shape[d] === 0) return zerosNode(shape);
  if (counts[0] === 1 || counts[1] === 1) return affine(of, shape, rowsWithout(shape, d, counts[0] === 1));
  switch (of.kind) {
    case 'zeros':
      return zerosNode(shape);
    case 'memory':
      return joinedMemory(of, d);
    case 'affine': {
      const rows = of.rows.map((row) => joinedRow(row, d, counts));
      return rows.includes(undefined) ? joinNode(d, of) : affine(of.of, shape, rows as Row[]);
    }
    case 'map': {
      const rows = [...of.at, ...(of.part ? [of.part] : [])].map((row) => joinedRow(row, d, counts));
      if (rows.includes(undefined)) return joinNode(d, of);
      const [at, part] = [rows.slice(0, of.at.length) as Row[], rows[of.at.length]];
      return mappedLayout({ ...of, at, of: joinedDimensions(d, of.of), ...(part ? { part } : {}) });
    }
    case 'mask':
      return joinedMask(d, of);
    case 'alternate': {
      const row = joinedRemainder(of.row, d, counts, 2);
      return row ? alternated(row, joinedDimensions(d, of.of)) : joinNode(d, of);
    }
    case 'concat':
      return joinedConcat(d, of);
    case 'gather': {
      const along = of.dimension;
      if (along === d || along === d + 1) return joinNode(d, of);
      return gathered(along > d ? along - 1 : along, of.order, joinedDimensions(d, of.of));
    }
    case 'join':
      return joinedJoin(d, of);
  }
}

/** Orders nested joins: of three dimensions that become one, the first two are joined first; of two separate joins, the one in front. */
function joinedJoin(d: number, of: Join): Layout {
  if (of.dimension <= d) return joinNode(d, of);
  if (of.dimension === d + 1) return joinedDimensions(d, joinedDimensions(d, of.of));
  return joinedDimensions(of.dimension - 1, joinedDimensions(d, of.of));
}

function joinedConcat(d: number, of: Concat): Layout {
  const along = of.dimension;
  if (along === d + 1) return joinNode(d, of);
  const parts = of.parts.map((part) => joinedDimensions(d, part));
  return concatenated(along > d ? along - 1 : along, parts);
}

/** Join of a mask: bounds that can be expressed in the joined dimension move outside. */
function joinedMask(d: number, { bounds, of, shape }: Masked): Layout {
  const counts = [shape[d]!, shape[d + 1]!] as const;
  const outside: RowBound[] = [];
  const inside: RowBound[] = [];
  for (const bound of bounds) {
    const { row, modulo } = bound;
    const whole = modulo === undefined ? joinedRow(row, d, counts) : joinedRemainder(row, d, counts, modulo);
    if (whole) outside.push({ ...bound, row: whole });
    else inside.push(bound);
  }
  const inner = inside.length > 0 ? joinNode(d, masked(inside, of)) : joinedDimensions(d, of);
  return masked(outside, inner);
}

/** Layouts one behind another along dimension `d`. */
export function concatenated(d: number, given: readonly Layout[]): Layout {
  const parts: Layout[] = [];
  for (const part of given) {
    if (part.kind === 'concat' && part.dimension === d) parts.push(...part.parts);
    else if (part.shape[d]! > 0) parts.push(part);
  }
  if (parts.length === 0) return given[0]!;
  if (parts[0]!.shape.includes(0)) {
    const total = parts.reduce((sum, { shape }) => sum + shape[d]!, 0);
    return zerosNode(withCount(parts[0]!.shape, d, total));
  }
  // A part of one element has no step of its own, so longer parts are merged first.
  const longer = mergedParts(d, parts, 2);
  const merged = parts.every(({ shape }) => shape[d]! > 1) ? longer : mergedParts(d, longer, 1);
  return merged.length === 1 ? merged[0]! : concatNode(d, merged);
}

/**
 * Merges neighbouring parts that continue one another; with zeros between them, the merged part has a hole.
 * @param least number of elements that the longer of two merged parts has to have
 */
function mergedParts(d: number, parts: readonly Layout[], least: number): Layout[] {
  const merged: Layout[] = [];
  for (const part of parts) {
    let next = part;
    while (true) {
      const last = merged.at(-1);
      const whole = last && Math.max(last.shape[d]!, next.shape[d]!) >= least ? continued(last, next, d) : undefined;
      if (whole) {
        merged.pop();
        next = whole;
        continue;
      }
      const before = merged.at(-2);
      const long = before && Math.max(before.shape[d]!, next.shape[d]!) >= least;
      const hole =
        long && last!.kind === 'zeros' && next.kind !== 'zeros'
          ? withHole(before, next, d, last!.shape[d]!)
          : undefined;
      if (!hole) break;
      merged.length -= 2;
      next = hole;
    }
    merged.push(next);
  }
  return merged;
}

function withHole(before: Layout, after: Layout, d: number, count: number): Layout | undefined {
  const whole = continued(before, after, d, count);
  const from = before.shape[d]!;
  const row = whole && coordinate(whole.shape, d);
  return row && masked([{ row, from, to: from + count, outside: true }], whole);
}

/** The given layout with zeros wherever one of the bounds does not hold. */
export function masked(given: readonly RowBound[], of: Layout): Layout {
  if (given.length === 0 || of.kind === 'zeros') return of;
  if (of.kind === 'alternate') return alternated(of.row, masked(given, of.of));
  const { shape } = of;
  const bounds = new Map<string, RowBound>();
  for (const bound of of.kind === 'mask' ? [...of.bounds, ...given] : given) {
    const normal = normalBound(bound, shape);
    if (normal === false) return zerosNode(shape);
    if (normal !== true) bounds.set(boundKey(normal), normal);
  }
  const inner = of.kind === 'mask' ? of.of : of;
  const kept: RowBound[] = [];
  let result: Layout = inner;
  const blocks: { readonly d: number; readonly from: number; readonly to: number }[] = [];
  for (const bound of bounds.values()) {
    const block = blockOf(bound, shape);
    if (block) blocks.push(block);
    else kept.push(bound);
  }
  if (kept.length > 0) {
    kept.sort((a, b) => (boundKey(a) < boundKey(b) ? -1 : 1));
    result = maskNode(kept, inner);
  }
  return blocks.reduce((layout: Layout, { d, from, to }) => onlyWithin(layout, d, from, to), result);
}

/** The given layout with zeros outside a block of one dimension. */
export function onlyWithin(of: Layout, d: number, from: number, to: number): Layout {
  const zeros = (count: number) => zerosNode(withCount(of.shape, d, count));
  return concatenated(d, [zeros(from), sliced(of, d, from, to), zeros(of.shape[d]! - to)]);
}

/** The given layout in another order along a dimension. */
export function gathered(d: number, order: Order, of: Layout): Layout {
  const count = orderIndices(order).length;
  const shape = withCount(of.shape, d, count);
  if (of.kind === 'zeros' || shape.includes(0)) return zerosNode(shape);
  if (of.kind === 'alternate' && of.row.steps[d] === 0) return alternated(of.row, gathered(d, order, of.of));
  if (of.kind === 'mask') {
    const outside = of.bounds.filter(({ row }) => row.steps[d] === 0);
    const inside = of.bounds.filter(({ row }) => row.steps[d] !== 0);
    if (outside.length > 0) return masked(outside, gathered(d, order, masked(inside, of.of)));
  }
  if (of.kind === 'concat' && of.dimension !== d)
    return concatenated(
      of.dimension,
      of.parts.map((part) => gathered(d, order, part)),
    );
  const step = 'entries' in order ? evenStep(order.entries) : undefined;
  if (step !== undefined) return affine(of, shape, rowsAlong(shape, d, orderIndices(order)[0]!, step));
  return gatherNode(d, order, count, of);
}

/** The distance of neighbouring entries; undefined if it is not the same for all. */
function evenStep(entries: readonly number[]): number | undefined {
  const step = entries.length > 1 ? entries[1]! - entries[0]! : 0;
  return entries.every((entry, n) => entry === entries[0]! + n * step) ? step : undefined;
}

/** A map in normal form. @param given its fields; the rows `at` and `part` are over the shape of the map */
export function mappedLayout({ at, part, ...given }: Omit<Mapped, 'kind' | 'shape'>): Layout {
  const shape = part ? given.of.shape.slice(0, -1) : given.of.shape;
  if (shape.includes(0)) return zerosNode(shape);
  const normal = at.map((row) => normalRow(row, shape));
  return mapNode({ ...given, at: normal, ...(part ? { part: normalRow(part, shape) } : {}) });
}
