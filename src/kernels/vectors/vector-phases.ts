/**
 * Phases for vectors. The lanes of all passes walk along the axis, or along neighbouring transforms; or the lanes of the first pass walk along
 * neighbouring transforms and the lanes of the others along the axis, which transposes the tile. Passes go from one shared array to another,
 * or work in place if their vectors are contiguous. A single transform works in the output, because on CPUs shared memory is ordinary memory
 * and no faster.
 */

import {
  type ArrayRef,
  add,
  blocked,
  type Complex,
  type ComplexView,
  Expressions,
  type Format,
  type Guard,
  type Index,
  type IndexLike,
  type Loop,
  mappedStore,
  type Phase,
  realParts,
  type Store,
  scale,
  stackedPlanes,
  strided,
  type TableBuilder,
  type Var,
  variable,
} from '../../ir/index.ts';
import type { KernelFactors, PassesStep } from '../../plan/tree/leaf.ts';
import { dft } from '../passes/butterfly.ts';
import { unguardedSplit } from '../passes/hermitian-split.ts';
import { type RaderStep, raderRows, raderStores, raderTwiddles } from '../passes/rader-pass.ts';
import {
  type BuiltSteps,
  besideSplit,
  type Content,
  closesPasses,
  contentOf,
  type Ends,
  type KernelStep,
  opensPasses,
  reused,
  type StepsToBuild,
  touchesMemory,
} from '../passes/steps.ts';
import { binsAfterFirst, symmetricStores } from '../passes/symmetric-passes.ts';
import { pairRoots, passTwiddles, sharedRoots, splitsLast } from '../passes/twiddles.ts';
import { longestVector, type VectorForm, type VectorLeaf, vectorForm } from '../passes/vector-form.ts';
import { numberTypeOf } from '../views/number-types.ts';
import { type PassEnds, passEnds } from '../views/pointwise.ts';
import { binProduct, kernelView, matrixStores } from '../views/products.ts';
import type { Coordinates } from '../views/views.ts';
import { autosort, type Butterflies, digitReversed, samePlaces } from './orders.ts';
import { PackedExpressions } from './packed-lanes.ts';

/**
 * Radices for which each twiddled input is a step of its own before the butterfly begins, by measurement. Butterflies of other radices
 * combine two or three inputs in steps of their own; another step for each input would cost 4 to 10 %.
 */
const TWIDDLED_FIRST: ReadonlySet<number> = new Set([2, 4, 8, 12, 15, 16]);

/** The memory that a step loads from or stores to. */
interface StepMemory {
  readonly view: ComplexView;
  /** Whether it holds data between two steps: a shared array, or the output as a working array. */
  readonly between: boolean;
  /** The shared array, if it is one. */
  readonly array?: ArrayRef;
  /** Stores also move the element at the origin, which Rader's order leaves out, from input to output. */
  readonly movesOrigin?: true;
}

export function vectorPhases(requested: StepsToBuild): BuiltSteps {
  const { leaf, steps, ends, reverse, inOutput } = requested;
  const builder = new VectorPhases(requested);
  const last = steps.length - 1;
  const places = builder.places(steps, inOutput);
  const shared = [...new Set(places.flatMap(({ array }) => array ?? []))].sort((a, b) => (a.name < b.name ? -1 : 1));
  const phasesOf = (n: number, { secondLine, beforeCopy, ...sides }: Ends): Phase[] => {
    const [input, output] = [builder.rowsLast(sides.input), builder.rowsLast(sides.output)];
    let from = n === 0 ? { view: input, between: false } : places[n - 1]!;
    let to = n === last ? { view: output, between: false } : places[n]!;
    if (beforeCopy && n === last - 1) to = { ...to, view: mappedStore(to.view, beforeCopy) };
    const step = steps[n]!;
    if (step.kind === 'copy') return [builder.copy(from, to, step.count)];
    if (step.kind === 'multiply') return [builder.multiply(step.kernel, from, to)];
    if (step.kind === 'hermitian-split') return builder.pairs(step, from, to, secondLine);
    const { passes } = step;
    const { read, write } = builder.endsOf(passes);
    if (opensPasses(step, leaf.length)) from = { ...from, view: read(from.view) };
    if (closesPasses(step, leaf.length)) {
      to = { ...to, view: write(to.view, { input, output }), ...(passes.write?.origin ? { movesOrigin: true } : {}) };
    }
    if (step.kind === 'rader') return [builder.raderStep(step, from, to)];
    return passes.symmetry ? builder.symmetricPass(step, from, to) : [builder.pass(step.radix, step.stride, from, to)];
  };
  const phases: Phase[][] = [];
  for (const n of splitsLast(steps)) phases[n] = phasesOf(n, ends);
  if (!reverse) return { shared, phases: phases.flat() };
  // Phases that access no globals are shared by both directions.
  const others = phases.map((own, n) => (touchesMemory(steps, n) ? phasesOf(n, reverse) : own));
  return { shared, phases: phases.flat(), reverse: others.flat() };
}

