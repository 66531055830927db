/**
 * The constructors of layouts. Each checks the shapes and returns a layout in normal form.
 *
 * They throw a `RangeError` if a shape, a dimension or a count does not fit: that is a fault of the caller, not of a user's input.
 * Names are those of LIFT's data-layout patterns and of NumPy. `d` is a dimension, n its length. "Index i is at j" means that
 * element i of the new layout is element j of the given one.
 */
import type { Layout, Order, Row, RowBound } from '../layout.ts';
import { concatNode, memoryNode, zerosNode } from './nodes.ts';
import * as normal from './normal-form.ts';
import { checkArgument, dimensionLength, isCount, memory, normalMemory } from './plain.ts';
import { coordinate, rowsAlong, splitShape, withCount } from './rows.ts';
import * as signs from './signs.ts';

/** n → n / by, by. Index i, j is at by·i + j. */
export function split(of: Layout, d: number, by: number): Layout {
  const length = dimensionLength(of, d, 'split');
  checkArgument(
    isCount(by) && by > 0 && length % by === 0,
    () => `split of ${length} elements by ${by}: the whole is a multiple`,
  );
  const shape = splitShape(of.shape, d, length / by, by);
  if (of.kind === 'memory') {
    const stride = of.strides[d]!;
    const strides = [...of.strides.slice(0, d), stride * by, stride, ...of.strides.slice(d + 1)];
    return normalMemory(of.array, shape, strides, of.offset, of.negated);
  }
  return normal.affine(of, shape, slideRows(of.shape, shape, d, by));
}

/** Rows of a slide: dimension `d` becomes two, window i and offset j, and element (i, j) is element step·i + j of the given layout. */
function slideRows(from: readonly number[], shape: readonly number[], d: number, step: number): Row[] {
  return from.map((_, k): Row => {
    if (k !== d) return coordinate(shape, k < d ? k : k + 1);
    return { first: 0, steps: shape.map((_, j) => (j === d ? step : j === d + 1 ? 1 : 0)) };
  });
}

/** Dimension d is dimension order[d] of the given layout. @param order each dimension once */
export function permute(of: Layout, order: readonly number[]): Layout {
  const rank = of.shape.length;
  const isOrder =
    order.length === rank && new Set(order).size === rank && order.every((d) => of.shape[d] !== undefined);
  checkArgument(isOrder, () => `permute by [${order}] of ${rank} dimensions: each is named once`);
  const shape = order.map((d) => of.shape[d]!);
  if (of.kind === 'memory') {
    const strides = order.map((d) => of.strides[d]!);
    return memoryNode(of.array, shape, strides, of.offset, of.negated);
  }
  if (of.kind === 'concat') {
    const parts = of.parts.map((part) => permute(part, order));
    return concatNode(order.indexOf(of.dimension), parts);
  }
  return normal.affine(
    of,
    shape,
    of.shape.map((_, k) => coordinate(shape, order.indexOf(k))),
  );
}

/** Exchanges two dimensions. */
export function transpose(of: Layout, d: number, e: number): Layout {
  dimensionLength(of, d, 'transpose');
  dimensionLength(of, e, 'transpose');
  return permute(
    of,
    of.shape.map((_, k) => (k === d ? e : k === e ? d : k)),
  );
}

/** n → count. Index i is at from + i. */
export function slice(of: Layout, d: number, from: number, count: number): Layout {
  const length = dimensionLength(of, d, 'slice');
  checkArgument(
    isCount(from) && isCount(count) && from + count <= length,
    () => `slice of ${count} elements from number ${from} on: there are ${length}`,
  );
  return stepped(of, d, from, 1, count);
}

/** n → ⌈(n − from) / by⌉. Index i is at from + by·i. */
export function stride(of: Layout, d: number, by: number, from = 0): Layout {
  const length = dimensionLength(of, d, 'stride');
  checkArgument(isCount(by) && by > 0, () => `stride by ${by}: steps are integers above 0`);
  checkArgument(isCount(from) && from <= length, () => `stride from element ${from} on: there are ${length}`);
  return stepped(of, d, from, by, Math.ceil((length - from) / by));
}

/** n → n. Index i is at n − 1 − i. */
export function reverse(of: Layout, d: number): Layout {
  const length = dimensionLength(of, d, 'reverse');
  return stepped(of, d, length - 1, -1, length);
}

