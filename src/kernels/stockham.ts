/**
 * The Stockham leaf: mixed-radix passes in autosort form between two shared buffers (VkFFT guide 2.5; LIFT section
 * 3.1), reading the input through one view and writing the output through another.
 *
 * A pass with radix r after passes of product s takes, for every q < N/(r·s) and i < s, the points
 * (q·s + i) + m·N/r, multiplies them by e^{−2πi·i·m/(r·s)}, transforms them and stores point k at q·s·r + i + k·s.
 */
import {
  type ArrayRef,
  add,
  blocked,
  type Complex,
  type ComplexView,
  coordinates,
  div,
  type ElementType,
  Expressions,
  type Format,
  type Index,
  type IndexLike,
  interleaved,
  type Kernel,
  type Loop,
  mapped,
  mappedLoad,
  mappedStore,
  mod,
  type Phase,
  planar,
  type Store,
  scale,
  split,
  strided,
  sub,
  swapped,
  TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import * as exact from '../numeric/exact.ts';
import type { LeafSide, StockhamLeaf, Stride } from '../plan/leaf.ts';
import { dft } from './butterfly.ts';
import { passTwiddles, stepTwiddles } from './twiddles.ts';

/** A stage moves the data of one group from one place to the next. */
interface Place {
  readonly view: ComplexView;
  readonly shared: boolean;
}

/** Builds the kernel of a leaf. */
export function stockhamKernel(leaf: StockhamLeaf): Kernel {
  const type: ElementType = leaf.precision === 'single' ? 'f32' : 'f64';
  const groups = Math.ceil(leaf.batch[0]! / leaf.tile) * leaf.batch.slice(1).reduce((a, b) => a * b, 1);
  const group = variable('group', groups);
  const globals: ArrayRef[] = [];
  const [tileNumber, ...outer] = coordinates(group, [Math.ceil(leaf.batch[0]! / leaf.tile), ...leaf.batch.slice(1)]);
  const first = scale(tileNumber!, leaf.tile);
  const globalView = (name: string, side: LeafSide): ComplexView => {
    const declare = (suffix: string) => {
      const array: ArrayRef = { name: name + suffix, space: 'global', type };
      globals.push(array);
      return array;
    };
    const format = side.layout === 'planar' ? planar(declare('.re'), declare('.im')) : interleaved(declare(''));
    const origin = add(side.offset, ...outer.map((at, d) => walk(at, side.batch[d + 1]!)));
    const view = mapped(format, ([n, c]) => add(origin, walk(n!, side.axis), walk(add(first, c!), side.batch[0]!)));
    return leaf.inverse ? swapped(view) : view;
  };
  let input = globalView('input', leaf.input);
  const tables = new TableBuilder('table', type);
  let output = globalView('output', leaf.output);
  if (leaf.twiddle) {
    const factor = stepTwiddles(tables, leaf, leaf.twiddle.order, tileNumber!);
    if (leaf.twiddle.on === 'input') input = mappedLoad(input, factor);
    else output = mappedStore(output, factor);
  }
  if (leaf.scale !== 1) {
    const by = exact.exact(leaf.scale);
    output = mappedStore(output, (x, value) => x.cscale(value, x.constant(by)));
  }
  // A tile that does not divide the batch leaves a last group with fewer transforms.
  const limit = leaf.batch[0]! % leaf.tile === 0 ? undefined : sub(leaf.batch[0]!, first);
  const builder = new PhaseBuilder(leaf, tables, limit);

  const places: Place[] = [{ view: input, shared: false }];
  const inner = leaf.radices.length - 1 + Number(leaf.staged.input) + Number(leaf.staged.output);
  const shared = builder.sharedArrays(type, Math.min(inner, 2));
  for (let n = 0; n < inner; n++) places.push({ view: builder.sharedView(shared[n % 2]!), shared: true });
  places.push({ view: output, shared: false });

  const phases: Phase[] = [];
  let at = 0;
  const step = (): [Place, Place] => [places[at++]!, places[at]!];
  if (leaf.staged.input) phases.push(builder.copy(...step()));
  let stride = 1;
  for (const radix of leaf.radices) {
    phases.push(builder.pass(radix, stride, ...step()));
    stride *= radix;
  }
  if (leaf.staged.output) phases.push(builder.copy(...step()));
  const table = tables.build();
  return {
    name: `stockham${leaf.length}`,
    precision: type,
    group,
    threads: leaf.threads,
    globals,
    aliased: leaf.aliased,
    tables: table ? [table] : [],
    shared,
    phases,
  };
}

/** Where an index has walked to. */
function walk(at: IndexLike, stride: Stride): Index {
  if (typeof stride === 'number') return scale(at, stride);
  return add(mod(at, stride.run), scale(div(at, stride.run), stride.next));
}

class PhaseBuilder {
  private readonly leaf: StockhamLeaf;
  private readonly tables: TableBuilder;
  private readonly limit: Index | undefined;
  /** Every vector of every pass begins at a multiple of the lane count, so that blocks are never torn. */
  private readonly aligned: boolean;

  constructor(leaf: StockhamLeaf, tables: TableBuilder, limit: Index | undefined) {
    this.leaf = leaf;
    this.tables = tables;
    this.limit = limit;
    const [firstRadix, ...rest] = leaf.radices;
    this.aligned =
      leaf.sharedFormat === 'blocked' &&
      (leaf.lanesAlong === 'batch'
        ? leaf.tile % leaf.lanes === 0
        : firstRadix! % leaf.lanes === 0 && rest.every((radix) => (leaf.length / radix) % leaf.lanes === 0));
  }

  sharedArrays(type: ElementType, count: number): ArrayRef[] {
    const length = 2 * this.plane();
    return ['ping', 'pong'].slice(0, count).map((name) => ({ name, space: 'shared', type, length }));
  }

  private plane(): number {
    return Math.ceil((this.leaf.length * this.leaf.tile) / this.leaf.lanes) * this.leaf.lanes;
  }

  /** Element n of transform c of the tile lies at n·tile + c. */
  sharedView(array: ArrayRef): ComplexView {
    const format: Format = this.aligned ? blocked(array, this.leaf.lanes) : split(array, this.plane());
    return strided(format, [this.leaf.tile, 1]);
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
    const { length, tile } = this.leaf;
    const x = new Expressions();
    const q = variable('q', length / (radix * stride));
    const i = variable('i', stride);
    const c = variable('c', tile);
    const butterfly = add(scale(q, stride), i);
    const twiddle = passTwiddles(this.tables, this.leaf, radix, stride, this.aligned);
    const values: Complex[] = [];
    for (let m = 0; m < radix; m++) {
      const point = from.view.load(x, [add(butterfly, (m * length) / radix), c]);
      values.push(m === 0 ? point : twiddle(x, point, i, m));
      if (m > 0 && stride > 1) x.together(values[m]!);
    }
    const target = add(scale(q, stride * radix), i);
    const stores: Store[] = dft(x, values).flatMap((value, k) => to.view.store(x, [add(target, k * stride), c], value));
    return {
      ...this.nest(q, i, c, stride, !from.shared || !to.shared),
      stores,
      steps: x.steps,
      // Input and output of a leaf in place are the same memory only where one pass does both.
      repeatable: from.shared || to.shared || !this.leaf.aliased,
      exchange: 'group',
    };
  }

  /** The order of the loops, the longest of the contiguous ones innermost. */
  private nest(q: Var, i: Var, c: Var, stride: number, touchesGlobal: boolean): { loops: Loop[]; lanes: Var } {
    const { tile, lanes, lanesAlong } = this.leaf;
    const column: Loop = { variable: c, ...(this.limit && touchesGlobal ? { limit: this.limit } : {}) };
    if (lanesAlong === 'batch') return { loops: [{ variable: q }, { variable: i }, column], lanes: c };
    const around: Loop[] = tile > 1 ? [column] : [];
    if (stride === 1) return { loops: [...around, { variable: q }], lanes: q };
    // Butterflies with the same i share their twiddles: a single vector of them stays in registers over all q.
    const loops = stride <= lanes ? [{ variable: i }, { variable: q }] : [{ variable: q }, { variable: i }];
    return { loops: [...around, ...loops], lanes: i };
  }
}
