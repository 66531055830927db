/**
 * rocFFT's decision function: may this leaf read here and write there?
 *
 * The seven observations, as they read for complex-to-complex leaves:
 * - the last leaf writes the user's output (2, 4, 5), and nothing else is decided for it;
 * - a user buffer holds its own array type, a temp buffer either (7);
 * - the input is written only where that is allowed, or where it is the output anyway;
 * - with a `work` buffer the input is only read and the output only written by the last leaf (VkFFT); so is an output of
 *   which a part is to stay as it is;
 * - what is written has to fit, which temp buffers always see to (7);
 * - a leaf may write the memory it reads only if every element goes back to the address it came from: a transposing
 *   leaf never, any other where both sides are laid out alike (7);
 * - a leaf that leaves lines where they are works in the memory that they are in.
 *
 * What a leaf reads is no decision: the user's input, or what the leaf before has written (3, 4, 5).
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
} from './offer.ts';

/** The decision function for one offer, with its answers cached over leaves of one shape and over all passes. */
export interface Validity {
  /** True where `leaf` may read `from` and write `to`; `isLast` marks the last leaf of the tree. */
  validOutput(leaf: LeafNode, from: TypedBuffer, to: TypedBuffer, isLast: boolean): boolean;
  /** Questions answered from the cache and worked out, so far. */
  readonly hits: number;
  readonly misses: number;
}

/** All that the rules look at in a leaf. Leaves that agree in it share their answers. */
interface LeafShape {
  readonly id: number;
  /** Nothing that was fused into it forbids that it writes the memory that it reads, where both sides are laid out alike. */
  readonly inPlace: boolean;
  readonly elements: number;
  readonly tensor: readonly number[];
  readonly writesReals: boolean;
  readonly stays: boolean;
}

export function createValidity(offer: AvailableBuffers): Validity {
  const shapes = new Map<string, LeafShape>();
  const shapeOfLeaf = new Map<LeafNode, LeafShape>();
  const answers = new Map<number, boolean>();
  let hits = 0;

  const shapeOf = (leaf: LeafNode): LeafShape => {
    let shape = shapeOfLeaf.get(leaf);
    if (shape) return shape;
    const inPlace = mayWrite(leaf, { oneMemory: true, alike: true });
    const elements = leaf.outputLength.reduce((a, b) => a * b, 1);
    const stays = leaf.stays === true;
    const writesReals = leaf.real !== undefined && leaf.real.side !== 'input' && !stays;
    const facts = { inPlace, elements, tensor: leaf.outputLength, writesReals, stays };
    const key = `${inPlace} ${leaf.outputLength} ${writesReals} ${stays}`;
    shape = shapes.get(key) ?? { id: shapes.size, ...facts };
    shapes.set(key, shape);
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
      const answer = decide(shape, from, to, isLast, offer);
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
  offer: AvailableBuffers,
): boolean {
  if (isLast && to.buffer !== 'output') return false;
  if ((to.type === 'real') !== shape.writesReals) return false;
  if (!isLast && !takesIntermediates(to, offer)) return false;
  if (to.buffer !== 'temp' && to.buffer !== 'temp2') {
    const user = offer[to.buffer];
    if (!user || user.type !== to.type || user.elements < shape.elements) return false;
    if (user.shape?.some((count, d) => count < shape.tensor[d]!)) return false;
  }
  const oneMemory = memoryOf(from.buffer, offer) === memoryOf(to.buffer, offer);
  if (shape.stays && !sameAddresses(from, to, offer)) return false;
  return !oneMemory || (shape.inPlace && (sameAddresses(from, to, offer) || sameRows(from, to, offer)));
}

/** True where a result that is not the last may lie in this buffer. */
function takesIntermediates({ buffer }: TypedBuffer, offer: AvailableBuffers): boolean {
  if (isTemp({ buffer })) return true;
  if (offer.work) return buffer === 'work';
  // In place, input and output are one memory.
  if (offer.output.spared && memoryOf(buffer, offer) === 'output') return false;
  return buffer === 'output' || (buffer === 'input' && (offer.input.writable || offer.same));
}
