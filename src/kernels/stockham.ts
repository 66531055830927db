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
  type ComplexView,
  coordinates,
  div,
  type ElementType,
  type Index,
  type IndexLike,
  interleaved,
  type Kernel,
  mapped,
  mappedLoad,
  mappedStore,
  mod,
  planar,
  scale,
  sub,
  swapped,
  TableBuilder,
  variable,
} from '../ir/index.ts';
import * as exact from '../numeric/exact.ts';
import type { LeafSide, StockhamLeaf, Stride } from '../plan/leaf.ts';
import { stepsOf } from './steps.ts';
import { threadPhases } from './thread-phases.ts';
import { stepTwiddles } from './twiddles.ts';
import { vectorPhases } from './vector-phases.ts';

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
  const steps = stepsOf(leaf);
  const phases = (leaf.lockstep === 'vector' ? vectorPhases : threadPhases)({
    leaf,
    steps,
    tables,
    limit,
    input: { view: input, shared: false },
    output: { view: output, shared: false },
  });
  const table = tables.build();
  return {
    name: `stockham${leaf.length}`,
    precision: type,
    group,
    threads: leaf.threads,
    globals,
    aliased: leaf.aliased,
    tables: table ? [table] : [],
    ...phases,
  };
}

/** Where an index has walked to. */
function walk(at: IndexLike, stride: Stride): Index {
  if (typeof stride === 'number') return scale(at, stride);
  return add(mod(at, stride.run), scale(div(at, stride.run), stride.next));
}
