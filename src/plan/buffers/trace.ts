/**
 * A trace of tries, stored as a tree (rocFFT, "A structure storing a try"). Each branch is one choice for the next leaf, so a path from the
 * root to a trace without branches is an assignment or a dead end.
 */
import type { LeafNode } from '../tree/node.ts';
import {
  type AvailableBuffers,
  type BufferName,
  bufferNames,
  isTemp,
  memoryOf,
  type TypedBuffer,
} from './available-buffers.ts';

export interface PlacementTrace extends Criteria {
  /** The leaf that was placed; undefined at the root, which stands for the user's input. */
  readonly leaf: LeafNode | undefined;
  readonly input: TypedBuffer;
  readonly output: TypedBuffer;
  readonly branches: PlacementTrace[];
  readonly parent: PlacementTrace | undefined;
  /** The set of memories used so far, as one bit for each name in `bufferNames`. */
  readonly used: number;
}

export function rootTrace(available: AvailableBuffers): PlacementTrace {
  const output: TypedBuffer = { buffer: 'input', type: available.input.type };
  const used = bitOf(memoryOf('input', available));
  const counts: Criteria = { bufferCount: 1, padded: 0, inPlace: 0, typeChanges: 0 };
  return { leaf: undefined, input: output, output, branches: [], parent: undefined, used, ...counts };
}

/** Adds a branch: `leaf` reads the output of `parent` and writes `output`. */
export function branchTo(
  parent: PlacementTrace,
  leaf: LeafNode,
  output: TypedBuffer,
  available: AvailableBuffers,
): PlacementTrace {
  const input = parent.output;
  const memory = memoryOf(output.buffer, available);
  const trace: PlacementTrace = {
    leaf,
    input,
    output,
    branches: [],
    parent,
    used: parent.used | bitOf(memory),
    bufferCount: parent.bufferCount + Number(!uses(parent, memory)),
    padded: parent.padded + (available.padded ? Number(isTemp(input)) + Number(isTemp(output)) : 0),
    inPlace: parent.inPlace + Number(memoryOf(input.buffer, available) === memory),
    typeChanges: parent.typeChanges + Number(input.type !== output.type),
  };
  parent.branches.push(trace);
  return trace;
}

/** Whether the try has used a memory so far. */
export function uses(trace: PlacementTrace, memory: BufferName): boolean {
  return (trace.used & bitOf(memory)) !== 0;
}

/** The traces from the root to this one, without the root. */
export function pathTo(trace: PlacementTrace): PlacementTrace[] {
  const path: PlacementTrace[] = [];
  for (let at: PlacementTrace | undefined = trace; at?.parent; at = at.parent) path.unshift(at);
  return path;
}

function bitOf(memory: BufferName): number {
  return 1 << bufferNames.indexOf(memory);
}

/**
 * The criteria by which assignments of one tree are ranked: rocFFT's criteria ("Choosing a winner") from the second on, in their order. The
 * first criterion, the number of fused kernels, is decided by price before a tree is made, so all assignments of a tree are equal in it.
 */
export interface Criteria {
  /** The number of distinct memories used, the user's included: fewer is better. */
  readonly bufferCount: number;
  /** The number of reads and writes with padded strides: more is better once the memory is allocated. */
  readonly padded: number;
  /** The number of leaves that write the memory they read: more is better. */
  readonly inPlace: number;
  /** The number of leaves whose input and output have different array types: fewer is better. */
  readonly typeChanges: number;
}

/** The first criterion in which two assignments differ; undefined if they are equal in all. */
export function decidingCriterion(a: Criteria, b: Criteria): keyof Criteria | undefined {
  const order = ['bufferCount', 'padded', 'inPlace', 'typeChanges'] as const;
  return order.find((criterion) => a[criterion] !== b[criterion]);
}

/** Negative if `a` is better than `b`, zero if they are equal in all criteria. */
export function compareCriteria(a: Criteria, b: Criteria): number {
  return a.bufferCount - b.bufferCount || b.padded - a.padded || b.inPlace - a.inPlace || a.typeChanges - b.typeChanges;
}
