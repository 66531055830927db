/**
 * Sides of leaves as layouts: what the optional fields of a `LeafSide` say of places, zeros and signs, said by constructors of layouts. It
 * lives until sides are layouts themselves. Factors and callbacks are left out.
 *
 * The structures of a dimension (Hermitian half, symmetric extension, …) are functions of the layout of that dimension.
 */
import {
  alternate,
  concat,
  gap,
  join,
  type Layout,
  mask,
  memory,
  negate,
  pad,
  permute,
  reverse,
  slice,
  slide,
  stack,
  stride,
  within,
  without,
} from '../../src/layout/index.ts';
import type { ExtendedSide, FacingSide, Leaf, LeafSide, OutsideOf, Stride } from '../../src/plan/tree/leaf.ts';

export type Use = 'load' | 'store';

type Terms = OutsideOf['terms'];

/** So many elements from the first one on: zeros follow where there are fewer. */
export function resized(of: Layout, d: number, count: number): Layout {
  const length = of.shape[d]!;
  return count <= length ? slice(of, d, 0, count) : pad(of, d, 0, count - length);
}

/** Both parts of a complex layout, each changed by itself. */
function byParts(of: Layout, re: (part: Layout) => Layout, im: (part: Layout) => Layout): Layout {
  const part = of.shape.length - 1;
  return concat(part, re(slice(of, part, 0, 1)), im(slice(of, part, 1, 1)));
}

/** All N bins of the first ⌊N/2⌋ + 1: the others are conjugates of those in the mirror. Where they are read, self-conjugate ones are real. */
export function hermitianBins(of: Layout, d: number, N: number, use: Use, columns?: number): Layout {
  const pairs = Math.ceil(N / 2) - 1;
  const mirror = (half: Layout, sign: (part: Layout) => Layout) => {
    const whole = concat(d, half, sign(reverse(slice(half, d, 1, pairs), d)));
    if (use === 'load' || columns === undefined) return whole;
    const bins = half.shape[d]!;
    return concat(
      d,
      slice(whole, d, 0, bins),
      slice(mask(whole, d, columns, 1, Math.max(1, Math.ceil(columns / 2))), d, bins, pairs),
    );
  };
  return byParts(
    of,
    (re) => mirror(re, (part) => part),
    (im) => mirror(use === 'load' ? within(im, d, 1, pairs + 1) : im, negate),
  );
}

/** A dimension of reals, continued even or odd, and around again. @param columns of rows whose mirror images are written once */
export function symmetricExtension(
  of: Layout,
  d: number,
  { count, shift, mirror, sign, step, around, twice }: ExtendedSide,
  columns: number,
): Layout {
  const period = mirror - shift + 1;
  const switchover = mirror === 2 * (count - 1) && !twice ? count - 1 : count;
  const back = reverse(resized(of, d, period - switchover), d);
  const signal = concat(d, resized(of, d, switchover), sign < 0 ? negate(back) : back, ...(around ? [negate(of)] : []));
  const begun = shift > 0 ? pad(signal, d, shift, 0) : slice(signal, d, -shift, signal.shape[d]! + shift);
  const points = stride(begun, d, step ?? 1);
  if (twice) {
    const border = Math.min(points.shape[d]!, switchover + shift);
    const once = mask(points, d, columns, twice.from, Math.max(twice.from, twice.to));
    return concat(d, slice(points, d, 0, border), slice(once, d, border, points.shape[d]! - border));
  }
  return around ? alternate(points, d) : points;
}

/** Reals of one line as the parts of numbers: those from the first one on, and those from the last one back. */
export function foldedPacking(
  line: (first: number, step: number) => Layout,
  d: number,
  { first, last, step: stepOrOne, swapped, negated, count, within: there, absent = [] }: FacingSide,
  columns: number | undefined,
): Layout {
  const step: number = stepOrOne ?? 1;
  const spared = (of: Layout, begin: number, by: number) =>
    absent.reduce((own, { from, to }) => {
      const numbers = Array.from({ length: of.shape[d]! }, (_, n) => n).filter(
        (n) => begin + by * n >= from && begin + by * n < to,
      );
      return numbers.length === 0 ? own : without(own, d, numbers[0]!, numbers.at(-1)! + 1);
    }, of);
  const near = spared(line(first, step), first, step);
  const far = spared(line(last, -step), last, -step);
  const counted = (of: Layout) => (count === undefined ? of : within(of, d, 0, Math.min(count, of.shape[d]!)));
  const proper = (of: Layout) => {
    if (!there) return of;
    const to = Math.max(there.from, there.to);
    if (columns !== undefined) return mask(of, d, columns, there.from, to);
    return within(of, d, Math.min(there.from, of.shape[d]!), Math.min(to, of.shape[d]!));
  };
  const [re, im] = swapped ? [far, near] : [near, far];
  const imaginary = proper(counted(im));
  return stack(re.shape.length, counted(re), negated ? negate(imaginary) : imaginary);
}

