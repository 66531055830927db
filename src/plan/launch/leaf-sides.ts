/**
 * The sides of a leaf: the layouts of its input and output, and the operations on each number there.
 *
 * A layout is built from memory outwards: the tensor in its buffer, the user's callback, blocks of zeros, the line that the leaf sees a
 * dimension through, packing of two neighbours into one number, and finally the loops of the leaf as digits of the dimensions. A dimension
 * without any of these is a loop over memory from the beginning.
 */

import {
  concat,
  digits,
  gap,
  gather,
  isOverNumbers,
  join,
  type Layout,
  map,
  mapNumbers,
  memory,
  type Order,
  pad,
  permute,
  seenThrough,
  slice,
  split,
  stack,
  wholeLine,
  without,
  zeros,
} from '../../layout/index.ts';
import {
  arraysOf,
  type BlockRun,
  type BuiltCallback,
  coordinatesUsed,
  type Side,
  type Sides,
  type SplitAxis,
} from '../../problem/index.ts';
import { storedAs } from '../device/capacity.ts';
import { neighbourStride, type Span, type SpanPlace, type Stride } from '../group/tiling.ts';
import { halvesOfRows } from '../schemes/unordered-reals.ts';
import {
  KERNEL,
  type Leaf,
  type LeafSide,
  type Operand,
  type SideCallback,
  type SideFactors,
  type SideFormat,
  type Terms,
} from '../tree/leaf.ts';
import type { DimensionStride, ZeroBlock } from '../tree/node.ts';
import { dimensionsInBlocks, isOdd, isPaired, type PlacedLeaf, pairStride } from './placed.ts';

/** The shape of both sides: everything that the place of a launch in the tree does not determine. */
export interface SideShape {
  /** The batch dimensions in the order of the leaf. */
  readonly batch: readonly Span[];
  /** The number of elements along each dimension of a tile, on either side. */
  readonly counts: Sides<readonly number[]>;
  /** The stride of each dimension of a tile. */
  readonly axes: Sides<readonly Stride[]>;
  readonly places: Sides<readonly DimensionStride[]>;
  /** The order in which the points of the first dimension are read and written, if it is not the natural one. */
  readonly order?: Sides<Order>;
}

/** One side of a leaf. */
export function leafSide(placed: PlacedLeaf, shape: SideShape, side: Side): LeafSide {
  const { format, precision, storage, callbacks, axis } = placed;
  const built = callbacks[side];
  const layout = stridedSide(placed, shape, side) ?? new SideLayout(placed, shape, side).layout();
  if (!built && storage[side] === precision && placed.factors[side].length === 0)
    return { layout, format: format[side] };
  const factors = placed.factors[side].map(({ along, ...own }): SideFactors => {
    const terms = termsAlong(along, shape.places[side], shape.batch, side);
    const points = axis.places?.[side].dimension === along ? shape.order?.[side] : undefined;
    return { ...own, terms, ...(points ? { points } : {}) };
  });
  return {
    layout,
    format: format[side],
    ...(built ? { callback: sideCallback(built) } : {}),
    ...(storage[side] === precision ? {} : { storage: storage[side] }),
    ...(factors.length > 0 ? { factors } : {}),
  };
}

function sideCallback(built: BuiltCallback): SideCallback {
  const arrays = Object.fromEntries(arraysOf(built).map((name) => [name, operandName(name)]));
  return { built, arrays, asks: [...coordinatesUsed(built)] };
}

/** The operands of a leaf: the convolution kernel and the arrays that callbacks load from. */
export function leafOperands({ callbacks, arrays, node: { product }, precision }: PlacedLeaf): Pick<Leaf, 'operands'> {
  if (!product && !callbacks.input && !callbacks.output) return {};
  const kernel: Operand[] =
    product && 'strides' in product ? [{ name: KERNEL, storage: product.storage ?? precision }] : [];
  const names = new Set([callbacks.input, callbacks.output].flatMap((built) => (built ? arraysOf(built) : [])));
  const loaded = [...names].map((name): Operand => {
    return { name: operandName(name), storage: storedAs(arrays![name]!.type), reals: true };
  });
  const operands = [...kernel, ...loaded];
  return operands.length > 0 ? { operands } : {};
}

/** The operand name of a user's array. */
export function operandName(array: string): string {
  return `arrays.${array}`;
}