class VectorPhases {
  private readonly leaf: VectorLeaf;
  private readonly form: VectorForm;
  private readonly tables: TableBuilder;
  private readonly limit: Index | undefined;

  /** Coordinates of a vector-valued convolution that share a tile; phases process one after another. */
  private readonly rows: number;
  private readonly coordinates: Coordinates;
  private readonly kernel: ArrayRef | undefined;
  private readonly arrays: readonly ArrayRef[];

  constructor({ leaf, tables, limit, coordinates, kernel, arrays }: StepsToBuild) {
    this.leaf = leaf;
    this.form = vectorForm(leaf);
    this.tables = tables;
    this.limit = limit;
    this.rows = leaf.lengths[1] ?? 1;
    this.coordinates = this.rows === 1 ? coordinates : ([n, c, row]) => coordinates([n!, row!, c!]);
    this.kernel = kernel;
    this.arrays = arrays;
  }

  /** Converts a view with coordinates [element, coordinate, transform] into one with [element, transform, coordinate], as phases use it. */
  rowsLast(view: ComplexView): ComplexView {
    if (this.rows === 1) return view;
    return {
      load: (x, [n, c, row], guard) => view.load(x, [n!, row!, c!], guard),
      store: (x, [n, c, row], value, guard) => view.store(x, [n!, row!, c!], value, guard),
    };
  }

  /** The loop over the coordinates that share a tile, if there are several, and the place of an element in it. */
  private row(): { readonly around: Loop[]; readonly at: (n: IndexLike, c: IndexLike) => IndexLike[] } {
    if (this.rows === 1) return { around: [], at: (n, c) => [n, c] };
    const row = variable('row', this.rows);
    return { around: [{ variable: row }], at: (n, c) => [n, c, row] };
  }

  /** Multiplies the bins of all coordinates by matrices. */
  multiply(kernel: KernelFactors, from: StepMemory, to: StepMemory): Phase {
    const { length, lanesAlong, tile } = this.leaf;
    const x = new Expressions();
    const n = variable('n', length);
    const c = variable('c', tile);
    const along = lanesAlong.output === 'axis';
    const column: Loop = { variable: c, ...(this.limit ? { limit: this.limit } : {}) };
    const numbers = kernelView(kernel, this.kernel!, this.coordinates);
    const inPlace = from.array === to.array;
    return {
      loops: along ? [...(tile > 1 ? [column] : []), { variable: n }] : [{ variable: n }, column],
      lanes: along ? n : c,
      stores: matrixStores(x, kernel, { from: from.view, to: to.view, numbers }, (row) => [n, c, row]),
      steps: x.steps,
      repeatable: !inPlace,
      ...(inPlace ? { inPlace: 1 } : {}),
      exchange: 'group',
    };
  }

  /** The operations on single points before and after all passes. */
  endsOf(passes: PassesStep): PassEnds {
    const { lanes, lanesAlong, length } = this.leaf;
    const kind = lanesAlong.output === 'batch' ? 'pairs' : this.form.aligned ? 'blocked' : 'planes';
    const { tables, coordinates, kernel } = this;
    return passEnds(passes, length, { tables, format: { kind, lanes }, coordinates, kernel });
  }