/** Points of a period of which memory has the first ones: some are the same again. */
export function circularExtension(
  of: Layout,
  d: number,
  {
    count,
    from,
    to,
    shift,
  }: { readonly count: number; readonly from: number; readonly to: number; readonly shift: number },
): Layout {
  const own = resized(of, d, count);
  return concat(d, pad(own, d, 0, from - count), slice(of, d, from - shift, to - from));
}

interface Loop {
  readonly step: number;
  readonly count: number;
}

/** Dimension `d` as the digits that loops count along, in their order: the number of a point is first + Σ step · coordinate. */
export function digits(of: Layout, d: number, first: number, loops: readonly Loop[]): Layout {
  let extent = 1 + loops.reduce((sum, { step, count }) => sum + step * (count - 1), 0);
  let own = slice(resized(of, d, first + extent), d, first, extent);
  let at = d;
  for (const { step, count } of loops) {
    extent -= step * (count - 1);
    own = slice(slide(own, at, extent, step), at, 0, count);
    at++;
  }
  // One element is left of each.
  return join(own, at > 0 ? at - 1 : at);
}

/** Loops of a leaf that are one dimension of the tensor. */
interface Group {
  readonly key: string;
  readonly terms: Terms;
}

/** One side of a leaf, and where its loops lie. */
class SideShape {
  readonly side: LeafSide;
  readonly counts: readonly number[];
  readonly walks: readonly Stride[];
  readonly groups: readonly Group[];
  private readonly name: 'input' | 'output';
  private readonly complex: boolean;

  constructor(name: 'input' | 'output', leaf: Leaf, lengths: readonly number[]) {
    this.name = name;
    this.side = leaf[name];
    const { axes, batch, layout, alone } = this.side;
    this.counts = [...lengths, ...leaf.batch];
    this.walks = [...axes, ...batch];
    this.complex = layout !== 'real' && !alone;
    const found = new Map<string, Group>();
    const { mirrored, extended, facing, wrapped, cropped, absent = [], beside } = this.side;
    const structured = [mirrored, extended, facing, wrapped, cropped].flatMap((one) => (one ? [one.terms] : []));
    for (const terms of [...structured, ...[...absent, ...(beside?.absent ?? [])].map((one) => one.terms)])
      found.set(keyOf(terms), { key: keyOf(terms), terms });
    this.groups = [...found.values()];
  }

  private loopsOf({ terms }: Group): Loop[] {
    return terms.map(({ dimension, step }) => ({ step, count: this.counts[dimension]! }));
  }

  /** Numbers of a group that loops reach. */
  extentOf(group: Group): number {
    return 1 + this.loopsOf(group).reduce((sum, { step, count }) => sum + step * (count - 1), 0);
  }

  /** From one number of a group to the next, in elements of the side; undefined where its loops do not agree. */
  strideOf({ terms }: Group): number | undefined {
    const strides = terms.map(({ dimension, step }) => {
      const walk = this.walks[dimension]!;
      return typeof walk === 'number' ? walk / step : undefined;
    });
    const several = strides.filter((_, n) => this.counts[terms[n]!.dimension]! > 1);
    const one = several[0] ?? strides[0] ?? 0;
    return several.every((own) => own === one) ? one : undefined;
  }

