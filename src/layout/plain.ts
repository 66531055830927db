/** Layouts that are memory with strides, or nothing but zeros: no normal form has to be found for them. */
import type { Layout, Memory } from './layout.ts';
import { joinedShape, joinNode, memoryNode, zerosNode } from './nodes.ts';

export function checkArgument(holds: boolean, message: () => string): void {
  if (!holds) throw new RangeError(message());
}

export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The length of a dimension, which has to be there. */
export function dimensionLength({ shape }: Layout, d: number, name: string): number {
  const length = shape[d];
  if (length === undefined || !Number.isInteger(d))
    throw new RangeError(`${name} of dimension ${d}, but the layout has dimensions 0 to ${shape.length - 1}`);
  return length;
}

/** Reals of an array. */
export function normalMemory(
  array: string,
  shape: readonly number[],
  strides: readonly number[],
  offset: number,
  negated?: true,
): Layout {
  let plain = true;
  for (let d = 0; d < shape.length; d++) {
    if (shape[d] === 0) return zerosNode(shape);
    if (shape[d] === 1 && strides[d] !== 0) plain = false;
  }
  const own = plain ? strides : strides.map((stride, d) => (shape[d] === 1 ? 0 : stride));
  return memoryNode(array, shape, own, offset, negated);
}

/**
 * Reals of an array: the element at a coordinate is real number offset + Σ stride · coordinate of it.
 * @param strides any integers, one for each dimension; 0 repeats an element, a negative one runs backwards
 */
export function memory(array: string, shape: readonly number[], strides: readonly number[], offset = 0): Layout {
  checkArgument(shape.every(isCount), () => `memory of shape [${shape}]: lengths are integers of 0 and more`);
  checkArgument(
    strides.length === shape.length && strides.every(Number.isSafeInteger),
    () => `memory of shape [${shape}] with strides [${strides}]: there is one integer for each dimension`,
  );
  checkArgument(Number.isSafeInteger(offset), () => `memory at offset ${offset}, which is no integer`);
  // Plus 0, because it is not to be −0.
  const own = strides.map((stride) => stride + 0);
  return normalMemory(array, shape.slice(), own, offset + 0);
}

/** Loads are 0, stores are nothing. */
export function zeros(shape: readonly number[]): Layout {
  checkArgument(shape.every(isCount), () => `zeros of shape [${shape}]: lengths are integers of 0 and more`);
  return zerosNode(shape.slice());
}

/** Two dimensions of memory as one, both of more than one element. */
export function joinedMemory(of: Memory, d: number): Layout {
  const [slow, fast] = [of.strides[d]!, of.strides[d + 1]!];
  if (slow !== fast * of.shape[d + 1]!) return joinNode(d, of);
  const strides = [...of.strides.slice(0, d), fast, ...of.strides.slice(d + 2)];
  return memoryNode(of.array, joinedShape(of.shape, d), strides, of.offset, of.negated);
}

/** Whether two layouts are memory of different arrays, or memory and zeros, of one shape: the parts of numbers, most often. */
export function isPair(one: Layout, other: Layout): boolean {
  if (one.kind !== 'memory' || one.shape.join() !== other.shape.join()) return false;
  return other.kind === 'zeros' || (other.kind === 'memory' && other.array !== one.array);
}

/** Memory or zeros with a new dimension of one element. */
export function alongNew(of: Layout, at: number): Layout {
  const shape = [...of.shape.slice(0, at), 1, ...of.shape.slice(at)];
  if (of.kind !== 'memory') return zerosNode(shape);
  return memoryNode(of.array, shape, [...of.strides.slice(0, at), 0, ...of.strides.slice(at)], of.offset, of.negated);
}

/** Whether every element is a number in memory as it is there: none is zero, has the other sign or comes from a function. */
export function allInMemory(of: Layout): boolean {
  switch (of.kind) {
    case 'memory':
      return of.negated === undefined;
    case 'affine':
    case 'join':
    case 'gather':
      return allInMemory(of.of);
    case 'concat':
      return of.parts.every(allInMemory);
    default:
      return false;
  }
}

/** Whether a layout is plain memory: an offset and strides. */
export function isMemory(of: Layout): boolean {
  return of.kind === 'memory';
}

/** Whether a layout is memory, the parts of numbers in memory, or memory in tiles. */
export function isPlainLayout(of: Layout): boolean {
  if (of.kind === 'concat') return of.parts.every(({ kind }) => kind === 'memory' || kind === 'zeros');
  return of.kind === 'memory' || (of.kind === 'join' && isPlainLayout(of.of));
}

/** See `strideOf`, of a plain layout. */
export function plainStride(of: Layout, d: number): number | undefined {
  if (of.kind === 'memory') return of.strides[d]!;
  // The dimension of tiles goes on in steps of its own from tile to tile.
  if (of.kind === 'join') return d === of.dimension ? undefined : plainStride(of.of, d < of.dimension ? d : d + 1);
  if (of.kind !== 'concat' || of.dimension === d) return undefined;
  const strides = of.parts.flatMap((part) => (part.kind === 'memory' ? [part.strides[d]!] : []));
  return strides.every((stride) => stride === strides[0]) ? strides[0] : undefined;
}
