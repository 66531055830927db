/**
 * Buffer assignment: which memory each leaf of a plan tree reads and writes (rocFFT buffer assignment).
 *
 * The search is exhaustive: every choice of output for every leaf but the last is put to the decision function, first
 * with the buffers of the user alone, then with one temp buffer, then with two; the first pass that finds anything is
 * the answer, all of it, best first.
 *
 * The tries of one leaf are grown from all tries of the leaf before, in the order in which a depth-first search would
 * come upon them. Their number multiplies with every leaf, so beyond a limit tries are merged that stand in the same
 * state: the same operand written, the same set of memories used. What can follow depends on nothing else, and
 * whatever follows adds the same to every criterion, so keeping the best of a state, the first found among equals,
 * loses worse assignments only: the winner is that of the full search. There are few states, so the tries of a leaf are few
 * from then on, however long the tree; a bound on what a try may still come to would leave out nothing more.
 */
import { FftError } from '../../problem/errors.ts';
import { isLeaf, type LeafNode, leavesOf, type PlanNode } from '../tree/node.ts';
import { type Criteria, compareCriteria } from './criteria.ts';
import {
  type AvailableBuffers,
  type BufferName,
  memoryOf,
  operandsOf,
  type TempCount,
  type TypedBuffer,
} from './offer.ts';
import { branchTo, type PlacementTrace, pathTo, rootTrace, uses } from './trace.ts';
import { createValidity, type Validity } from './validity.ts';

/** One leaf with its memory. */
export interface AssignedStep {
  readonly leaf: LeafNode;
  readonly input: TypedBuffer;
  readonly output: TypedBuffer;
  /** Reads and writes are one memory, every element at one address. */
  readonly inPlace: boolean;
}

/** Counts are those of `Criteria`; `inPlace` is the number of steps that work in place. */
export interface Assignment extends Criteria {
  /** In the order of execution. */
  readonly steps: readonly AssignedStep[];
  /** One name for each memory, in order of first use; in place, `input` stands for the output as well. */
  readonly buffers: readonly BufferName[];
  readonly temps: TempCount;
}

export interface SearchOptions {
  /** Tries of one leaf that are kept apart; beyond it, those in the same state are merged. Default 4096. */
  readonly keep?: number;
}

/** A search with everything it looked at. */
export interface AssignmentSearch {
  /** Valid assignments, best first; never empty. */
  readonly assignments: readonly [Assignment, ...Assignment[]];
  /** The tries of the last pass, dead ends included. */
  readonly tries: PlacementTrace;
  /** Whether tries were merged, so that `assignments` holds the winner but not everything that is valid. */
  readonly merged: boolean;
  /** Calls of the decision function answered from its cache and worked out. */
  readonly cache: { readonly hits: number; readonly misses: number };
}

/**
 * All valid assignments of a plan tree, best first.
 *
 * @throws RangeError where the tree is broken: a branch without children, a count or length that is no positive integer.
 * @throws FftError `internal-error` where not even two temp buffers suffice, as for a single leaf that transposes in
 * place: a planner must not propose such a tree.
 */
export function assignBuffers(
  root: PlanNode,
  offer: AvailableBuffers,
  options?: SearchOptions,
): readonly [Assignment, ...Assignment[]] {
  return searchAssignments(root, offer, options).assignments;
}

/** As `assignBuffers`, with the trace of the search. */
export function searchAssignments(
  root: PlanNode,
  offer: AvailableBuffers,
  { keep = 4096 }: SearchOptions = {},
): AssignmentSearch {
  checkTree(root);
  const leaves = leavesOf(root);
  const validity = createValidity(offer);
  for (const temps of [0, 1, 2] as const) {
    const { tries, complete, merged } = growTries(leaves, offer, temps, validity, keep);
    const [best, ...others] = complete.sort(compareCriteria);
    if (!best) continue;
    const assignment = (trace: PlacementTrace) => toAssignment(trace, offer, temps);
    const cache = { hits: validity.hits, misses: validity.misses };
    return { assignments: [assignment(best), ...others.map(assignment)], tries, merged, cache };
  }
  throw new FftError(
    'internal-error',
    `No buffers can be assigned to the ${leaves.length} steps of '${root.title}' ${describeOffer(offer)}, even with two ` +
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
  offer: AvailableBuffers,
  temps: TempCount,
  validity: Validity,
  keep: number,
): Growth {
  const operands = operandsOf(offer, temps);
  const tries = rootTrace(offer);
  let frontier = [tries];
  let merged = false;
  leaves.forEach((leaf, index) => {
    const isLast = index === leaves.length - 1;
    // Where the last leaf writes is no choice: the output, which stands first.
    const choices = isLast ? operands.slice(0, 1) : operands;
    const next: PlacementTrace[] = [];
    for (const trace of frontier) {
      for (const output of choices) {
        // The temps are alike until one is used: without an order among them, everything would be found twice.
        if (output.buffer === 'temp2' && !uses(trace, 'temp')) continue;
        if (validity.validOutput(leaf, trace.output, output, isLast)) next.push(branchTo(trace, leaf, output, offer));
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
    // Deleted first, because a map keeps the position of a key that is only overwritten.
    best.delete(state);
    best.set(state, trace);
  }
  return [...best.values()];
}

function toAssignment(trace: PlacementTrace, offer: AvailableBuffers, temps: TempCount): Assignment {
  const steps = pathTo(trace).map(({ leaf, input, output }): AssignedStep => {
    const inPlace = memoryOf(input.buffer, offer) === memoryOf(output.buffer, offer);
    return { leaf: leaf!, input, output, inPlace };
  });
  const buffers = new Map<BufferName, BufferName>([[memoryOf('input', offer), 'input']]);
  for (const { buffer } of steps.map((step) => step.output)) {
    const memory = memoryOf(buffer, offer);
    if (!buffers.has(memory)) buffers.set(memory, buffer);
  }
  const { bufferCount, padded, inPlace, typeChanges } = trace;
  return { steps, buffers: [...buffers.values()], temps, bufferCount, padded, inPlace, typeChanges };
}

function checkTree(node: PlanNode): void {
  const numbers = [...node.length, ...node.outputLength];
  if (isLeaf(node)) numbers.push(...[node.axis, ...(node.more ?? []), ...node.batch].map(({ count }) => count));
  if (!numbers.every((count) => Number.isSafeInteger(count) && count > 0)) {
    throw new RangeError(`Lengths and counts of '${node.title}' must be positive integers, not ${numbers.join(', ')}.`);
  }
  if (isLeaf(node)) return;
  if (node.children.length === 0) throw new RangeError(`'${node.title}' arranges no steps: it needs children.`);
  for (const child of node.children) checkTree(child);
}

function describeOffer({ same, sameLayout, work }: AvailableBuffers): string {
  const place = same ? `in place with ${sameLayout ? 'equal' : 'different'} strides` : 'out of place';
  return work ? `${place} through work` : place;
}