  /** The memory that each step but the last one stores to. */
  places(steps: readonly KernelStep[], inOutput: StepsToBuild['inOutput']): StepMemory[] {
    const numbers = steps.slice(1).map((_, n) => n);
    if (!this.form.worksInOutput) {
      const chosen = this.arrayNumbers(steps);
      const arrays = this.sharedArrays(Math.max(0, ...chosen.map((number) => number + 1)));
      return numbers.map((n) => this.sharedPlace(arrays, chosen[n]!, contentOf(steps, n)));
    }
    const { lanes, length } = this.leaf;
    const output = inOutput((array) => (this.form.aligned ? blocked(array, lanes) : stackedPlanes(array, length)));
    const arrays = this.sharedArrays(this.form.inPlace ? 0 : 1);
    // The last pass reads the array.
    const inArray = (n: number) => arrays.length > 0 && (numbers.length - n) % 2 === 1;
    return numbers.map((n) => (inArray(n) ? this.sharedPlace(arrays, 0, 'points') : { view: output, between: true }));
  }

  /**
   * The array that each step but the last one stores to, in place or not. Passes after a split use the array that they would use without
   * it, if the other array has room.
   */
  private arrayNumbers(steps: readonly KernelStep[]): number[] {
    let number = steps[0]!.kind === 'hermitian-split' && !this.form.transposed ? 0 : 1;
    return steps.slice(1).map((_, n) => {
      const step = steps[n]!;
      const first = step.kind === 'pass' && step.stride === 1;
      // A Hermitian split uses another format than passes, and a first step reads global memory: neither works in place.
      const stays = this.form.inPlace && n > 0 && !first && !besideSplit(steps, n);
      if (!stays) number = 1 - number;
      return number;
    });
  }

  /** Arrays for the tile. If transforms go through the passes one after another, the second array has room for one transform only. */
  private sharedArrays(count: number): ArrayRef[] {
    const type = numberTypeOf(this.leaf.precision);
    return ['ping', 'pong']
      .slice(0, count)
      .map((name, n) => reused({ name, space: 'shared', type, length: 2 * this.plane(n) * this.rows }, this.arrays));
  }

  /** The number of elements in a row of an array. */
  private plane(number: number): number {
    const { lanes, tile } = this.leaf;
    return Math.ceil((this.form.pitch * (this.isReused(number) ? 1 : tile)) / lanes) * lanes;
  }

  /** Whether the transforms of a tile use an array one after another. */
  private isReused(number: number): boolean {
    return this.form.transposed && number > 0;
  }

  /**
   * The view of a shared array. Element n of transform c of the tile lies at n·tile + c or, if passes walk along the axis, at c·pitch + n.
   * Bins have separate planes of real and imaginary parts, so that vectors may begin anywhere and go backwards.
   */
  private sharedPlace(arrays: readonly ArrayRef[], number: number, content: Content): StepMemory {
    const { lanes, lanesAlong, tile } = this.leaf;
    const array = arrays[number]!;
    const plane = this.plane(number);
    const strides =
      lanesAlong.output === 'batch' ? [tile, 1, plane] : [1, this.isReused(number) ? 0 : this.form.pitch, plane];
    if (content === 'reals') {
      const place = (at: readonly IndexLike[]) => add(0, ...at.map((n, d) => scale(n, strides[d]!)));
      return { array, view: realParts(array, place), between: true };
    }
    const inBlocks = this.form.aligned && content === 'points';
    const format: Format = inBlocks ? blocked(array, lanes) : stackedPlanes(array, plane * this.rows);
    return { array, view: strided(format, strides), between: true };
  }

