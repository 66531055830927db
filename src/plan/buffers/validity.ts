/**
 * rocFFT's decision function: may this leaf read one operand and write another?
 *
 * Its rules are the seven observations for complex-to-complex leaves:
 * - The last leaf writes the user's output (2, 4, 5).
 * - A user's buffer holds its own array type only, a temp buffer any (7).
 * - The input is written only if that is allowed, or if it is the output anyway.
 * - With a `work` buffer, the input is only read, and only the last leaf writes the output (VkFFT). The same holds for an output some of
 *   whose elements keep their values.
 * - A buffer must be large enough for what is written; temp buffers always are (7).
 * - A leaf may write the memory it reads only if every element goes back to its address: never if the leaf transposes, otherwise if both
 *   sides have the same layout (7).
 * - A leaf that transforms some lines in place works in the memory where the lines are.
 *
 * The operand that a leaf reads is no choice: the user's input, or the output of the leaf before (3, 4, 5).
 */
import type { LeafNode } from '../tree/node.ts';
import { mayWrite } from '../tree/shims.ts';
import {
  type ArrayType,
  type AvailableBuffers,
  bufferNames,
  isTemp,
  memoryOf,
  sameAddresses,
  sameRows,
  type TypedBuffer,
} from './available-buffers.ts';

/** The decision function for one set of buffers. Answers are cached over leaves of equal shape and over all rounds of the search. */
export interface Validity {
  /** Whether `leaf` may read `from` and write `to`; `isLast` marks the last leaf of the tree. */
  validOutput(leaf: LeafNode, from: TypedBuffer, to: TypedBuffer, isLast: boolean): boolean;
  /** The number of answers from the cache, and of those that were computed. */
  readonly hits: number;
  readonly misses: number;
}

/** The properties of a leaf that the rules depend on. Leaves with equal properties share answers. */
interface LeafShape {
  readonly id: number;
  /** No fusion in the leaf forbids writing the memory that it reads, provided that both sides have the same layout. */
  readonly inPlace: boolean;
  readonly elements: number;
  readonly tensor: readonly number[];
  readonly writesReals: boolean;
  readonly stays: boolean;
}

export function createValidity(available: AvailableBuffers): Validity {
  const shapes: LeafShape[] = [];
  const shapeOfLeaf = new Map<LeafNode, LeafShape>();
  const answers = new Map<number, boolean>();
  let hits = 0;

  const shapeOf = (leaf: LeafNode): LeafShape => {
    let shape = shapeOfLeaf.get(leaf);
    if (shape) return shape;
    const inPlace = mayWrite(leaf, { oneMemory: true, alike: true });
    const { stays } = leaf;
    const writesReals = leaf.bands !== undefined || (leaf.real !== undefined && leaf.real.side !== 'input' && !stays);
    const tensor = leaf.outputLength;
    shape = shapes.find(
      (other) =>
        other.inPlace === inPlace &&
        other.writesReals === writesReals &&
        other.stays === stays &&
        areEqual(other.tensor, tensor),
    );
    if (!shape) {
      const elements = tensor.reduce((a, b) => a * b, 1);
      shape = { id: shapes.length, inPlace, elements, tensor, writesReals, stays };
      shapes.push(shape);
    }
    shapeOfLeaf.set(leaf, shape);
    return shape;
  };

  return {
    validOutput(leaf, from, to, isLast) {
      const shape = shapeOf(leaf);
      const key = ((shape.id * 2 + Number(isLast)) * TYPED_BUFFERS + indexOf(from)) * TYPED_BUFFERS + indexOf(to);
      const known = answers.get(key);
      if (known !== undefined) {
        hits++;
        return known;
      }
      const answer = decide(shape, from, to, isLast, available);
      answers.set(key, answer);
      return answer;
    },
    get hits() {
      return hits;
    },
    get misses() {
      return answers.size;
    },
  };
}

function areEqual(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((count, d) => count === b[d]));
}

const TYPES: readonly ArrayType[] = ['interleaved', 'planar', 'real'];
const TYPED_BUFFERS = TYPES.length * bufferNames.length;

function indexOf({ buffer, type }: TypedBuffer): number {
  return TYPES.length * bufferNames.indexOf(buffer) + TYPES.indexOf(type);
}

function decide(
  shape: LeafShape,
  from: TypedBuffer,
  to: TypedBuffer,
  isLast: boolean,
  available: AvailableBuffers,
): boolean {
  if (isLast && to.buffer !== 'output') return false;
  if ((to.type === 'real') !== shape.writesReals) return false;
  if (!isLast && !takesIntermediates(to, available)) return false;
  if (to.buffer !== 'temp' && to.buffer !== 'temp2') {
    const user = available[to.buffer];
    if (!user || user.type !== to.type || user.elements < shape.elements) return false;
    if (user.shape?.some((count, d) => count < shape.tensor[d]!)) return false;
  }
  const oneMemory = memoryOf(from.buffer, available) === memoryOf(to.buffer, available);
  if (shape.stays && !sameAddresses(from, to, available)) return false;
  return !oneMemory || (shape.inPlace && (sameAddresses(from, to, available) || sameRows(from, to, available)));
}

/** Whether an intermediate result may be in this buffer. */
function takesIntermediates({ buffer }: TypedBuffer, available: AvailableBuffers): boolean {
  if (isTemp({ buffer })) return true;
  if (available.work) return buffer === 'work';
  // In place, input and output are one memory.
  if (available.output.spared && memoryOf(buffer, available) === 'output') return false;
  return buffer === 'output' || (buffer === 'input' && (available.input.writable || available.same));
}
