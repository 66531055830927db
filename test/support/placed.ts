/** Leaves whose buffers are known, of plain complex numbers and loops, for tests of what is decided of a launch. */
import type { Span } from '../../src/plan/group/tiling.ts';
import type { PlacedLeaf } from '../../src/plan/launch/placed.ts';
import { type LeafNode, leafNode } from '../../src/plan/tree/node.ts';

interface PlainLeaf extends Pick<PlacedLeaf, 'precision' | 'axis' | 'batch'> {
  readonly twiddle?: LeafNode['twiddle'];
}

/** One axis and its batch, each loop along a dimension of its own. */
export function placedLeaf({ precision, axis, batch, twiddle }: PlainLeaf): PlacedLeaf {
  const dimension = ({ count }: Span, dimension: number) => ({
    count,
    input: { dimension, stride: 1 },
    output: { dimension, stride: 1 },
  });
  const spans = [axis, ...batch];
  const tensor = spans.map(({ count }) => count);
  const [own, ...others] = spans.map(dimension);
  const node = leafNode({ title: 'test', axis: own!, batch: others, tensor });
  return {
    ...{ precision, axis, batch, more: [], coordinates: undefined, split: false, aliased: false, inverse: false },
    node: twiddle ? { ...node, twiddle } : node,
    tensor: {
      input: { lengths: tensor, strides: spans.map(({ input }) => input as number), offset: 0 },
      output: { lengths: tensor, strides: spans.map(({ output }) => output as number), offset: 0 },
    },
    format: { input: 'interleaved', output: 'interleaved' },
    storage: { input: precision, output: precision },
    scale: { input: 1, output: 1 },
    factors: { input: [], output: [] },
    callbacks: {},
    arrays: {},
    realsOnly: {},
  };
}
