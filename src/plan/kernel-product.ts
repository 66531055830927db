/** A launch of a transform with the product of a convolution behind it: the kernel that it multiplies by, and the loops over it. */
import { type Convolution, kernelsOfEach, ownKernels, packedStrides } from '../problem/index.ts';
import type { KernelMemory } from './kernel-memory.ts';
import type { Dimension, LeafNode } from './tree/node.ts';

/** A launch that transforms → a launch that also multiplies by the kernel and transforms back. @param tensor the signal's */
export function withKernelProduct(
  leaf: LeafNode,
  convolution: Convolution,
  memory: KernelMemory,
  tensor: readonly number[],
): LeafNode {
  const { matrix, symmetric, conjugate, crossPower } = convolution;
  const [kernels, own] = [kernelsOfEach(convolution), ownKernels(convolution)];
  const last = tensor.length - 1;
  const [coordinates, batches] = [last - 1, tensor[last]!];
  const rows = matrix > 1 ? leaf.batch.find(({ input }) => input.dimension === coordinates) : undefined;
  const each: Dimension = {
    count: kernels,
    input: { dimension: last, stride: 0 },
    output: { dimension: last, stride: batches },
  };
  const strides = packedStrides(memory.lengths);
  const entry = strides[coordinates]!;
  const digits = digitByDigit(leaf, memory);
  return {
    ...digits,
    batch: [...digits.batch.filter((dimension) => dimension !== rows), ...(kernels > 1 ? [each] : [])],
    ...(rows ? { coordinates: rows } : {}),
    product: {
      ...memory,
      // Left batches share a kernel, and so do coordinates and batches without kernels of their own.
      strides: strides.map((stride, of) => {
        const shares = of === 0 || (of === coordinates && !own.coordinates) || (of === last && !own.batches);
        return shares ? 0 : stride;
      }),
      kernel: strides[last]!,
      ...{ entry, matrix, symmetric, conjugate, crossPower },
    },
  };
}

/** The launch with one loop for each digit of bins that uploads have left, so that each loop has a stride in natural order. */
function digitByDigit(leaf: LeafNode, { orders }: KernelMemory): LeafNode {
  const batch = leaf.batch.flatMap((dimension): readonly Dimension[] => {
    const { count, input } = dimension;
    const order = orders[input.dimension];
    const isWhole = order && input.stride === 1 && count === order.reduce((a, b) => a * b, 1);
    return isWhole ? digitsOf(dimension, order) : [dimension];
  });
  return { ...leaf, batch };
}

/** One loop for each digit of a loop, fastest first: the last upload has left its bins side by side. */
function digitsOf({ input, output }: Dimension, order: readonly number[]): Dimension[] {
  let step = 1;
  return [...order].reverse().map((count) => {
    const own = { count, input: { ...input, stride: step }, output: { ...output, stride: step } };
    step *= count;
    return own;
  });
}