  /** The phases of a Hermitian split. */
  pairs(
    { kind: _, ...step }: Extract<KernelStep, { kind: 'hermitian-split' }>,
    from: StepMemory,
    to: StepMemory,
    secondLine: ComplexView | undefined,
  ): Phase[] {
    const { lanes, lanesAlong, tile } = this.leaf;
    const along = lanesAlong.output === 'axis';
    const root = pairRoots(this.tables, step.length, { kind: along ? 'planes' : 'pairs', lanes });
    const sides = step.toReals
      ? { numbers: to.view, bins: from.view, secondLine }
      : { numbers: from.view, bins: to.view, secondLine };
    const { kernel } = step;
    const numbers = kernel && kernelView(kernel, this.kernel!, this.coordinates);
    const items = unguardedSplit({
      ...{ ...step, sides, root },
      multiplied: numbers && ((x, bin, k, c) => binProduct(x, kernel, bin, numbers(x, [k, c], 0))),
    });
    return items.map(({ count, stores }, n): Phase => {
      const x = new Expressions();
      const b = variable('b', count);
      const c = variable('c', tile);
      const column: Loop = { variable: c, ...(this.limit ? { limit: this.limit } : {}) };
      const around: Loop[] = tile > 1 ? [column] : [];
      return {
        loops: along ? [...around, { variable: b }] : [{ variable: b }, column],
        lanes: along ? b : c,
        stores: stores(x, b, c),
        steps: x.steps,
        repeatable: !this.leaf.aliased || to.between,
        exchange: n < items.length - 1 ? 'lane' : 'group',
      };
    });
  }

  /**
   * Copies the tile between global memory, where elements of a transform are adjacent, and shared memory, where corresponding elements of
   * transforms are.
   * @param count elements in each transform
   */
  copy(from: StepMemory, to: StepMemory, count = this.leaf.length): Phase {
    const x = new Expressions();
    const { tile, lanes, input, output, staged } = this.leaf;
    const { layout } = from.between && staged.output ? output : input;
    // Memory in tiles is read tile by tile, in the order of addresses.
    const run = layout.kind === 'join' && layout.dimension === 0 ? layout.of.shape[1]! : count;
    const block = variable('block', count / run);
    const n = variable('n', run);
    const c = variable('c', tile);
    const at = add(scale(block, run), n);
    const row = this.row();
    const columns: Loop = { variable: c, unroll: lanes, ...(this.limit ? { limit: this.limit } : {}) };
    return {
      loops: [...row.around, { variable: block }, columns, { variable: n }],
      lanes: n,
      stores: to.view.store(x, row.at(at, c), from.view.load(x, row.at(at, c))),
      repeatable: from.between !== to.between || !this.leaf.aliased,
      exchange: 'group',
    };
  }

  pass(radix: number, stride: number, from: StepMemory, to: StepMemory): Phase {
    const x = new Expressions();
    const butterflies = this.butterflies(radix, stride);
    const c = variable('c', this.leaf.tile);
    const row = this.row();
    const points = Array.from({ length: radix }, (_, m) => from.view.load(x, row.at(butterflies.point(m), c)));
    const between = from.between && to.between && !to.movesOrigin;
    const { loops, lanes } = this.nest(butterflies, c, stride, between);
    const nest = { loops: [...row.around, ...loops], lanes };
    const put = (by: Expressions, value: Complex, k: number) =>
      to.view.store(by, row.at(butterflies.output(k), c), value);
    const mayPair = stride === 1 && !to.movesOrigin && (to.between || lanes.count === 1);
    const paired = mayPair ? this.inPairs(points, nest, put) : undefined;
    const apart = to.between || from.between || !this.leaf.aliased;
    // With packed lanes, each part is computed from both parts of a number: both are read before either is written.
    if (paired) return { ...paired, repeatable: apart, ...(apart ? {} : { inPlace: 2 }) };
    const outputs = this.transformed(x, points, butterflies.i, radix, stride);
    const inPlace = this.inPlace(stride, from, to);
    const inSlices = this.form.transposed ? stride > 1 && to.between : stride > 1 && stride * radix < this.form.slice;
    return {
      ...nest,
      stores: outputs.flatMap((value, k) => put(x, value, k)),
      steps: x.steps,
      // With aliased input and output, only a pass that accesses both reads memory that it writes.
      repeatable: !inPlace && ((!to.movesOrigin && (from.between || to.between)) || !this.leaf.aliased),
      ...(inPlace ? { inPlace } : {}),
      exchange: inSlices ? 'slice' : 'group',
    };
  }