/** Index i of `count` is at first + step·i. */
function stepped(of: Layout, d: number, first: number, step: number, count: number): Layout {
  if (first === 0 && step === 1 && count === of.shape[d]) return of;
  const shape = withCount(of.shape, d, count);
  if (of.kind === 'memory' && count > 0) {
    // Plus 0, because a stride is not to be −0.
    const strides = of.strides.map((each, k) => (k === d ? each * step + 0 : each));
    return normalMemory(of.array, shape, strides, of.offset + of.strides[d]! * first, of.negated);
  }
  return normal.affine(of, shape, rowsAlong(shape, d, first, step));
}

/** n → ⌊(n − size) / step⌋ + 1, size: windows. Index i, j is at step·i + j. */
export function slide(of: Layout, d: number, size: number, step: number): Layout {
  const length = dimensionLength(of, d, 'slide');
  checkArgument(
    isCount(size) && size > 0 && size <= length,
    () => `slide of windows of ${size} elements: there are ${length}`,
  );
  checkArgument(isCount(step) && step > 0, () => `slide by ${step}: steps are integers above 0`);
  const shape = splitShape(of.shape, d, Math.floor((length - size) / step) + 1, size);
  return normal.affine(of, shape, slideRows(of.shape, shape, d, step));
}

/** Inserts a new dimension before dimension `at`, along which all elements are equal. */
export function repeat(of: Layout, at: number, count: number): Layout {
  const rank = of.shape.length;
  checkArgument(
    isCount(at) && at <= rank,
    () => `repeat along a new dimension ${at} of a layout with ${rank} dimensions`,
  );
  checkArgument(isCount(count), () => `repeat ${count} times: counts are integers of 0 and more`);
  const shape = [...of.shape.slice(0, at), count, ...of.shape.slice(at)];
  if (of.kind === 'memory') {
    const strides = [...of.strides.slice(0, at), 0, ...of.strides.slice(at)];
    return normalMemory(of.array, shape, strides, of.offset, of.negated);
  }
  if (of.kind === 'concat' && count > 0) {
    const parts = of.parts.map((part) => repeat(part, at, count));
    return concatNode(of.dimension < at ? of.dimension : of.dimension + 1, parts);
  }
  return normal.affine(
    of,
    shape,
    of.shape.map((_, k) => coordinate(shape, k < at ? k : k + 1)),
  );
}

/** Layouts one behind another along `d`: their lengths add up. */
export function concat(d: number, ...parts: readonly Layout[]): Layout {
  checkArgument(parts.length > 0, () => 'concat of nothing');
  const [first] = parts as readonly [Layout];
  dimensionLength(first, d, 'concat');
  const alike = parts.every(
    ({ shape }) =>
      shape.length === first.shape.length && shape.every((count, k) => k === d || count === first.shape[k]),
  );
  checkArgument(
    alike,
    () =>
      `concat along dimension ${d} of shapes ${parts.map(({ shape }) => `[${shape}]`).join(', ')}: all other lengths are equal`,
  );
  return normal.concatenated(d, parts);
}

/** n → before + n + after, zeros around. */
export function pad(of: Layout, d: number, before: number, after: number): Layout {
  dimensionLength(of, d, 'pad');
  checkArgument(
    isCount(before) && isCount(after),
    () => `pad by ${before} and ${after}: counts are integers of 0 and more`,
  );
  if (before + after === 0) return of;
  const around = (count: number) => zerosNode(withCount(of.shape, d, count));
  return normal.concatenated(d, [around(before), of, around(after)]);
}

function checkBlock(of: Layout, d: number, from: number, to: number, name: string): void {
  const length = dimensionLength(of, d, name);
  checkArgument(
    isCount(from) && isCount(to) && from <= to && to <= length,
    () => `${name} from ${from} to ${to}: there are ${length} elements`,
  );
}

/** The given layout with zeros everywhere but at indices from … to − 1. */
export function within(of: Layout, d: number, from: number, to: number): Layout {
  checkBlock(of, d, from, to, 'within');
  return normal.onlyWithin(of, d, from, to);
}

/** The given layout with zeros at indices from … to − 1. */
export function without(of: Layout, d: number, from: number, to: number): Layout {
  checkBlock(of, d, from, to, 'without');
  const hole = zerosNode(withCount(of.shape, d, to - from));
  return normal.concatenated(d, [normal.sliced(of, d, 0, from), hole, normal.sliced(of, d, to, of.shape[d]!)]);
}

/** n → n − (to − from). Indices from … to − 1 are left out. */
export function gap(of: Layout, d: number, from: number, to: number): Layout {
  checkBlock(of, d, from, to, 'gap');
  return normal.concatenated(d, [normal.sliced(of, d, 0, from), normal.sliced(of, d, to, of.shape[d]!)]);
}

/** The given layout with all elements negated. */
export function negate(of: Layout): Layout {
  return signs.negated(of);
}