/** A coordinate of the tensor as a sum over the dimensions of a leaf. */
export function termsAlong(of: number, tile: readonly DimensionStride[], batch: readonly Span[], side: Side): Terms {
  return [...tile, ...batch.map(({ places }) => places?.[side])].flatMap((place, dimension) =>
    place?.dimension === of ? [{ dimension, step: place.stride }] : [],
  );
}

/** The layout of a side on which each loop of the leaf has one stride in memory; undefined if a dimension is seen in another way. */
function stridedSide(placed: PlacedLeaf, { batch, counts, axes, order }: SideShape, side: Side): Layout | undefined {
  const { node, callbacks, tensor, format } = placed;
  const { offset, splitAxis } = tensor[side];
  if (node.lines[side].length + node.zeros[side].length > 0 || callbacks[side] || splitAxis || order) return undefined;
  const isReal = format[side] === 'real';
  const pairs = isPaired(placed, side) ? node.real!.pairs : undefined;
  // Reals that are packed with none, and complex numbers of two lines, are no plain strides.
  if (pairs && (!isReal || tensor[side].lengths[pairs.along]! % 2 === 1)) return undefined;
  const strides = [...axes[side], ...batch.map((span) => span[side])];
  if (!strides.every((stride) => typeof stride === 'number')) return undefined;
  const shape = [...counts[side], ...batch.map(({ count }) => count)];
  if (format[side] !== 'real') return numbersInMemory(side, format[side], shape, strides, offset);
  if (pairs) return memory(side, [...shape, 2], [...strides, pairStride(placed, side)], offset);
  return stack(shape.length, memory(side, shape, strides, offset), zeros(shape));
}

/** Complex numbers in the buffer of a side: the given dimensions, and their parts as the last one. */
function numbersInMemory(
  side: Side,
  format: Exclude<SideFormat, 'real'>,
  counts: readonly number[],
  strides: readonly number[],
  offset: number,
): Layout {
  if (format === 'planar') {
    const [re, im] = ['re', 'im'].map((part) => memory(`${side}.${part}`, counts, strides, offset));
    return stack(counts.length, re!, im!);
  }
  const reals = strides.map((stride) => 2 * stride);
  return memory(side, [...counts, 2], [...reals, 1], 2 * offset);
}

/** The name of the user's callback in the layout of a side. */
const CALLBACK = 'callback';

/** One loop of a leaf on one side. */
interface SideLoop {
  readonly count: number;
  readonly stride: Stride;
  readonly place: SpanPlace | undefined;
}

/** Nested loops over memory: their counts and strides, outermost first. */
type MemoryLoops = readonly { readonly count: number; readonly stride: number }[];

class SideLayout {
  private readonly placed: PlacedLeaf;
  private readonly side: Side;
  private readonly order: Order | undefined;
  private readonly loops: readonly SideLoop[];
  /** Dimensions of the tensor that are seen through a callback, a line, packing, or blocks. */
  private readonly viewed: readonly number[];
  /** Loops over plain memory, by their numbers. */
  private readonly plain: readonly number[];
  private readonly requested: readonly number[];

  constructor(placed: PlacedLeaf, { batch, counts, axes, places, order }: SideShape, side: Side) {
    this.placed = placed;
    this.side = side;
    this.order = order?.[side];
    this.loops = [
      ...axes[side].map((stride, d): SideLoop => ({ count: counts[side][d]!, stride, place: places[side][d] })),
      ...batch.map((span): SideLoop => ({ count: span.count, stride: span[side], place: span.places?.[side] })),
    ];
    const { lines, zeros, real } = placed.node;
    const callback = placed.callbacks[side];
    this.requested = callback ? [...coordinatesUsed(callback)] : [];
    const viewed = new Set([
      ...[...lines[side], ...zeros[side]].map(({ dimension }) => dimension),
      ...(isPaired(placed, side) ? [real!.pairs!.along] : []),
      ...this.requested,
      ...this.dimensionsInBlocks(),
    ]);
    this.viewed = [...viewed];
    this.plain = this.loops.flatMap(({ place }, n) => (place && viewed.has(place.dimension) ? [] : [n]));
  }

