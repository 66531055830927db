/**
 * Problem and profile → plan tree: one node for each transformed axis, in one or several uploads.
 *
 * Axes other than the innermost are read in tiles of neighbouring columns, so no transposes are needed between them.
 */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import { capacityOf, kernelPrecision } from './capacity.ts';
import type { BranchNode, Dimension, PlanNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { axisNode } from './uploads.ts';

/** The tree of one direction. */
export function planTree(problem: Problem, direction: Direction, profile: DeviceProfile): BranchNode {
  const tensor = tensorShape(problem, 'input');
  const precision = kernelPrecision(problem.precision);
  const { lanes, run, room } = capacityOf(precision, profile);
  const dimensions: Dimension[] = tensor.map((count, of) => ({
    count,
    input: { of, step: 1 },
    output: { of, step: 1 },
  }));
  const children: PlanNode[] = [];
  problem.size.forEach((length, axis) => {
    if (problem.omit[axis] || length === 1) return;
    const of = axis + 1;
    const innermost = tensor.slice(0, of).every((count) => count === 1);
    const columns = Math.floor(room / run);
    children.push(
      axisNode({
        of,
        length,
        others: dimensions.filter(({ count }, d) => d !== of && count > 1),
        title: `axis ${axis}`,
        tensor,
        // Half a run of neighbours still reads whole cache lines: better than one more upload.
        capacity: { whole: innermost ? room : 4 * columns, columns: 2 * columns },
        tile: run,
        cost: (n) => chooseRadices({ length: n, lanesAlong: 'batch', lanes, precision }, profile).cost,
        unordered: problem.unordered && direction === 'forward',
        mirrored: problem.unordered && direction === 'inverse',
      }),
    );
  });
  if (children.length === 0) children.push(copyNode(dimensions, tensor));
  if (direction === 'inverse') children.reverse();
  return { scheme: 'axes', title: direction, length: tensor, outputLength: tensor, children };
}

/** Nothing to transform: the transform of length 1 of everything, which still scales and changes layouts. */
function copyNode(dimensions: readonly Dimension[], tensor: readonly number[]): PlanNode {
  const batch = dimensions.filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { scheme: 'stockham', title: 'copy', axis, batch, length: tensor, outputLength: tensor, children: [] };
}
