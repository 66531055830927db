/**
 * The normal form: each function here makes one node over layouts in normal form, and gives a layout in normal form.
 *
 * Its laws: all that is affine in the coordinates (split, slide, slice, stride, reverse, permute, repeat) is one `affine`, which becomes
 * strides of `memory`, and goes on into `concat`, `join` and `gather` as far as it can. Signs are at the leaves; `alternate` is
 * outside `mask`, which is outside everything else. Parts of a `concat` are not empty and no concats along the same dimension;
 * neighbours that go on in one step are one part; zeros between two of them are a `mask`. Whatever has no elements is `zeros`.
 *
 * Two layouts with the same normal form mean the same; the same meaning may have two normal forms.
 */
import { powers } from '../numeric/powers.ts';
import { continued } from './continue.ts';
import type { Affine, Concat, Gather, Join, Layout, Mapped, Masked, Memory, Order, Row, RowBound } from './layout.ts';
import { affineNode, concatNode, gatherNode, joinedShape, joinNode, mapNode, maskNode, zerosNode } from './nodes.ts';
import { joinedMemory, normalMemory } from './plain.ts';
import {
  areIdentity,
  blockOf,
  boundKey,
  composed,
  coordinate,
  cutsAlong,
  dimensionsIn,
  identityRows,
  joinedRemainder,
  joinedRow,
  modulus,
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
  const own = rows.map((row) => normalRow(row, shape));
  if (areIdentity(own, shape, of.shape)) return of;
  const rank = shape.length;
  switch (of.kind) {
    case 'affine':
      return affine(
        of.of,
        shape,
        of.rows.map((row) => composed(row, own, rank)),
      );
    case 'map':
      return affineMap(of, shape, own);
    case 'mask': {
      const bounds = of.bounds.map((bound) => ({ ...bound, row: composed(bound.row, own, rank) }));
      return masked(bounds, affine(of.of, shape, own));
    }
    case 'alternate':
      return alternated(composed(of.row, own, rank), affine(of.of, shape, own));
    case 'concat':
      return affineConcat(of, shape, own);
    case 'join':
      return affineJoin(of, shape, own);
    case 'gather':
      return affineGather(of, shape, own);
  }
}

function affineMap({ at, part, of, ...map }: Mapped, shape: readonly number[], rows: readonly Row[]): Layout {
  const own = (row: Row) => composed(row, rows, shape.length);
  if (!part) return mapped({ ...map, at: at.map(own), of: affine(of, shape, rows) });
  const numbers = [...shape, of.shape.at(-1)!];
  const inner = rows.map(({ first, steps }): Row => ({ first, steps: [...steps, 0] }));
  return mapped({
    ...map,
    at: at.map(own),
    of: affine(of, numbers, [...inner, coordinate(numbers, shape.length)]),
    part: own(part),
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

/** Indices from … to of one dimension. */
export function sliced(of: Layout, d: number, from: number, to: number): Layout {
  if (from === 0 && to === of.shape[d]) return of;
  const shape = of.shape.map((count, own) => (own === d ? to - from : count));
  return affine(
    of,
    shape,
    identityRows(of.shape).map((row, own) => (own === d ? shiftedRow(row, from) : row)),
  );
}

/**
 * Affine over concat. Where the row that counts along the parts stays in one part, that part is left. Where one dimension leads from part
 * to part, it is a concat along that dimension. Else what has nothing to do with it goes inside.
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
  const from = (start: number) => rows.map((own, k) => (k === dimension ? shiftedRow(own, -start) : own));
  if (pieces.length === 1) return affine(pieces[0]!.part, shape, from(low));
  const along = dimensionsIn(row).sort((a, b) => Math.abs(row.steps[b]!) - Math.abs(row.steps[a]!));
  const borders = pieces.slice(1).map((piece) => piece.begin);
  for (const d of along) {
    const cuts = cutsAlong(row, d, shape, borders);
    if (!cuts) continue;
    const ordered = row.steps[d]! > 0 ? pieces : [...pieces].reverse();
    const ends = [...cuts, shape[d]!];
    const own = ordered.map(({ part, begin }, n) => {
      const start = n === 0 ? 0 : ends[n - 1]!;
      const moved = from(begin).map((each) => shiftedRow(each, start * each.steps[d]!));
      return affine(part, withCount(shape, d, ends[n]! - start), moved);
    });
    return concatenated(d, own);
  }
  const trimmed = concatenated(
    dimension,
    pieces.map(({ part }) => part),
  );
  if (trimmed.kind !== 'concat' || trimmed.dimension !== dimension) return affine(trimmed, shape, from(low));
  return separatedAffine(trimmed, [dimension], shape, from(low));
}

/** Affine over some layout whose dimensions `special` it does not go through: rows of the others go inside, if they have no dimension in common. */
function separatedAffine(
  of: Affine['of'],
  special: readonly number[],
  shape: readonly number[],
  rows: readonly Row[],
): Layout {
  const used = new Set(special.flatMap((k) => dimensionsIn(rows[k]!)));
  const mixed = rows.some((row, k) => !special.includes(k) && dimensionsIn(row).some((d) => used.has(d)));
  if (mixed) return affineNode(shape, rows, of);
  // Inside: the own dimensions that are not used, and the special ones in their place.
  const place = Math.min(...used);
  const inner: { readonly own?: number; readonly k?: number; readonly count: number }[] = [];
  const specials = special.map((k) => ({ k, count: of.shape[k]! }));
  shape.forEach((count, own) => {
    if (own === place) inner.push(...specials);
    if (!used.has(own)) inner.push({ own, count });
  });
  const innerShape = inner.map(({ count }) => count);
  const innerRows = rows.map(({ first, steps }, k): Row => {
    if (special.includes(k))
      return coordinate(
        innerShape,
        inner.findIndex((each) => each.k === k),
      );
    return { first, steps: inner.map(({ own }) => (own === undefined ? 0 : steps[own]!)) };
  });
  if (areIdentity(innerRows, innerShape, of.shape)) return affineNode(shape, rows, of);
  const outerRows = inner.map(({ own, k }) => (own === undefined ? rows[k!]! : coordinate(shape, own)));
  return affine(throughSpecial(of, special[0]!, innerShape, innerRows), shape, outerRows);
}

/** Rows that leave the special dimension of a layout as it is, but for its place among the others. */
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
      return joined(place, affine(of.of, splitShape(shape, place, a, b), splitRows(rows, special, place, a, b)));
    }
  }
}