  /** The layout [loops of the leaf …, part], or [… , line, part]. */
  layout(): Layout {
    const tensor = this.tensor();
    const isPlain = this.viewed.length === 0 && !this.placed.callbacks[this.side];
    const seen = isPlain ? tensor : (this.throughOneLine(tensor) ?? this.seen(tensor));
    const own = this.order ? gather(seen, 0, this.order) : seen;
    const rank = this.loops.length;
    const isNumber = this.takesNumbers || own.shape.length > rank;
    return isNumber ? own : stack(rank, own, zeros(own.shape));
  }

  /**
   * A shortcut for tensors of which only one dimension has a line view or a packing, with the same result as `seen`: the loops split the line
   * first, which has fewer dimensions than the tensor. Undefined for all other tensors.
   */
  private throughOneLine(tensor: Layout): Layout | undefined {
    const { node, callbacks } = this.placed;
    if (this.viewed.length !== 1 || callbacks[this.side] || node.zeros[this.side].length > 0) return undefined;
    const [dimension] = this.viewed;
    const own = this.loopsAlong(dimension!);
    if (own.length === 0 || own.some((n) => this.loops[n]!.place!.gap)) return undefined;
    const isPacked = isPaired(this.placed, this.side);
    const view = node.lines[this.side][0]?.line ?? wholeLine(tensor.shape[0]!);
    const isOfReals = !this.takesNumbers && node.real?.pairs?.along === dimension && view.shape.length === 1;
    if (isPacked && !(isOfReals && view.shape[0]! % 2 === 0)) return undefined;
    const [points, two] = isPacked ? ([split(view, 0, 2), 2] as const) : ([view, 1] as const);
    const steps = own.map((n) => ({ count: this.loops[n]!.count, step: this.loops[n]!.place!.stride / two }));
    const seen = seenThrough(tensor, 0, digits(points, 0, steps));
    // The first loop has the place of the dimension; the others follow all dimensions of the tensor.
    const first = isOverNumbers(view) ? 1 + this.plain.length : tensor.shape.length;
    const places = this.loops.map((_, n) => {
      const along = own.indexOf(n);
      return along < 0 ? 1 + this.plain.indexOf(n) : along === 0 ? 0 : first + along - 1;
    });
    const rest = seen.shape.flatMap((_, d) => (places.includes(d) ? [] : [d]));
    return permute(seen, [...places, ...rest]);
  }

  /** The tensor with its viewed dimensions split into the loops that count along them, in the order of the leaf. */
  private seen(tensor: Layout): Layout {
    const rank = this.loops.length;
    let own = this.withCallback(tensor);
    // The last dimension comes first, so that the positions of the others do not change.
    for (let d = this.viewed.length - 1; d >= 0; d--) own = this.withZeros(own, d);
    for (const d of this.viewed.keys()) own = this.inPairs(own, d, 'lines');
    for (const d of this.viewed.keys()) own = this.throughLine(own, d);
    for (const d of this.viewed.keys()) own = this.inPairs(own, d, 'parts');
    const order: number[] = [];
    for (let d = this.viewed.length - 1; d >= 0; d--) own = this.counted(own, d);
    for (const of of this.viewed) order.push(...this.loopsAlong(of));
    order.push(...this.plain);
    const behind = own.shape.slice(rank).map((_, n) => rank + n);
    return permute(own, [...this.loops.map((_, n) => order.indexOf(n)), ...behind]);
  }

  /** Whether numbers have two parts in memory or as a callback sees them. */
  private get takesNumbers(): boolean {
    return this.placed.format[this.side] !== 'real' || this.placed.realsOnly[this.side] === true;
  }

  private loopsAlong(of: number): number[] {
    return this.loops.flatMap(({ place }, n) => (place?.dimension === of ? [n] : []));
  }

  /** The dimensions in blocks that loops count along. */
  private dimensionsInBlocks(): number[] {
    const counted = new Set(this.loops.map(({ place }) => place?.dimension));
    return dimensionsInBlocks(this.placed.tensor[this.side]).filter((of) => counted.has(of));
  }

  /** The tensor in memory: [viewed dimensions …, plain loops …, part]. */
  private tensor(): Layout {
    const { splitAxis } = this.placed.tensor[this.side];
    if (!splitAxis || !this.viewed.includes(splitAxis.dimension)) return this.memoryOf(undefined);
    const runs = splitAxis.runs.map((run) => this.memoryOf({ ...run, dimension: splitAxis.dimension }));
    return concat(this.viewed.indexOf(splitAxis.dimension), ...runs);
  }