  /** A step of a Rader pass: lanes walk along the columns of the pass, or along the transforms of the tile. */
  raderStep(step: RaderStep, from: StepMemory, to: StepMemory): Phase {
    const { tables, leaf, form, limit } = this;
    const { length, tile, lanes, lanesAlong, aliased } = leaf;
    const { prime, stride } = step;
    const x = new Expressions();
    const c = variable('c', tile);
    const b = variable('b', raderRows(step));
    const [q, i] = [variable('q', length / (prime * stride)), variable('i', stride)];
    const row = this.row();
    const along = stride === 1 && step.opens ? lanesAlong.input : lanesAlong.output;
    const twiddle = raderTwiddles(tables, prime, stride, along === 'axis' ? 'planes' : 'pairs');
    const stores = raderStores(
      x,
      step,
      { b, q, i },
      {
        ...{ tables, length },
        load: (element, guard) => from.view.load(x, row.at(element, c), guard),
        store: (element, value, guard) => to.view.store(x, row.at(element, c), value, guard),
        twiddle: (value, at, n) => twiddle(x, value, at, n),
        innerTwiddle: (value, radix, inner, at, m) => x.cmul(value, sharedRoots(tables, radix, inner, lanes)(x, at, m)),
      },
    );
    const column: Loop = { variable: c, ...(limit ? { limit } : {}) };
    const each = (stride === 1 ? [b, q] : [b, q, i]).map((one): Loop => ({ variable: one }));
    const inSlices = stride > 1 && form.transposed && to.between;
    return {
      loops: [...row.around, ...(along === 'batch' ? [...each, column] : [...(tile > 1 ? [column] : []), ...each])],
      lanes: along === 'batch' ? c : stride === 1 ? q : i,
      stores,
      steps: x.steps,
      repeatable: (!to.movesOrigin && (from.between || to.between)) || !aliased,
      exchange: inSlices ? 'slice' : 'group',
    };
  }

  /** A pass over reals: a phase for butterfly 0 of each block, whose bins are real, then a phase for the others. */
  symmetricPass(step: Extract<KernelStep, { kind: 'pass' }>, from: StepMemory, to: StepMemory): Phase[] {
    const { leaf, tables, form } = this;
    const { radix, stride, passes } = step;
    const { length, tile, lanes, lanesAlong, aliased } = leaf;
    const along = stride === 1 ? lanesAlong.input : lanesAlong.output;
    const twiddle = passTwiddles(tables, leaf, radix, stride, form.aligned);
    const phase = (i: Var | undefined): Phase => {
      const x = new Expressions();
      const c = variable('c', tile);
      const q = variable('q', length / (radix * stride));
      const pass = {
        ...{ length, radix, stride, passes, twiddle, opens: opensPasses(step, length) },
        load: (by: Expressions, element: IndexLike) => from.view.load(by, [element, c]),
        store: (by: Expressions, element: IndexLike, value: Complex, guard?: Guard) =>
          to.view.store(by, [element, c], value, guard),
      };
      const stores = symmetricStores(x, pass, q, i ? add(i, 1) : 0);
      const column: Loop = { variable: c, ...(this.limit ? { limit: this.limit } : {}) };
      // Lanes walk along the butterflies of one block if there are enough of them, otherwise along the blocks.
      const alongBlock = i !== undefined && (i.count >= lanes || q.count < i.count);
      const inner = alongBlock ? [q, i] : [...(i ? [i] : []), q];
      const butterflies = inner.map((each): Loop => ({ variable: each }));
      return {
        loops: along === 'batch' ? [...butterflies, column] : [...(tile > 1 ? [column] : []), ...butterflies],
        lanes: along === 'batch' ? c : inner.at(-1)!,
        stores,
        steps: x.steps,
        repeatable: from.between || to.between || !aliased,
        exchange: 'group',
      };
    };
    const others = binsAfterFirst(stride);
    if (others === 0) return [phase(undefined)];
    return [{ ...phase(undefined), exchange: 'lane' }, phase(variable('i', others))];
  }