/** Affine over join: where the row is a multiple of the second length and a rest below it, these are the rows of both. */
function affineJoin(join: Join, shape: readonly number[], rows: readonly Row[]): Layout {
  const { dimension: d, of } = join;
  const b = of.shape[d + 1]!;
  const { first, steps } = rows[d]!;
  const slow = steps.map((step) => (step % b === 0 ? step / b : 0));
  const fast: Row = { first: modulus(first, b), steps: steps.map((step) => (step % b === 0 ? 0 : step)) };
  const [low, high] = rowRange(fast, shape);
  const period = Math.floor(low / b);
  if (period === Math.floor(high / b)) {
    const quotient: Row = { first: Math.floor(first / b) + period, steps: slow };
    return affine(of, shape, [...rows.slice(0, d), quotient, shiftedRow(fast, -period * b), ...rows.slice(d + 1)]);
  }
  return affineInJoin(join, shape, rows) ?? separatedAffine(join, [d], shape, rows);
}

/** Whole second lengths in steps that divide them, forwards or backwards, are a join again. */
function affineInJoin({ dimension: d, of }: Join, shape: readonly number[], rows: readonly Row[]): Layout | undefined {
  const b = of.shape[d + 1]!;
  const row = rows[d]!;
  const [p, ...others] = dimensionsIn(row);
  const step = row.steps[p!]!;
  const size = Math.abs(step);
  const count = b / size;
  if (others.length > 0 || b % size !== 0 || shape[p!]! % count !== 0) return undefined;
  const rest = modulus(row.first, b);
  if (step > 0 ? rest >= step : rest < b - size) return undefined;
  const [whole, digits] = [shape[p!]! / count, splitShape(shape, p!, shape[p!]! / count, count)];
  const inDigits = ({ first, steps }: Row): Row => ({
    first,
    steps: [...steps.slice(0, p), whole > 1 ? steps[p!]! * count : 0, steps[p!]!, ...steps.slice(p! + 1)],
  });
  const only = (at: number, by: number) => digits.map((_, k) => (k === at ? by : 0));
  const quotient: Row = { first: Math.floor(row.first / b), steps: only(p!, whole > 1 ? Math.sign(step) : 0) };
  const remainder: Row = { first: rest, steps: only(p! + 1, step) };
  const inner = rows.flatMap((own, k) => (k === d ? [quotient, remainder] : [inDigits(own)]));
  return joined(p!, affine(of, digits, inner));
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
  return 'entries' in order ? order.entries : powers(order.powersOf, order.inverse);
}