  /** The tensor in memory, if strides alone describe it; or the part of it in equal blocks, for `run`. */
  private memoryOf(run: (BlockRun & Pick<SplitAxis, 'dimension'>) | undefined): Layout {
    const walks: MemoryLoops[] = [
      ...this.viewed.map((of) => (run ? this.walkInBlocks(of, run) : this.walkAlong(of))),
      ...this.plain.map((n) => memoryLoops(this.loops[n]!)),
    ];
    const all = walks.flat();
    const counts = all.map(({ count }) => count);
    const strides = all.map(({ stride }) => stride);
    let own = this.numbers(counts, strides, this.begin() + (run?.offset ?? 0));
    let at = all.length;
    for (let n = walks.length - 1; n >= 0; n--) {
      at -= walks[n]!.length;
      for (let more = walks[n]!.length; more > 1; more--) own = join(own, at);
      const loop = n < this.viewed.length ? undefined : this.loops[this.plain[n - this.viewed.length]!]!;
      if (loop) own = withoutGap(own, at, loop);
    }
    return own;
  }

  /** The first element of the tensor, with lines that loops leave out at the beginning. */
  private begin(): number {
    const { offset } = this.placed.tensor[this.side];
    return this.loops.reduce((sum, { stride, place }) => {
      const isViewed = place?.gap?.from === 0 && this.viewed.includes(place.dimension);
      return isViewed ? sum - neighbourStride(stride) * place.gap!.to : sum;
    }, offset);
  }

  private numbers(counts: readonly number[], strides: readonly number[], offset: number): Layout {
    const { format, realsOnly } = this.placed;
    const own = format[this.side];
    if (own !== 'real') return numbersInMemory(this.side, own, counts, strides, offset);
    const reals = memory(this.side, counts, strides, offset);
    return realsOnly[this.side] ? stack(counts.length, reals, zeros(reals.shape)) : reals;
  }

  /** A dimension of the tensor in memory: one count and stride, or one of each for every loop if strides disagree, as in padded buffers. */
  private walkAlong(of: number): MemoryLoops {
    const own = this.loopsAlong(of).map((n) => this.loops[n]!);
    const { lengths, strides } = this.placed.tensor[this.side];
    // A loop with step 0 repeats the same elements.
    const several = own.filter(({ count, place }) => count > 1 && place!.stride > 0);
    const [one = strides[of]!, ...others] = several.map(({ stride, place }) =>
      typeof stride === 'object' && 'run' in stride ? Number.NaN : neighbourStride(stride) / place!.stride,
    );
    if (Number.isNaN(one) || others.some((stride) => stride !== one)) return this.walkOfLoops(several);
    return [{ count: this.lengthAlong(of, several, lengths[of]!), stride: one }];
  }

  private walkInBlocks(of: number, run: BlockRun & Pick<SplitAxis, 'dimension'>): MemoryLoops {
    const { blocks, length, apart, strides, dimension } = run;
    const inside = strides[of]!;
    if (of === dimension)
      return [
        { count: blocks, stride: apart },
        { count: length, stride: inside },
      ];
    const own = this.placed.tensor[this.side];
    // If blocks differ in their strides, no dimension was merged with another one.
    const differ = dimensionsInBlocks(own).length > 1;
    return differ ? [{ count: own.lengths[of]!, stride: inside }] : this.walkAlong(of);
  }

  /**
   * The length of a dimension in memory. Packed lines may have been merged with further dimensions; the length is then what the loops
   * reach.
   */
  private lengthAlong(of: number, loops: readonly SideLoop[], length: number): number {
    const { node } = this.placed;
    const merges = node.real?.pairs?.along === of && node.axis[this.side].dimension !== of && !isOdd(this.placed);
    if (!merges || this.requested.includes(of)) return length;
    const reached = loops.reduce((sum, { count, place }) => sum + (count - 1) * place!.stride, 2);
    return Math.max(length, reached + (reached % 2));
  }

