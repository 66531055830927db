/**
 * Problem + profile → a plan for one direction: tree, buffers, and every launch in full.
 */
import { type Direction, defaultStrides, type Problem, type Side, scaleFactor, tensorShape } from '../problem/index.ts';
import { type Assignment, assignBuffers, type BufferName } from './buffers/index.ts';
import { configureLeaf, type Span } from './configure.ts';
import type { StockhamLeaf } from './leaf.ts';
import type { BranchNode, Dimension, LeafNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { planTree } from './tree.ts';

/** One launch: which leaf, from where to where, and the leaf in full. */
export interface Launch {
  readonly node: LeafNode;
  readonly from: BufferName;
  readonly to: BufferName;
  readonly leaf: StockhamLeaf;
}

export interface DirectionPlan {
  readonly direction: Direction;
  readonly tree: BranchNode;
  readonly assignment: Assignment;
  /** Valid assignments that were found; the first of them won. */
  readonly candidates: number;
  readonly launches: readonly Launch[];
  /** Complex numbers in each temp buffer. */
  readonly tempElements: number;
}

/** The side of the problem that a direction reads or writes. */
export function sideOf(direction: Direction, what: 'read' | 'written'): Side {
  return (direction === 'forward') === (what === 'read') ? 'input' : 'output';
}

/** @param throughWork the caller brings VkFFT's main buffer: see the contract's *Placement and buffers*. */
export function planDirection(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
): DirectionPlan {
  const tree = planTree(problem, direction, profile);
  const read = sideOf(direction, 'read');
  const written = sideOf(direction, 'written');
  const elements = tensorShape(problem, 'input').reduce((a, b) => a * b, 1);
  const inPlace = problem.placement === 'in-place';
  const assignments = assignBuffers(tree, {
    input: { type: problem.layout[read], elements, writable: !problem.preserveInput },
    output: { type: problem.layout[written], elements },
    same: inPlace,
    sameLayout: inPlace,
    ...(throughWork ? { work: { type: 'interleaved', elements } } : {}),
  });
  const assignment = assignments[0]!;
  const layoutOf = (name: BufferName): { strides: readonly number[]; offset: number } => {
    if (name !== 'input' && name !== 'output') return { strides: defaultStrides(problem, written), offset: 0 };
    const side = name === 'input' ? read : written;
    return { strides: problem.strides[side], offset: problem.offsets[side] };
  };
  const launches = assignment.steps.map(({ leaf: node, input, output, inPlace: aliased }, n): Launch => {
    const from = layoutOf(input.buffer);
    const to = layoutOf(output.buffer);
    const span = ({ count, input: source, output: target }: Dimension): Span => ({
      count,
      input: from.strides[source.of]! * source.step,
      output: to.strides[target.of]! * target.step,
    });
    const last = n === assignment.steps.length - 1;
    const leaf = configureLeaf(
      {
        precision: problem.precision === 'double' ? 'double' : 'single',
        axis: span(node.axis),
        batch: node.batch.map(span),
        ...(node.twiddle ? { twiddle: node.twiddle } : {}),
        layout: { input: input.type, output: output.type },
        offset: { input: from.offset, output: to.offset },
        inverse: direction === 'inverse',
        scale: last ? scaleFactor(problem, direction) : 1,
        aliased,
      },
      profile,
    );
    return { node, from: input.buffer, to: output.buffer, leaf };
  });
  return { direction, tree, assignment, candidates: assignments.length, launches, tempElements: elements };
}