/** n → length of the order. Index i is at order(i). */
export function gather(of: Layout, d: number, order: Order): Layout {
  const length = dimensionLength(of, d, 'gather');
  const entries = normal.orderIndices(order);
  checkArgument(
    entries.every((entry) => isCount(entry) && entry < length),
    () => `gather in an order that has indices up to ${Math.max(...entries)}: there are ${length} elements`,
  );
  return normal.gathered(d, order, of);
}

/**
 * Applies a function to each element when it is loaded or before it is stored. The function is called for zeros inside the given layout,
 * but not for zeros that are put around the map later.
 * @param by name of the function
 * @param asks dimensions whose coordinates the function gets, in this order
 */
export function map(of: Layout, by: string, asks: readonly number[]): Layout {
  for (const d of asks) dimensionLength(of, d, 'map');
  return normal.mappedLayout({ by, at: asks.map((d) => coordinate(of.shape, d)), of });
}

/**
 * Applies a function to each complex number: like `map`, but the function takes and gives both parts, which are the last dimension.
 * @param asks dimensions whose coordinates the function gets, in this order
 */
export function mapNumbers(of: Layout, by: string, asks: readonly number[]): Layout {
  for (const d of asks) dimensionLength(of, d, 'mapNumbers');
  const { shape } = of;
  const last = shape.length - 1;
  checkArgument(
    shape[last] === 2,
    () => `mapNumbers of shape [${shape}]: the last dimension holds the two parts of numbers`,
  );
  const numbers = repeat(of, last, 2);
  return normal.mappedLayout({
    by,
    at: asks.map((d) => coordinate(shape, d)),
    of: numbers,
    part: coordinate(shape, last),
  });
}

/**
 * n → c₁, c₂, …: index (i₁, i₂, …) is at Σ step·i. Loops see a dimension like that: as the digits of a four-step decomposition, or as
 * every second element. Indices beyond the end are zeros.
 */
export function digits(
  of: Layout,
  d: number,
  loops: readonly { readonly step: number; readonly count: number }[],
): Layout {
  const length = dimensionLength(of, d, 'digits');
  checkArgument(
    loops.every(({ step, count }) => isCount(step) && isCount(count)),
    () => 'digits: steps and counts are integers of 0 and more',
  );
  const reach = 1 + loops.reduce((sum, { step, count }) => sum + step * Math.max(0, count - 1), 0);
  const whole = reach > length ? pad(of, d, 0, reach - length) : of;
  if (loops.length === 1 && (loops[0]!.step === 1 || loops[0]!.count <= 1))
    return normal.sliced(whole, d, 0, loops[0]!.count);
  const shape = [...of.shape.slice(0, d), ...loops.map(({ count }) => count), ...of.shape.slice(d + 1)];
  const rows = of.shape.map((_, k): Row => {
    if (k !== d) return coordinate(shape, k < d ? k : k + loops.length - 1);
    const steps = shape.map((count, j) => (count > 1 && j >= d ? (loops[j - d]?.step ?? 0) : 0));
    return { first: 0, steps };
  });
  return normal.affine(whole, shape, rows);
}

/**
 * A dimension stored in blocks: index i is at place next·(i div block) + step·(i mod block). The last block may be shorter. Ranks of a
 * distributed transform exchange such blocks, and tiles between two launches are stored like that.
 */
export function splitAxis(
  array: string,
  {
    count,
    block,
    step,
    next,
  }: { readonly count: number; readonly block: number; readonly step: number; readonly next: number },
  offset = 0,
): Layout {
  checkArgument(
    isCount(count) && isCount(block) && block > 0,
    () => `split axis of ${count} elements in blocks of ${block}`,
  );
  const blocks = Math.ceil(count / block);
  return slice(normal.joinedDimensions(0, memory(array, [blocks, block], [next, step], offset)), 0, 0, count);
}

/** The given layout with zeros at every index whose remainder modulo `by` is not in from … to − 1. */
export function mask(of: Layout, d: number, by: number, from: number, to: number): Layout {
  dimensionLength(of, d, 'mask');
  checkArgument(
    isCount(by) && by > 0 && isCount(from) && from <= to && to <= by,
    () => `mask of indices modulo ${by} from ${from} to ${to}: these are remainders`,
  );
  const bound: RowBound = { row: coordinate(of.shape, d), modulo: by, from, to };
  return normal.masked([bound], of);
}

/** The given layout with elements at odd indices of `d` negated. */
export function alternate(of: Layout, d: number): Layout {
  dimensionLength(of, d, 'alternate');
  return signs.alternated(coordinate(of.shape, d), of);
}
