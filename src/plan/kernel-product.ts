/** A launch of a transform with the product of a convolution behind it: what it multiplies by, and the loops that this takes. */
import { type Convolution, kernelsOfEach, ownKernels } from '../problem/index.ts';
import type { KernelMemory } from './kernel-memory.ts';
import { packedStrides } from './launch/launches.ts';
import type { Dimension, LeafNode } from './tree/node.ts';

/** A launch that transforms → one that also multiplies by the kernel, and goes back. @param tensor of the signal. */
export function multiplied(
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
      // Left batches share a kernel, and so do coordinates and batches that have none of their own.
      strides: strides.map((stride, of) => {
        const shares = of === 0 || (of === coordinates && !own.coordinates) || (of === last && !own.batches);
        return shares ? 0 : stride;
      }),
      kernel: strides[last]!,
      ...{ entry, matrix, symmetric, conjugate, crossPower },
    },
  };
}

/** A launch whose loops over bins that uploads have left count along one digit each, so that each has a stride in natural order. */
function digitByDigit(leaf: LeafNode, { orders }: KernelMemory): LeafNode {
  const batch = leaf.batch.flatMap((dimension): readonly Dimension[] => {
    const { count, input } = dimension;
    const order = orders[input.dimension];
    const isWhole = order && input.stride === 1 && count === order.reduce((a, b) => a * b, 1);
    return isWhole ? digitsOf(dimension, order) : [dimension];
  });
  return { ...leaf, batch };
}

/** A loop as one for each digit, fastest first: the last upload left neighbours. */
function digitsOf({ input, output }: Dimension, order: readonly number[]): Dimension[] {
  let step = 1;
  return [...order].reverse().map((count) => {
    const own = { count, input: { ...input, stride: step }, output: { ...output, stride: step } };
    step *= count;
    return own;
  });
}