  /**
   * The side, whose groups are made of dimensions of elements by `structures`, which get a layout and a dimension.
   * @param memories of each group, its length and stride in elements
   */
  layout(
    offset: number,
    memories: readonly { readonly count: number; readonly stride: number }[],
    structures: readonly ((of: Layout, d: number) => Layout)[],
    first: readonly number[],
    parts = this.complex,
  ): Layout {
    const grouped = new Set(this.groups.flatMap(({ terms }) => terms.map(({ dimension }) => dimension)));
    const free = [...this.counts.keys()].filter((d) => !grouped.has(d));
    const shape: number[] = [];
    const strides: number[] = [];
    const spans: number[] = [];
    for (const d of free) {
      const [walk, count] = [this.walks[d]!, this.counts[d]!];
      const own =
        typeof walk === 'number'
          ? [[count, walk]]
          : 'step' in walk
            ? [[count + walk.skip, walk.step]]
            : [
                [Math.ceil(count / walk.run), walk.next],
                [walk.run, 1],
              ];
      spans.push(own.length);
      for (const [n, stride] of own) {
        shape.push(n!);
        strides.push(stride!);
      }
    }
    for (const { count, stride } of memories) {
      shape.push(count);
      strides.push(stride);
    }
    let own = parts ? this.numbers(shape, strides, offset) : memory(this.name, shape, strides, offset);
    for (let k = free.length - 1; k >= 0; k--) {
      const at = spans.slice(0, k).reduce((a, b) => a + b, 0);
      const [walk, count] = [this.walks[free[k]!]!, this.counts[free[k]!]!];
      if (typeof walk === 'number') continue;
      own = 'step' in walk ? gap(own, at, walk.before, walk.before + walk.skip) : slice(join(own, at), at, 0, count);
    }
    const order = [...free];
    const begin = free.length;
    // The last group first, so that the dimensions of those before stay where they are.
    for (let g = this.groups.length - 1; g >= 0; g--) {
      const group = this.groups[g]!;
      own = digits(structures[g]!(own, begin + g), begin + g, first[g]!, this.loopsOf(group));
    }
    for (const { terms } of this.groups) order.push(...terms.map(({ dimension }) => dimension));
    const rank = this.counts.length;
    const permuted = this.counts.map((_, d) => order.indexOf(d));
    return permute(own, own.shape.length > rank ? [...permuted, rank] : permuted);
  }

  private numbers(shape: readonly number[], strides: readonly number[], offset: number): Layout {
    if (this.side.layout === 'planar') {
      const [re, im] = ['re', 'im'].map((part) => memory(`${this.name}.${part}`, shape, strides, offset));
      return stack(shape.length, re!, im!);
    }
    const twice = strides.map((own) => 2 * own);
    return memory(this.name, [...shape, 2], [...twice, 1], 2 * offset);
  }
}

function keyOf(terms: Terms): string {
  return JSON.stringify(terms);
}

/** From one column of a row of bins to the next row: the step of the second digit. */
function columnsIn(terms: Terms, twice: Terms): number {
  const others = terms.filter(({ step }) => step > 1).map(({ step }) => step);
  return twice.every(({ step }) => step === 1) ? Math.min(...others, Number.MAX_SAFE_INTEGER) : 1;
}

/** A block of numbers that are not there, of which a dimension has some. */
function withoutBlock(of: Layout, d: number, { from, to }: { readonly from: number; readonly to: number }): Layout {
  const length = of.shape[d]!;
  const [low, high] = [Math.max(0, Math.min(from, length)), Math.max(0, Math.min(to, length))];
  return low < high ? without(of, d, low, high) : of;
}

/**
 * The layout of a side: [dimensions of the tile …, batch dimensions …, part], or undefined where its loops do not lie along dimensions
 * of one stride each.
 * @param lengths of the dimensions of the tile, as far as the side goes
 */
export function sideLayout(
  name: 'input' | 'output',
  leaf: Leaf,
  lengths: readonly number[],
  use: Use,
): Layout | undefined {
  const shape = new SideShape(name, leaf, lengths);
  const { side } = shape;
  const rank = shape.counts.length;
  if (side.facing) return facingLayout(shape, side.facing);
  const own = partLayout(shape, use, side.offset, 0, side.absent ?? []);
  if (!own) return undefined;
  if (side.layout !== 'real' || side.alone) return own.shape.length > rank ? own : stack(rank, own, zerosLike(own));
  if (!side.beside) return stack(rank, own, zerosLike(own));
  const { apart, absent = [] } = side.beside;
  const points = side.extended?.beside ?? 0;
  const second = partLayout(shape, use, side.offset + apart - points * (side.extended?.stride ?? 0), points, absent);
  return second && stack(rank, own, second);
}

function zerosLike(of: Layout): Layout {
  return within(of, 0, 0, 0);
}

