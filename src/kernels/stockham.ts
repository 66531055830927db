/**
 * The Stockham leaf: mixed-radix passes between shared buffers, or within one where a barrier parts reading from writing
 * (VkFFT guide 2.5; LIFT section 3.1), reading the input through one view and writing the output through another. (Vectors
 * may do without shared buffers and work in the output: vector-phases.ts.)
 *
 * A pass with radix r after passes of product s takes, for every q < N/(r·s) and i < s, the points
 * (q·s + i) + m·N/r, multiplies them by e^{−2πi·i·m/(r·s)}, transforms them and stores point k at q·s·r + i + k·s. (That
 * is autosort form; where vectors can, they work in place: orders.ts. Some of their passes count m from the middle: centred.ts.)
 */
import { type Kernel, mappedLoad, mappedStore, TableBuilder } from '../ir/index.ts';
import type { StockhamLeaf, Way } from '../plan/leaf.ts';
import { sidesOf, tilesOf, type Views } from './sides.ts';
import { type Ends, stepsOf, typeOf } from './steps.ts';
import { threadPhases } from './thread-phases.ts';
import { leafStepTwiddles, stepTwiddles } from './twiddles.ts';
import { vectorPhases } from './vector-phases.ts';

/**
 * Builds the kernel of a leaf.
 * @param reverse the other way for the same kernel to run; for vectors only.
 */
export function stockhamKernel(leaf: StockhamLeaf, reverse?: Way): Kernel {
  const type = typeOf(leaf.precision);
  const tiles = tilesOf(leaf);
  const tables = new TableBuilder(type);
  const sides = sidesOf(leaf, tiles, { input: [leaf.input.axis], output: [leaf.output.axis] });
  let twiddled = ({ input, output }: Views): Ends => ({ input, output });
  if (leaf.twiddle) {
    const columns = leaf.lanesAlong.output === 'batch' || leaf.lanesAlong.input === 'batch';
    const factor =
      leaf.lockstep === 'vector'
        ? stepTwiddles(tables, leaf, tiles.number)
        : leafStepTwiddles(tables, leaf, tiles, columns);
    if (leaf.twiddle.on === 'input') twiddled = ({ input, output }) => ({ input: mappedLoad(input, factor), output });
    // Vectors find their factors along the columns, as passes walk, and not along the axis, as the copy does.
    else if (leaf.lockstep === 'vector' && leaf.staged.output) twiddled = (views) => ({ ...views, beforeCopy: factor });
    else twiddled = ({ input, output }) => ({ input, output: mappedStore(output, factor) });
  }
  const phases = (leaf.lockstep === 'vector' ? vectorPhases : threadPhases)({
    leaf,
    steps: stepsOf(leaf),
    tables,
    // A tile that does not divide the batch leaves a last group with fewer transforms.
    limit: tiles.limit,
    ends: twiddled(sides.views(leaf)),
    inOutput: sides.inOutput,
    ...(reverse ? { reverse: twiddled(sides.views(reverse)) } : {}),
  });
  const table = tables.build();
  return {
    name: `stockham${leaf.length}`,
    precision: type,
    group: tiles.group,
    threads: leaf.threads,
    ...(leaf.beside ? { beside: leaf.beside } : {}),
    globals: sides.globals,
    aliased: leaf.aliased,
    tables: table ? [table] : [],
    ...phases,
  };
}
