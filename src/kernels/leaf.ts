/**
 * The kernel of a leaf: the steps of a tile between a load view and a store view (VkFFT guide 2.5; LIFT section 3.1).
 *
 * A pass with radix r after passes of product s takes, for every q < N/(r·s) and i < s, the points (q·s + i) + m·N/r, multiplies them by
 * e^{−2πi·i·m/(r·s)}, transforms them and stores point k at q·s·r + i + k·s. (That is the autosort form. Vectors work in place if they can:
 * orders.ts.)
 *
 * Two axes of an image in one leaf are passes along one dimension followed by passes along the other. A long axis in one leaf is cut into
 * two digits, as in the four-step algorithm (VkFFT guide 2.5.2): input element n = n₀·B + n₁, output element k = k₀ + A·k₁. Its passes are
 * those of one Stockham transform of length A·B, so the passes of the second digit include the twiddles between the digits. The slowest of
 * several axes may also be cut like that; the blocks of a cluster then exchange data once, after its first digit.
 */

import {
  type ArrayRef,
  type Complex,
  type Kernel,
  mappedLoad,
  mappedStore,
  TableBuilder,
  type Var,
  type ViewMap,
  variable,
} from '../ir/index.ts';
import { type DirectionScale, type Leaf, type StepTwiddle, stagedOf } from '../plan/tree/leaf.ts';
import { type BuiltSteps, type Ends, kernelSteps } from './passes/steps.ts';
import { stepTwiddles } from './passes/twiddles.ts';
import { vectorLeaf } from './passes/vector-form.ts';
import { threadPhases } from './threads/thread-phases.ts';
import { threadStepTwiddles } from './threads/thread-twiddles.ts';
import { vectorPhases } from './vectors/vector-phases.ts';
import { numberTypeOf } from './views/number-types.ts';
import { type CommonArrays, leafMemory, leafTiles, type Tiles } from './views/sides.ts';
import type { Views } from './views/views.ts';

/** @param reverse the opposite direction, if the kernel is to serve both; for vectors only */
export function leafKernel(leaf: Leaf, reverse?: DirectionScale): Kernel {
  const type = numberTypeOf(leaf.precision);
  const tiles = leafTiles(leaf);
  const rank = variable('rank', leaf.blocks);
  const tables = new TableBuilder(type);
  const { globals, ...built } = leafPhases(leaf, { tiles, tables, rank, ...(reverse ? { reverse } : {}) });
  return {
    name: `stockham${leaf.lengths.join('x')}`,
    precision: type,
    group: tiles.group,
    ...(leaf.blocks > 1 ? { cluster: { blocks: leaf.blocks, rank } } : {}),
    threads: leaf.threads,
    ...(leaf.residentGroups ? { residentGroups: leaf.residentGroups } : {}),
    globals,
    aliased: leaf.aliased,
    tables: tables.all(),
    ...built,
  };
}

/** The place of a leaf in its launch. */
interface LeafPlace {
  readonly tiles: Tiles;
  readonly tables: TableBuilder;
  readonly rank: Var;
  /** The opposite direction, if the phases are to serve both. */
  readonly reverse?: DirectionScale;
  /** Only for a leaf that is one of several in the launch. */
  readonly common?: CommonArrays;
  /** The shared arrays of other leaves in the launch, which this one may use again. */
  readonly arrays?: readonly ArrayRef[];
}

/** The phases of a leaf, and the global arrays that they access. */
export function leafPhases(
  leaf: Leaf,
  { tiles, tables, rank, reverse, common, arrays = [] }: LeafPlace,
): BuiltSteps & Pick<Kernel, 'globals'> {
  const sides = leafMemory(leaf, tiles, tables, common);
  const twiddled = twiddles(leaf, tables, tiles);
  const ends = twiddled(sides.views(leaf));
  const { globals } = sides;
  if (leaf.lockstep === 'threads')
    return { globals, ...threadPhases(leaf, tables, { ...sides, rank, arrays }, ends, tiles) };
  return {
    globals,
    ...vectorPhases({
      leaf: vectorLeaf(leaf),
      steps: kernelSteps(leaf.steps),
      tables,
      // The last group has fewer transforms if the tile does not divide the batch.
      limit: tiles.limit,
      ends,
      inOutput: sides.inOutput,
      coordinates: sides.coordinates,
      kernel: sides.kernel,
      arrays,
      ...(reverse ? { reverse: twiddled(sides.views(reverse)) } : {}),
    }),
  };
}

/** The function that puts the twiddles of four-step decompositions into the views of a leaf. */
function twiddles(leaf: Leaf, tables: TableBuilder, tiles: Tiles): (views: Views) => Ends {
  const onSide = (twiddle: StepTwiddle, side: 'input' | 'output', isConjugated: boolean): ((views: Ends) => Ends) => {
    const factor =
      leaf.lockstep === 'vector'
        ? stepTwiddles(tables, vectorLeaf(leaf), twiddle, tiles, side)
        : threadStepTwiddles(tables, leaf, twiddle, tiles, side);
    const own = isConjugated ? withConjugates(factor) : factor;
    // The table of factors is laid out for the passes, which walk along the columns; the copy that follows walks along the axis.
    if (side === 'output' && leaf.lockstep === 'vector' && stagedOf(leaf).output)
      return (views) => ({ ...views, beforeCopy: own });
    // In tiles with coordinates that matrices multiply, the coordinate comes between the element and the transform.
    const map: ViewMap = leaf.lockstep === 'vector' ? (x, value, at) => own(x, value, [at[0]!, at.at(-1)!]) : own;
    if (side === 'input') return (views) => ({ ...views, input: mappedLoad(views.input, map) });
    return (views) => ({ ...views, output: mappedStore(views.output, map) });
  };
  const maps = [leaf.twiddle, leaf.outerTwiddle].flatMap((twiddle) => {
    if (!twiddle) return [];
    const { on, conjugated } = twiddle;
    if (on !== 'both') return [onSide(twiddle, on, conjugated === true)];
    return [onSide(twiddle, 'input', false), onSide(twiddle, 'output', true)];
  });
  return (views) => maps.reduce((ends: Ends, map) => map(ends), views);
}

/** The map that multiplies by the conjugates of the factors. */
function withConjugates(map: ViewMap): ViewMap {
  const swap = ({ re, im }: Complex): Complex => ({ re: im, im: re });
  return (x, value, at) => swap(map(x, swap(value), at));
}
