/**
 * Phases for the elements of a vector, which walk along one loop together: all passes along the axis, all along
 * neighbouring transforms, or the first along these and the others along the axis, so that the tile is turned on its way.
 * Passes go from one shared array to another, or, where whole vectors lie side by side all the way, work in place.
 */
import {
  type ArrayRef,
  add,
  blocked,
  type Complex,
  type ComplexView,
  Expressions,
  type Format,
  type Index,
  type Loop,
  mappedStore,
  type Phase,
  type Store,
  scale,
  split,
  strided,
  type TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import type { StockhamLeaf } from '../plan/leaf.ts';
import { dft } from './butterfly.ts';
import { autosort, type Butterflies, digitReversed, samePlaces } from './orders.ts';
import { PairExpressions } from './pairs.ts';
import { type BuiltSteps, type Ends, type StepsToBuild, typeOf } from './steps.ts';
import { passTwiddles } from './twiddles.ts';

/**
 * Radices whose twiddled inputs are best held one by one before the butterfly begins, by measurement. The others combine
 * two or three inputs at once, and what comes of these is a step already: one more for each input costs 4 to 10 %.
 */
const TWIDDLED_FIRST: ReadonlySet<number> = new Set([2, 4, 8, 12, 15, 16]);

/** Lanes that an emitter may take at a time, whatever the profile says. What does not fill them goes one by one, not in pairs. */
const LONGEST_VECTOR = 4;

/**
 * Bytes of a shared array from which on it does not stay in the first-level cache while it is written. (Measured on Xeons
 * with 48 KiB: batches of shorter transforms take up to a tenth longer where their first pass does not read them in order,
 * longer ones up to a tenth where it does not write whole lines.)
 */
const NEAR_BYTES = 2 ** 15;

/** A step moves the data of one group from one place to the next. */
interface Place {
  readonly view: ComplexView;
  readonly shared: boolean;
}

interface SharedPlace extends Place {
  readonly array: ArrayRef;
}

export function vectorPhases({ leaf, steps, tables, limit, ends, reverse }: StepsToBuild): BuiltSteps {
  const builder = new VectorPhases(leaf, tables, limit);
  const last = steps.length - 1;
  const firstPass = steps.findIndex(({ kind }) => kind === 'pass');
  // In place, only the first pass goes on to another array than the copy before it has filled.
  const place = builder.inPlace ? (n: number) => Math.min(n, firstPass) : (n: number) => n % 2;
  const places = builder.sharedPlaces(new Set(steps.slice(1).map((_, n) => place(n))).size);
  const shared = places.map(({ array }) => array);
  const between = (n: number): Place => places[place(n)]!;
  const phase = (n: number, { input, output, beforeCopy }: Ends): Phase => {
    const from = n === 0 ? { view: input, shared: false } : between(n - 1);
    let to = n === last ? { view: output, shared: false } : between(n);
    if (beforeCopy && n === last - 1) to = { ...to, view: mappedStore(to.view, beforeCopy) };
    const step = steps[n]!;
    return step.kind === 'copy' ? builder.copy(from, to) : builder.pass(step.radix, step.stride, from, to);
  };
  const phases = steps.map((_, n) => phase(n, ends));
  if (!reverse) return { shared, phases };
  // What lies between shared arrays is the same both ways.
  return { shared, phases, reverse: phases.map((own, n) => (n === 0 || n === last ? phase(n, reverse) : own)) };
}

class VectorPhases {
  private readonly leaf: StockhamLeaf;
  private readonly tables: TableBuilder;
  private readonly limit: Index | undefined;
  /** Every vector of every pass begins at a multiple of the lane count, so that blocks are never torn. */
  private readonly aligned: boolean;
  /** All passes but the first one write where they read. */
  readonly inPlace: boolean;
  /** What the first pass writes does not stay in the first-level cache. */
  private readonly far: boolean;
  /** The first pass turns a tile of several transforms: after it, each goes through its passes on its own. */
  private readonly turned: boolean;
  /** From one transform to the next, in elements. */
  private readonly pitch: number;

  constructor(leaf: StockhamLeaf, tables: TableBuilder, limit: Index | undefined) {
    this.leaf = leaf;
    this.tables = tables;
    this.limit = limit;
    // The first pass of a tile that is turned writes all its transforms side by side: a line more between them, because
    // lines that lie a power of two apart share few places in a cache.
    this.turned = leaf.lanesAlong.input !== leaf.lanesAlong.output && leaf.tile > 1;
    this.pitch = leaf.length + (this.turned ? 2 * leaf.lanes : 0);
    const [firstRadix, ...rest] = leaf.radices;
    this.aligned =
      leaf.shared.format === 'blocked' &&
      (leaf.lanesAlong.output === 'batch'
        ? leaf.tile % leaf.lanes === 0
        : firstRadix! % leaf.lanes === 0 && rest.every((radix) => (leaf.length / radix) % leaf.lanes === 0));
    this.far = this.pitch * leaf.tile * (leaf.precision === 'single' ? 8 : 16) >= NEAR_BYTES;
    this.inPlace = rest.length > 0 && this.fillsVectors() && this.reversesDigits();
  }

  /**
   * Whether whole vectors are all there is, or leave one butterfly of a run at the most, which costs what a vector would.
   * (Together with the next one, what the search for radices takes for granted of interleaved data: plan/radix.ts.)
   */
  private fillsVectors(): boolean {
    const { lanes, lanesAlong } = this.leaf;
    return this.aligned || (lanesAlong.output === 'axis' && lanes <= 2);
  }

  /**
   * Whether the lanes of a first pass that reverses digits are filled: along the axis they take what the last digit
   * counts, where it can both parts of it.
   */
  private reversesDigits(): boolean {
    const { input, lanes, lanesAlong, radices, twiddle } = this.leaf;
    const paired = input.layout === 'interleaved' && input.axis === 1 && twiddle?.on !== 'input';
    return lanesAlong.input === 'batch' || ((paired ? 2 : 1) * radices.at(-1)!) % lanes === 0;
  }

  /**
   * Shared arrays. Element n of transform c of the tile lies at n·tile + c, or, where passes walk along the axis, at
   * c·pitch + n; but transforms that take turns have one place for all in the second array.
   */
  sharedPlaces(count: number): SharedPlace[] {
    const { lanes, lanesAlong, precision, tile } = this.leaf;
    const type = typeOf(precision);
    return ['ping', 'pong'].slice(0, count).map((name, n) => {
      const inTurns = this.turned && n > 0;
      const plane = Math.ceil((this.pitch * (inTurns ? 1 : tile)) / lanes) * lanes;
      const array: ArrayRef = { name, space: 'shared', type, length: 2 * plane };
      const format: Format = this.aligned ? blocked(array, lanes) : split(array, plane);
      const strides = lanesAlong.output === 'batch' ? [tile, 1] : [1, inTurns ? 0 : this.pitch];
      return { array, view: strided(format, strides), shared: true };
    });
  }

  /** Moves the tile between memory that runs along the axis and shared memory that runs along the batch. */
  copy(from: Place, to: Place): Phase {
    const x = new Expressions();
    const { length, tile, lanes, input, output, staged } = this.leaf;
    const stride = from.shared && staged.output ? output.axis : input.axis;
    // Memory in tiles is read tile by tile, so that it streams.
    const run = typeof stride === 'number' ? length : stride.run;
    const block = variable('block', length / run);
    const n = variable('n', run);
    const c = variable('c', tile);
    const at = add(scale(block, run), n);
    const columns: Loop = { variable: c, unroll: lanes, ...(this.limit ? { limit: this.limit } : {}) };
    return {
      loops: [{ variable: block }, columns, { variable: n }],
      lanes: n,
      stores: to.view.store(x, [at, c], from.view.load(x, [at, c])),
      repeatable: from.shared !== to.shared || !this.leaf.aliased,
      exchange: 'group',
    };
  }

  pass(radix: number, stride: number, from: Place, to: Place): Phase {
    const x = new Expressions();
    const butterflies = this.butterflies(radix, stride);
    const { i } = butterflies;
    const c = variable('c', this.leaf.tile);
    const twiddle = passTwiddles(this.tables, this.leaf, radix, stride, this.aligned);
    const points = Array.from({ length: radix }, (_, m) => from.view.load(x, [butterflies.point(m), c]));
    const nest = this.nest(butterflies, c, stride, from.shared && to.shared);
    const put = (by: Expressions, value: Complex, k: number) => to.view.store(by, [butterflies.output(k), c], value);
    const paired = stride === 1 && to.shared ? this.inPairs(points, nest, put) : undefined;
    if (paired) return paired;
    const values = points.map((point, m) => {
      const value = m === 0 ? point : twiddle(x, point, i, m);
      if (m > 0 && stride > 1 && TWIDDLED_FIRST.has(radix)) x.together(value);
      return value;
    });
    const inPlace = this.inPlace && stride > 1 && from.shared && to.shared;
    return {
      ...nest,
      stores: dft(x, values).flatMap((value, k) => put(x, value, k)),
      steps: x.steps,
      // Input and output of a leaf in place are the same memory only where one pass does both.
      repeatable: !inPlace && (from.shared || to.shared || !this.leaf.aliased),
      ...(inPlace ? { inPlace } : {}),
      exchange: this.turned && stride > 1 && to.shared ? 'slice' : 'group',
    };
  }

  private butterflies(radix: number, stride: number): Butterflies {
    const { length, radices } = this.leaf;
    if (!this.inPlace) return autosort(length, radix, stride);
    return stride === 1 ? digitReversed(length, radices, this.far) : samePlaces(length, radix, stride);
  }

  /**
   * A first pass to shared memory over numbers whose parts are not taken apart, if there are enough of them for a vector.
   * (With a limit the last ones would go one by one, without their neighbours.)
   */
  private inPairs(
    points: readonly Complex[],
    { loops, lanes }: Pick<Phase, 'loops' | 'lanes'>,
    put: (by: Expressions, value: Complex, k: number) => Store[],
  ): Phase | undefined {
    const along = loops.find(({ variable }) => variable === lanes)!;
    if (along.limit || 2 * lanes.count < Math.max(LONGEST_VECTOR, this.leaf.lanes)) return undefined;
    const x = PairExpressions.over(lanes, points);
    if (!x) return undefined;
    const outputs = dft(
      x,
      points.map((point) => x.number(point)),
    );
    const stores: Store[] = [];
    for (const [k, value] of outputs.entries()) {
      const store = x.whole(put(x, value, k));
      if (!store) return undefined;
      stores.push(store);
    }
    return {
      loops: loops.map((loop) => (loop === along ? { variable: x.part } : loop)),
      lanes: x.part,
      stores,
      // Both parts of a number are one value.
      steps: x.steps.map((step) => [...new Set(step)]),
      // It never writes what it reads.
      repeatable: true,
      exchange: 'group',
    };
  }

  /** The order of the loops, the longest of the contiguous ones innermost. */
  private nest({ blocks, i }: Butterflies, c: Var, stride: number, within: boolean): { loops: Loop[]; lanes: Var } {
    const { tile, lanes, lanesAlong } = this.leaf;
    const along = stride === 1 ? lanesAlong.input : lanesAlong.output;
    const loops = (variables: readonly Var[]): Loop[] => variables.map((v) => ({ variable: v }));
    // Whole vectors of what is not there are sooner computed between shared arrays than left out; single transforms are not.
    const full = !this.limit || (within && along === 'batch');
    const column: Loop = { variable: c, ...(full ? {} : { limit: this.limit! }) };
    if (along === 'batch') return { loops: [...loops([...blocks, i]), column], lanes: c };
    const around: Loop[] = tile > 1 ? [column] : [];
    if (stride === 1) return { loops: [...around, ...loops(blocks)], lanes: blocks.at(-1)! };
    // Butterflies with the same i share their twiddles: a single vector of them stays in registers over all blocks.
    return { loops: [...around, ...loops(stride <= lanes ? [i, ...blocks] : [...blocks, i])], lanes: i };
  }
}
