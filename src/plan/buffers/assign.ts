/**
 * Buffer assignment: which memory each leaf of a plan tree reads and writes (rocFFT buffer assignment).
 *
 * The search is exhaustive: the decision function is asked about every output of every leaf but the last, first with the user's buffers
 * alone, then with one temp buffer, then with two. The first round that finds valid assignments returns all of them, best first.
 *
 * The partial assignments (tries) of a leaf extend all tries of the leaf before, in depth-first order. Their number multiplies with every
 * leaf. Beyond a limit, tries in the same state (same last output, same set of memories used) are merged into the best one, the first found
 * among equals. That loses worse assignments only, because the state alone decides how a try can continue, and a continuation adds the same
 * to every criterion; so the winner is that of the full search. There are few states, so from then on each leaf has few tries, however long
 * the tree; a bound on the final criteria of a try would prune nothing more.
 */
import { FftError } from '../../problem/errors.ts';
import { isLeaf, type LeafNode, leavesOf, type PlanNode } from '../tree/node.ts';
import {
  type AvailableBuffers,
  type BufferName,
  memoryOf,
  operandChoices,
  type TempCount,
  type TypedBuffer,
} from './available-buffers.ts';
import { branchTo, type Criteria, compareCriteria, type PlacementTrace, pathTo, rootTrace, uses } from './trace.ts';
import { createValidity, type Validity } from './validity.ts';

/** One leaf and its memory. */
export interface AssignedStep {
  readonly leaf: LeafNode;
  readonly input: TypedBuffer;
  readonly output: TypedBuffer;
  /** The leaf writes the memory that it reads, and each element goes back to its address. */
  readonly inPlace: boolean;
}

/** An assignment and its criteria; `inPlace` is the number of steps that work in place. */
export interface Assignment extends Criteria {
  /** The steps in execution order. */
  readonly steps: readonly AssignedStep[];
  /** One name for each memory, in order of first use; in place, `input` also stands for the output. */
  readonly buffers: readonly BufferName[];
  readonly temps: TempCount;
}

export interface SearchOptions {
  /** The number of tries of one leaf beyond which tries in the same state are merged. Default 4096. */
  readonly keep?: number;
}

/** A search with its trace. */
export interface AssignmentSearch {
  /** The valid assignments, best first; never empty. */
  readonly assignments: readonly [Assignment, ...Assignment[]];
  /** The tries of the last round, dead ends included. */
  readonly tries: PlacementTrace;
  /** Whether tries were merged: then `assignments` holds the winner but not every valid assignment. */
  readonly merged: boolean;
  /** Answers of the decision function that came from its cache, and those that were computed. */
  readonly cache: { readonly hits: number; readonly misses: number };
}

/**
 * All valid assignments of a plan tree, best first.
 *
 * @throws RangeError if the tree is malformed: a branch without children, or a count or length that is no positive integer
 * @throws FftError `internal-error` if not even two temp buffers suffice, as for a single leaf that transposes in place; a planner must not
 * propose such a tree
 */
export function assignBuffers(
  root: PlanNode,
  available: AvailableBuffers,
  options?: SearchOptions,
): readonly [Assignment, ...Assignment[]] {
  return searchAssignments(root, available, options).assignments;
}

/** `assignBuffers` with the trace of the search. */
export function searchAssignments(
  root: PlanNode,
  available: AvailableBuffers,
  { keep = 4096 }: SearchOptions = {},
): AssignmentSearch {
  checkTree(root);
  const leaves = leavesOf(root);
  const validity = createValidity(available);
  for (const temps of [0, 1, 2] as const) {
    const { tries, complete, merged } = growTries(leaves, available, temps, validity, keep);
    const [best, ...others] = complete.sort(compareCriteria);
    if (!best) continue;
    const assignment = (trace: PlacementTrace) => toAssignment(trace, available, temps);
    const cache = { hits: validity.hits, misses: validity.misses };
    return { assignments: [assignment(best), ...others.map(assignment)], tries, merged, cache };
  }
  throw new FftError(
    'internal-error',
    `No buffers can be assigned to the ${leaves.length} steps of '${root.title}' ${describeBuffers(available)}, even with two ` +
      'temp buffers. A plan needs a step that may write memory other than the one it reads, and an output that holds it.',
  );
}