/** What every group of loops is made of. */
function partLayout(
  shape: SideShape,
  use: Use,
  offset: number,
  first: number,
  absent: readonly OutsideOf[],
): Layout | undefined {
  const { mirrored, extended, wrapped, cropped } = shape.side;
  const memories: { count: number; stride: number }[] = [];
  let begin = offset;
  const structures = shape.groups.map((group) => {
    const extent = shape.extentOf(group);
    const own = shape.strideOf(group);
    const blocks = absent.filter(({ terms }) => keyOf(terms) === group.key);
    const spared = (of: Layout, d: number) => blocks.reduce((rest, block) => withoutBlock(rest, d, block), of);
    const is = (structure: { readonly terms: Terms } | undefined) => structure && keyOf(structure.terms) === group.key;
    if (is(mirrored)) {
      const { of: bins, stride: step, twice, terms } = mirrored!;
      memories.push({ count: Math.floor(bins / 2) + 1, stride: step });
      const columns = twice && columnsIn(terms, twice.terms);
      return (of: Layout, d: number) => hermitianBins(spared(of, d), d, bins, use, columns);
    }
    if (is(extended)) {
      const { count, stride: step, absent: gone = [], terms, twice } = extended!;
      memories.push({ count, stride: step });
      return (of: Layout, d: number) => {
        const reals = gone.reduce((rest, block) => withoutBlock(rest, d, block), of);
        return spared(symmetricExtension(reals, d, extended!, twice ? columnsIn(terms, twice.terms) : 1), d);
      };
    }
    if (own === undefined) return undefined;
    if (is(wrapped) && use === 'load') {
      const { count, from, to, back } = wrapped!;
      memories.push({ count: Math.max(count, to - back / own), stride: own });
      return (of: Layout, d: number) => spared(circularExtension(of, d, { count, from, to, shift: back / own }), d);
    }
    if (is(cropped) && use === 'store') {
      const { from, to } = cropped!;
      begin += own * from;
      memories.push({ count: to - from, stride: own });
      return (of: Layout, d: number) => spared(pad(of, d, from, 0), d);
    }
    memories.push({ count: extent + (extended ? 0 : first), stride: own });
    return spared;
  });
  if (structures.includes(undefined)) return undefined;
  const firsts = shape.groups.map(({ key }) => (extended && keyOf(extended.terms) === key ? first : 0));
  return shape.layout(begin, memories, structures as ((of: Layout, d: number) => Layout)[], firsts);
}

/** A side whose numbers have two reals of one line. */
function facingLayout(shape: SideShape, facing: FacingSide): Layout | undefined {
  const { side } = shape;
  const g = shape.groups.findIndex(({ key }) => key === keyOf(facing.terms));
  const strides = shape.groups.map((group) => shape.strideOf(group));
  if (strides.includes(undefined)) return undefined;
  const { within: there, terms } = facing;
  const columns = there && keyOf(there.terms) !== keyOf(terms) ? columnsIn(terms, there.terms) : undefined;
  const plain = (of: Layout) => of;
  const line = (first: number, step: number): Layout => {
    const memories = shape.groups.map((group, n) => ({
      count: shape.extentOf(group),
      stride: n === g ? facing.stride * step : strides[n]!,
    }));
    const zero = shape.groups.map(() => 0);
    const numbers = shape.groups.map((group, n) => (of: Layout, d: number) => {
      const blocks = (side.absent ?? []).filter((block) => keyOf(block.terms) === group.key);
      const own = blocks.reduce((rest, block) => withoutBlock(rest, d, block), of);
      return n === g ? structured(own, d, first, step) : own;
    });
    return shape.layout(side.offset + facing.stride * first, memories, numbers, zero, false);
  };
  let structured = (of: Layout, _d: number, _first: number, _step: number): Layout => plain(of);
  // Each part of the numbers is a line of its own, changed along its dimension before that is cut into digits.
  const part = (which: 0 | 1): Layout => {
    structured = (of, d, first, step) => {
      const both = foldedPacking(
        (begin, by) => (begin === first && by === step ? of : zerosLike(of)),
        d,
        facing,
        columns,
      );
      const last = both.shape.length - 1;
      return join(slice(both, last, which, 1), last - 1);
    };
    const isNear = (which === 0) !== (facing.swapped ?? false);
    return isNear ? line(facing.first, facing.step ?? 1) : line(facing.last, -(facing.step ?? 1));
  };
  return stack(shape.counts.length, part(0), part(1));
}
