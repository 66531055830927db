/** Phases for threads: the steps of a leaf, dimension after dimension. The counterpart for vectors is vector-phases.ts. */

import {
  add,
  type ComplexView,
  div,
  type Guard,
  type IndexLike,
  scale,
  type TableBuilder,
  type Var,
} from '../../ir/index.ts';
import { type Leaf, type LeafStep, passesOf } from '../../plan/tree/leaf.ts';
import { raderTwiddles } from '../passes/rader-pass.ts';
import { alongOf, type BuiltSteps, type Ends, kernelSteps } from '../passes/steps.ts';
import { pairRoots } from '../passes/twiddles.ts';
import { type PassContext, passEnds } from '../views/pointwise.ts';
import { kernelView } from '../views/products.ts';
import type { Tiles } from '../views/sides.ts';
import type { LeafMemory } from '../views/views.ts';
import { Geometry } from './geometry.ts';
import { type Stage, type StagesToBuild, stagePhases } from './stage.ts';
import { threadPassTwiddles } from './thread-twiddles.ts';

type ThreadSides = Pick<LeafMemory, 'coordinates' | 'kernel'> & { readonly rank: Var } & Pick<StagesToBuild, 'arrays'>;

export function threadPhases(
  leaf: Leaf,
  tables: TableBuilder,
  sides: ThreadSides,
  ends: Ends,
  tiles: Tiles,
): BuiltSteps {
  const geometry = passesOf(leaf).map((passes) => new Geometry(leaf, passes, sides.rank));
  // With several dimensions, the columns of a stage are not the transforms of the tile, so guards replace the loop limit.
  const several = leaf.lengths.length > 1;
  const seen = (view: ComplexView, stage: Geometry) =>
    atElements(several && tiles.limit ? withinBatch(view, leaf, tiles) : view, stage);
  return stagePhases({
    stages: stagesOf(leaf, geometry, tables, sides),
    precision: leaf.precision,
    shared: leaf.shared,
    input: seen(ends.input, geometry[0]!),
    output: seen(ends.output, geometry.at(-1)!),
    secondLine: ends.secondLine && seen(ends.secondLine, geometry[0]!),
    limit: several ? undefined : tiles.limit,
    aliased: leaf.aliased,
    ...(sides.arrays ? { arrays: sides.arrays } : {}),
  });
}

/** Number of blocks from which on it pays that they begin to store into different blocks. */
const BLOCKS_STAGGERED = 8;

/** A stage for each dimension that has passes. */
function stagesOf(
  leaf: Leaf,
  geometry: readonly Geometry[],
  tables: TableBuilder,
  { rank, coordinates, kernel }: ThreadSides,
): Stage[] {
  const passes = passesOf(leaf);
  return stepsByPasses(leaf.steps).map((run, n): Stage => {
    const { split, lanesAlong, after } = passes[n]!;
    const own = geometry[n]!;
    const { length, columns } = own;
    const next = geometry[n + 1];
    const exchanges = next && passes[n + 1]!.split !== split;
    const context: PassContext = {
      ...{ tables, format: { kind: 'pairs', lanes: 1 }, kernel },
      coordinates: ([n, c]) => coordinates(own.element(n!, c!)),
    };
    const before = after === undefined ? 1 : leaf.lengths[after]!;
    const steps = kernelSteps(run);
    return {
      length,
      columns,
      walks: steps.map((step, at) => ({ step, along: alongOf(lanesAlong, steps, at) })),
      ...(leaf.blocks >= BLOCKS_STAGGERED && exchanges
        ? { firstOutput: (radix: number) => div(scale(rank, radix), leaf.blocks) }
        : {}),
      twiddle: ({ radix, stride }, shifted) => {
        const multiply = threadPassTwiddles(tables, radix, stride * before, { shifted, uncached: leaf.blocks > 1 });
        if (after === undefined) return multiply;
        // These passes continue a transform whose earlier digit, from another stage, is the low part of i.
        return (x, value, i, m, c) => multiply(x, value, add(own.coordinate(after, c), scale(i, before)), m);
      },
      raderPass: (x, { prime, stride }, c) => {
        const multiply = raderTwiddles(tables, prime, stride * before, 'pairs');
        const counted = (i: IndexLike) => (after === undefined ? i : add(own.coordinate(after, c), scale(i, before)));
        return {
          tables,
          twiddle: (value, i, n) => multiply(x, value, counted(i), n),
          innerTwiddle: (value, radix, inner, i, m) => threadPassTwiddles(tables, radix, inner)(x, value, i, m),
        };
      },
      opposite: (c) => own.opposite(c),
      pairRoot: (points) => pairRoots(tables, points, { kind: 'pairs', lanes: 1 }),
      ends: passEnds(passes[n]!, length, context),
      numbers: (factors) => kernelView(factors, kernel!, context.coordinates),
      ...(next ? { carry: (at, c) => next.placeOf(own.element(at, c), own) } : {}),
    };
  });
}

/** The steps of each stage: its passes, with the steps before them in the first stage and the steps that follow them. */
function stepsByPasses(steps: readonly LeafStep[]): LeafStep[][] {
  const runs: LeafStep[][] = [];
  let before: LeafStep[] = [];
  for (const step of steps) {
    if (step.do === 'passes') runs.push([...before, step]);
    else if (runs.length > 0) runs.at(-1)!.push(step);
    else before = [...before, step];
    if (step.do === 'passes') before = [];
  }
  return runs;
}

/** A view of a tile without the transforms that lie beyond the end of the batch. */
function withinBatch(view: ComplexView, { batch }: Leaf, { first }: Tiles): ComplexView {
  const within = (at: readonly IndexLike[], guard: Guard = []): Guard => [
    ...guard,
    { index: add(first, at.at(-1)!), from: 0, to: batch[0]! },
  ];
  return {
    load: (x, at, guard) => view.load(x, at, within(at, guard)),
    store: (x, at, value, guard) => view.store(x, at, value, within(at, guard)),
  };
}

/** A view of a tile at the coordinates [element, column] of a stage. */
function atElements(view: ComplexView, stage: Geometry): ComplexView {
  return {
    load: (x, [n, c], guard) => view.load(x, stage.element(n!, c!), guard),
    store: (x, [n, c], value, guard) => view.store(x, stage.element(n!, c!), value, guard),
  };
}