interface Growth {
  readonly tries: PlacementTrace;
  readonly complete: PlacementTrace[];
  readonly merged: boolean;
}

function growTries(
  leaves: readonly LeafNode[],
  available: AvailableBuffers,
  temps: TempCount,
  validity: Validity,
  keep: number,
): Growth {
  const operands = operandChoices(available, temps);
  const tries = rootTrace(available);
  let frontier = [tries];
  let merged = false;
  leaves.forEach((leaf, index) => {
    const isLast = index === leaves.length - 1;
    // The last leaf has no choice: it writes the output, which is the first operand.
    const choices = isLast ? operands.slice(0, 1) : operands;
    const next: PlacementTrace[] = [];
    for (const trace of frontier) {
      for (const output of choices) {
        // The temp buffers are interchangeable until one is used: ordering them avoids finding every assignment twice.
        if (output.buffer === 'temp2' && !uses(trace, 'temp')) continue;
        if (validity.validOutput(leaf, trace.output, output, isLast))
          next.push(branchTo(trace, leaf, output, available));
      }
    }
    frontier = next;
    if (frontier.length > keep) {
      frontier = bestOfEachState(frontier);
      merged ||= frontier.length < next.length;
    }
  });
  return { tries, complete: frontier, merged };
}

/** The best try of each state, in the order found. */
function bestOfEachState(tries: readonly PlacementTrace[]): PlacementTrace[] {
  const best = new Map<string, PlacementTrace>();
  for (const trace of tries) {
    const state = `${trace.output.buffer} ${trace.output.type} ${trace.used}`;
    const rival = best.get(state);
    if (rival && compareCriteria(rival, trace) <= 0) continue;
    // The key is deleted first, because a map keeps the position of a key that is only overwritten.
    best.delete(state);
    best.set(state, trace);
  }
  return [...best.values()];
}

function toAssignment(trace: PlacementTrace, available: AvailableBuffers, temps: TempCount): Assignment {
  const steps = pathTo(trace).map(({ leaf, input, output }): AssignedStep => {
    const inPlace = memoryOf(input.buffer, available) === memoryOf(output.buffer, available);
    return { leaf: leaf!, input, output, inPlace };
  });
  const buffers = new Map<BufferName, BufferName>([[memoryOf('input', available), 'input']]);
  for (const { buffer } of steps.map((step) => step.output)) {
    const memory = memoryOf(buffer, available);
    if (!buffers.has(memory)) buffers.set(memory, buffer);
  }
  const { bufferCount, padded, inPlace, typeChanges } = trace;
  return { steps, buffers: [...buffers.values()], temps, bufferCount, padded, inPlace, typeChanges };
}

function checkTree(node: PlanNode): void {
  checkLeafCounts(node.length, node);
  checkLeafCounts(node.outputLength, node);
  if (isLeaf(node)) {
    const loops = [node.axis, ...node.more, ...node.batch];
    checkLeafCounts(
      loops.map(({ count }) => count),
      node,
    );
    return;
  }
  if (node.children.length === 0) throw new RangeError(`'${node.title}' arranges no steps: it needs children.`);
  for (const child of node.children) checkTree(child);
}

function checkLeafCounts(counts: readonly number[], { title }: PlanNode): void {
  if (counts.every((count) => Number.isSafeInteger(count) && count > 0)) return;
  throw new RangeError(`Lengths and counts of '${title}' must be positive integers, not ${counts.join(', ')}.`);
}

function describeBuffers({ same, sameLayout, work }: AvailableBuffers): string {
  const place = same ? `in place with ${sameLayout ? 'equal' : 'different'} strides` : 'out of place';
  return work ? `${place} through work` : place;
}