  /** The points of a butterfly, multiplied by their twiddles and transformed. */
  private transformed(x: Expressions, points: readonly Complex[], i: Var, radix: number, stride: number): Complex[] {
    const { tables, leaf, form } = this;
    const twiddle = passTwiddles(tables, leaf, radix, stride, form.aligned);
    const values = points.map((point, m) => {
      const value = twiddle(x, point, i, m);
      if (m > 0 && stride > 1 && TWIDDLED_FIRST.has(radix)) x.together(value);
      return value;
    });
    return dft(x, values, leaf.convolved);
  }

  /** `Phase.inPlace` of a pass. */
  private inPlace(stride: number, from: StepMemory, to: StepMemory): number | undefined {
    const { lanes, output } = this.leaf;
    if (!this.form.inPlace || stride === 1) return undefined;
    if (to.between) return from.array === to.array ? 1 : undefined;
    // The last pass turns blocks of `lanes` numbers into interleaved numbers.
    return this.form.worksInOutput ? (output.format === 'planar' ? 1 : lanes) : undefined;
  }

  private butterflies(radix: number, stride: number): Butterflies {
    const { length, radices } = this.leaf;
    const { far, inPlace, slice } = this.form;
    if (!inPlace) return autosort(length, radix, stride);
    if (stride === 1) return digitReversed(length, radices, far);
    return samePlaces(length, radix, stride, stride * radix <= slice ? slice : length);
  }

  /**
   * A first pass with packed lanes; undefined if its numbers do not allow that or do not fill a vector. A loop with a limit does not
   * either, because its last items run one by one, without their neighbours.
   */
  private inPairs(
    points: readonly Complex[],
    { loops, lanes }: Pick<Phase, 'loops' | 'lanes'>,
    put: (by: Expressions, value: Complex, k: number) => Store[],
  ): Omit<Phase, 'repeatable'> | undefined {
    const along = loops.find(({ variable }) => variable === lanes)!;
    if (along.limit || 2 * lanes.count < Math.max(longestVector(this.leaf.precision), this.leaf.lanes))
      return undefined;
    const x = PackedExpressions.over(lanes, points);
    if (!x) return undefined;
    const outputs = dft(
      x,
      points.map((point) => x.number(point)),
      this.leaf.convolved,
    );
    const stores: Store[] = [];
    for (const [k, value] of outputs.entries()) {
      const store = x.whole(value, (output) => put(x, output, k));
      if (!store) return undefined;
      stores.push(store);
    }
    return {
      loops: loops.map((loop) => (loop === along ? { variable: x.part } : loop)),
      lanes: x.part,
      stores,
      // Both parts of a packed number are one value.
      steps: x.steps.map((step) => [...new Set(step)]),
      exchange: 'group',
    };
  }

  /** The loops of a pass: the lane loop innermost, and the loops over blocks and butterflies in an order that reuses twiddles. */
  private nest(
    { slices, blocks, i }: Butterflies,
    c: Var,
    stride: number,
    within: boolean,
  ): { loops: Loop[]; lanes: Var } {
    const { tile, lanes, lanesAlong } = this.leaf;
    const along = stride === 1 ? lanesAlong.input : lanesAlong.output;
    const loops = (variables: readonly Var[]): Loop[] => variables.map((v) => ({ variable: v }));
    // Between shared arrays, computing whole vectors of missing transforms is cheaper than a limit, if lanes walk along transforms.
    const full = !this.limit || (within && along === 'batch');
    const column: Loop = { variable: c, ...(full ? {} : { limit: this.limit! }) };
    if (along === 'batch') return { loops: [...loops([...blocks, i]), column], lanes: c };
    const around: Loop[] = tile > 1 ? [column] : [];
    if (stride === 1) return { loops: [...around, ...loops(blocks)], lanes: blocks.at(-1)! };
    // Butterflies with equal i share twiddles: if i fills a single vector, it is the outer loop and its twiddles stay in registers.
    if (slices) around.push(...loops([slices]));
    return { loops: [...around, ...loops(stride <= lanes ? [i, ...blocks] : [...blocks, i])], lanes: i };
  }
}