  private walkOfLoops(loops: readonly SideLoop[]): MemoryLoops {
    const sorted = [...loops].sort((a, b) => b.place!.stride - a.place!.stride);
    const whole = sorted.every(({ place }, n) => {
      const next = sorted[n + 1];
      return place!.stride === (next ? next.place!.stride * next.count : 1);
    });
    if (!whole) throw new RangeError('These loops do not make up a dimension of the tensor.');
    return sorted.flatMap(memoryLoops);
  }

  private withCallback(of: Layout): Layout {
    if (!this.placed.callbacks[this.side]) return of;
    const asks = this.requested.map((dimension) => this.viewed.indexOf(dimension));
    return this.takesNumbers ? mapNumbers(of, CALLBACK, asks) : map(of, CALLBACK, asks);
  }

  private withZeros(of: Layout, d: number): Layout {
    const blocks = this.placed.node.zeros[this.side].filter(({ dimension }) => dimension === this.viewed[d]);
    return blocks.reduce((own, block) => {
      const length = own.shape[d]!;
      if (block.absent) return seenThrough(own, d, withZeroBlock(length, block));
      const [from, to] = [Math.min(block.from, length), Math.min(block.to, length)];
      return from < to ? without(own, d, from, to) : own;
    }, of);
  }

  private throughLine(of: Layout, d: number): Layout {
    const view = this.placed.node.lines[this.side].find(({ dimension }) => dimension === this.viewed[d]);
    return view ? seenThrough(of, d, view.line) : of;
  }

  /**
   * Splits a dimension into pairs of neighbours: as two numbers, one for each line, before line views are applied; or as the parts of one
   * number, after that.
   */
  private inPairs(of: Layout, d: number, as: 'lines' | 'parts'): Layout {
    const { real, lines } = this.placed.node;
    if (!isPaired(this.placed, this.side) || real!.pairs!.along !== this.viewed[d]) return of;
    const folds = lines[this.side].some((own) => own.dimension !== this.viewed[d] && own.line.shape.length > 1);
    const isLines = this.takesNumbers || (folds && real!.by === 'lines');
    if (isLines !== (as === 'lines')) return of;
    const even = of.shape[d]! % 2 === 0 ? of : pad(of, d, 0, 1);
    const two = seenThrough(
      even,
      d,
      as === 'lines' && real!.rows ? halvesOfRows(even.shape[d]!, real!.rows) : split(wholeLine(even.shape[d]!), 0, 2),
    );
    if (!this.takesNumbers) return two;
    // The dimension of lines precedes the dimension of parts.
    const last = two.shape.length - 1;
    return permute(two, [...Array(last - 1).keys(), last, last - 1]);
  }

  /** A dimension split into the loops that count along it. */
  private counted(of: Layout, d: number): Layout {
    const own = this.loopsAlong(this.viewed[d]!).map((n) => this.loops[n]!);
    const two = isPaired(this.placed, this.side) && this.placed.node.real!.pairs!.along === this.viewed[d] ? 2 : 1;
    const [skipped] = own.flatMap(({ place }) => place?.gap ?? []);
    return digits(
      skipped ? gap(of, d, skipped.from, skipped.to) : of,
      d,
      own.map(({ count, place }) => ({ count, step: count > 1 ? place!.stride / two : 0 })),
    );
  }
}

/** The memory that a loop walks through, including a gap. */
function memoryLoops({ count, stride }: SideLoop): MemoryLoops {
  if (typeof stride === 'number') return [{ count, stride }];
  if ('step' in stride) return [{ count: count + stride.skip, stride: stride.step }];
  return [
    { count: Math.ceil(count / stride.run), stride: stride.next },
    { count: stride.run, stride: 1 },
  ];
}

/** A dimension of memory without the gap of its loop and without what the loop does not reach in the last tile. */
function withoutGap(of: Layout, d: number, { count, stride }: SideLoop): Layout {
  if (typeof stride === 'number') return of;
  return 'step' in stride ? gap(of, d, stride.before, stride.before + stride.skip) : slice(of, d, 0, count);
}

/** A dimension of `length` elements in memory with a block of zeros inserted or appended. */
function withZeroBlock(length: number, { from, to }: Pick<ZeroBlock, 'from' | 'to'>): Layout {
  const stored = wholeLine(length);
  const parts = [slice(stored, 0, 0, from), zeros([to - from])];
  return concat(0, ...parts, ...(from < length ? [slice(stored, 0, from, length - from)] : []));
}
