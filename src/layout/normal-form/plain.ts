/** Layouts that are strided memory or all zeros. They are made without the rules of the normal form. */
import type { Layout, Memory } from '../layout.ts';
import { joinedShape, joinNode, memoryNode, zerosNode } from './nodes.ts';

export function checkArgument(holds: boolean, message: () => string): void {
  if (!holds) throw new RangeError(message());
}

export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The length of a dimension. @throws RangeError if the layout has no such dimension */
export function dimensionLength({ shape }: Layout, d: number, name: string): number {
  const length = shape[d];
  if (length === undefined || !Number.isInteger(d))
    throw new RangeError(`${name} of dimension ${d}, but the layout has dimensions 0 to ${shape.length - 1}`);
  return length;
}

/** Reals of an array in normal form: strides of dimensions with one element are 0, and memory without elements is zeros. */
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
  const normal = plain ? strides : strides.map((stride, d) => (shape[d] === 1 ? 0 : stride));
  return memoryNode(array, shape, normal, offset, negated);
}

/**
 * Reals of an array: the element at a coordinate is real number offset + Σ stride · coordinate of the array.
 * @param strides any integers, one for each dimension; 0 repeats an element, a negative stride runs backwards
 */
export function memory(array: string, shape: readonly number[], strides: readonly number[], offset = 0): Layout {
  if (!Number.isSafeInteger(offset)) throw new RangeError(`memory at offset ${offset}, which is no integer`);
  if (strides.length !== shape.length)
    throw new RangeError(`memory of shape [${shape}] with strides [${strides}]: ${ONE_EACH}`);
  const own: number[] = [];
  for (let d = 0; d < shape.length; d++) {
    const [count, stride] = [shape[d]!, strides[d]!];
    if (!isCount(count)) throw new RangeError(`memory of shape [${shape}]: lengths are integers of 0 and more`);
    if (!Number.isSafeInteger(stride))
      throw new RangeError(`memory of shape [${shape}] with strides [${strides}]: ${ONE_EACH}`);
    // Plus 0, because neither strides nor the offset are to be −0.
    own.push(count === 1 ? 0 : stride + 0);
  }
  return shape.includes(0) ? zerosNode(shape.slice()) : memoryNode(array, shape.slice(), own, offset + 0, undefined);
}

const ONE_EACH = 'there is one integer for each dimension';

/** All zeros: loads give 0 and stores write nothing. */
export function zeros(shape: readonly number[]): Layout {
  checkArgument(shape.every(isCount), () => `zeros of shape [${shape}]: lengths are integers of 0 and more`);
  return zerosNode(shape.slice());
}

/** Joins dimensions `d` and `d` + 1 of memory. Both have more than one element. */
export function joinedMemory(of: Memory, d: number): Layout {
  const [slow, fast] = [of.strides[d]!, of.strides[d + 1]!];
  if (slow !== fast * of.shape[d + 1]!) return joinNode(d, of);
  const strides = [...of.strides.slice(0, d), fast, ...of.strides.slice(d + 2)];
  return memoryNode(of.array, joinedShape(of.shape, d), strides, of.offset, of.negated);
}

/**
 * Whether two layouts of equal shape are memory of different arrays, or memory and zeros: most often the planes of the real and the
 * imaginary parts.
 */
export function arePlanes(re: Layout, im: Layout): boolean {
  if (re.kind !== 'memory' || re.shape.join() !== im.shape.join()) return false;
  return im.kind === 'zeros' || (im.kind === 'memory' && im.array !== re.array);
}

/** Memory or zeros with a new dimension of length 1 before dimension `at`. */
export function alongNew(of: Layout, at: number): Layout {
  const shape = [...of.shape.slice(0, at), 1, ...of.shape.slice(at)];
  if (of.kind !== 'memory') return zerosNode(shape);
  return memoryNode(of.array, shape, [...of.strides.slice(0, at), 0, ...of.strides.slice(at)], of.offset, of.negated);
}

/** Whether every element is an unchanged number in memory: none is a zero, is negated or is computed by a function. */
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

/** Whether a layout is strided memory, planes of strided memory or zeros, or a join (memory in tiles) of such layouts. */
export function isPlainLayout(of: Layout): boolean {
  if (of.kind === 'concat') return of.parts.every(({ kind }) => kind === 'memory' || kind === 'zeros');
  return of.kind === 'memory' || (of.kind === 'join' && isPlainLayout(of.of));
}

/** `strideOf` for a plain layout. */
export function plainStride(of: Layout, d: number): number | undefined {
  if (of.kind === 'memory') return of.strides[d]!;
  // A joined dimension has one stride inside a tile and another one from tile to tile.
  if (of.kind === 'join') return d === of.dimension ? undefined : plainStride(of.of, d < of.dimension ? d : d + 1);
  if (of.kind !== 'concat' || of.dimension === d) return undefined;
  const strides = of.parts.flatMap((part) => (part.kind === 'memory' ? [part.strides[d]!] : []));
  return strides.every((stride) => stride === strides[0]) ? strides[0] : undefined;
}