/** Dimensions `d` and `d` + 1 as one. */
export function joined(d: number, of: Layout): Layout {
  const { shape } = of;
  const counts = [shape[d]!, shape[d + 1]!] as const;
  const own = joinedShape(shape, d);
  if (own[d] === 0) return zerosNode(own);
  if (counts[0] === 1 || counts[1] === 1) return affine(of, own, rowsWithout(own, d, counts[0] === 1));
  switch (of.kind) {
    case 'zeros':
      return zerosNode(own);
    case 'memory':
      return joinedMemory(of, d);
    case 'affine': {
      const rows = of.rows.map((row) => joinedRow(row, d, counts));
      return rows.includes(undefined) ? joinNode(d, of) : affine(of.of, own, rows as Row[]);
    }
    case 'map': {
      const rows = [...of.at, ...(of.part ? [of.part] : [])].map((row) => joinedRow(row, d, counts));
      if (rows.includes(undefined)) return joinNode(d, of);
      const [at, part] = [rows.slice(0, of.at.length) as Row[], rows[of.at.length]];
      return mapped({ ...of, at, of: joined(d, of.of), ...(part ? { part } : {}) });
    }
    case 'mask':
      return joinedMask(d, of);
    case 'alternate': {
      const row = joinedRemainder(of.row, d, counts, 2);
      return row ? alternated(row, joined(d, of.of)) : joinNode(d, of);
    }
    case 'concat':
      return joinedConcat(d, of);
    case 'gather': {
      const along = of.dimension;
      if (along === d || along === d + 1) return joinNode(d, of);
      return gathered(along > d ? along - 1 : along, of.order, joined(d, of.of));
    }
    case 'join':
      return joinedJoin(d, of);
  }
}

/** Of three dimensions that become one, the first two are joined first; of two pairs, that in front. */
function joinedJoin(d: number, of: Join): Layout {
  if (of.dimension <= d) return joinNode(d, of);
  if (of.dimension === d + 1) return joined(d, joined(d, of.of));
  return joined(of.dimension - 1, joined(d, of.of));
}

function joinedConcat(d: number, of: Concat): Layout {
  const along = of.dimension;
  if (along === d + 1) return joinNode(d, of);
  const parts = of.parts.map((part) => joined(d, part));
  return concatenated(along > d ? along - 1 : along, parts);
}

/** Bounds that can be said of the joined dimension go outside. */
function joinedMask(d: number, { bounds, of, shape }: Masked): Layout {
  const counts = [shape[d]!, shape[d + 1]!] as const;
  const outside: RowBound[] = [];
  const inside: RowBound[] = [];
  for (const bound of bounds) {
    const { row, modulo } = bound;
    const own = modulo === undefined ? joinedRow(row, d, counts) : joinedRemainder(row, d, counts, modulo);
    if (own) outside.push({ ...bound, row: own });
    else inside.push(bound);
  }
  const inner = inside.length > 0 ? joinNode(d, masked(inside, of)) : joined(d, of);
  return masked(outside, inner);
}

/** Layouts behind one another. */
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
  // One element says nothing of the step from it to the next, so pieces that do come first.
  const merged = mergedParts(d, mergedParts(d, parts, 2), 1);
  return merged.length === 1 ? merged[0]! : concatNode(d, merged);
}

/** Neighbours that go on are one; with zeros between them, one with a hole. @param least elements of the longer one */
function mergedParts(d: number, parts: readonly Layout[], least: number): Layout[] {
  const merged: Layout[] = [];
  for (const part of parts) {
    let next = part;
    while (true) {
      const last = merged.at(-1);
      const one = last && Math.max(last.shape[d]!, next.shape[d]!) >= least ? continued(last, next, d) : undefined;
      if (one) {
        merged.pop();
        next = one;
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

/** Zero where one of the bounds does not hold. */
export function masked(given: readonly RowBound[], of: Layout): Layout {
  if (given.length === 0 || of.kind === 'zeros') return of;
  if (of.kind === 'alternate') return alternated(of.row, masked(given, of.of));
  const { shape } = of;
  const bounds = new Map<string, RowBound>();
  for (const bound of of.kind === 'mask' ? [...of.bounds, ...given] : given) {
    const own = normalBound(bound, shape);
    if (own === false) return zerosNode(shape);
    if (own !== true) bounds.set(boundKey(own), own);
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

/** The same with zeros outside a block. */
export function onlyWithin(of: Layout, d: number, from: number, to: number): Layout {
  const zeros = (count: number) => zerosNode(withCount(of.shape, d, count));
  return concatenated(d, [zeros(from), sliced(of, d, from, to), zeros(of.shape[d]! - to)]);
}

/** In another order along a dimension. */
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

/** The distance of neighbouring entries, where it is the same for all. */
function evenStep(entries: readonly number[]): number | undefined {
  const step = entries.length > 1 ? entries[1]! - entries[0]! : 0;
  return entries.every((entry, n) => entry === entries[0]! + n * step) ? step : undefined;
}

/** What a function makes of elements. @param given `at`: what it is told of each, as rows over the shape of the map */
export function mapped({ at, part, ...given }: Omit<Mapped, 'kind' | 'shape'>): Layout {
  const shape = part ? given.of.shape.slice(0, -1) : given.of.shape;
  if (shape.includes(0)) return zerosNode(shape);
  const own = at.map((row) => normalRow(row, shape));
  return mapNode({ ...given, at: own, ...(part ? { part: normalRow(part, shape) } : {}) });
}
