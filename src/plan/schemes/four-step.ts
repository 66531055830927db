/**
 * The nodes of one axis: one upload, or the four-step algorithm in several (VkFFT guide 2.5.2).
 *
 * With N = n₁·n₂, input index i₁·n₂ + i₂ and output index k₁ + n₁·k₂: transforms of length n₁ over i₁ for every i₂,
 * twiddles e^{−2πi·i₂·k₁/N}, transforms of length n₂ over i₂ for every k₁. The reordering is the store of the last upload,
 * or of the first of two. A length that is still too long for one upload is split again.
 */
import {
  type CyclicConvolution,
  type Dimension,
  type DimensionStride,
  type LeafNode,
  leafNode,
  type PlanNode,
} from '../tree/node.ts';

/** An axis as one dimension of a tensor. */
export interface AxisPlace {
  /** Dimension of the tensor: one more than the axis of the problem. */
  readonly dimension: number;
  readonly length: number;
  /** Every other dimension of the tensor that has more than one element, fastest first. */
  readonly others: readonly Dimension[];
  readonly title: string;
  readonly tensor: readonly number[];
  /** Whether the first of two uploads reorders, so that the second may work in place. */
  readonly reorderFirst: boolean;
  /**
   * The order of the bins. `left`: the last reordering is left out, and bins stay where the uploads put them. `restored`: the transform starts from
   * that order, with its uploads in reverse and their twiddles on the way in.
   */
  readonly order: 'natural' | 'left' | 'restored';
}

/** An axis that is transformed as a cyclic convolution, in one launch. */
export function convolvedNode(
  { dimension, length, others, title, tensor }: AxisPlace,
  convolved: CyclicConvolution,
): LeafNode {
  const whole = { dimension, stride: 1 };
  const axis = { count: length, input: whole, output: whole };
  return { ...leafNode({ title, axisOf: dimension - 1, axis, batch: others, tensor }), convolved };
}

/** The nodes of an axis. @param factors lengths of the uploads: one that holds the whole axis, or several */
export function axisNode(place: AxisPlace, factors: readonly number[]): PlanNode {
  const { dimension, length, others, title, tensor } = place;
  if (factors.length === 1) {
    const whole = { dimension, stride: 1 };
    return leaf(place, title, { count: length, input: whole, output: whole }, others);
  }
  const name = (upload: number) => `${title}, upload ${upload + 1} of ${factors.length}`;
  const node = {
    scheme: 'four-step',
    title,
    axisOf: dimension - 1,
    parts: factors,
    ...(place.order === 'natural' ? {} : { left: 'complex' as const }),
    length: tensor,
    outputLength: tensor,
  } as const;
  if (place.reorderFirst && factors.length === 2) {
    return { ...node, children: reorderedFirst(place, factors as readonly [number, number], name) };
  }
  return { ...node, children: uploadsInOrder(place, factors, name) };
}

/** An axis with more points than the problem has. @param uploads its uploads; default: one launch */
export function longAxis(place: AxisPlace, length: number, uploads: readonly number[] = [length]): PlanNode {
  const tensor = place.tensor.map((count, of) => (of === place.dimension ? length : count));
  return axisNode({ ...place, length, tensor }, uploads);
}

/** The uploads in their order: each leaves its bins where it found its points; the last one reorders, unless the order is `left`. */
function uploadsInOrder(place: AxisPlace, factors: readonly number[], name: (upload: number) => string): LeafNode[] {
  const { dimension, length, others, order } = place;
  const mirrored = order === 'restored';
  const unordered = order !== 'natural';
  const at = (step: number): DimensionStride => ({ dimension, stride: step });
  const children: LeafNode[] = [];
  // Dimensions of bins that earlier uploads have produced, with their final places.
  const bins: Dimension[] = [];
  let rest = length;
  let produced = 1;
  factors.slice(0, -1).forEach((n, upload) => {
    const points = rest;
    rest /= n;
    const columns: Dimension = { count: rest, input: at(1), output: at(1) };
    const kept = bins.map((bin) => ({ ...bin, output: bin.input }));
    const axis = { count: n, input: at(rest), output: at(rest) };
    children.push({
      ...leaf(place, name(upload), axis, [columns, ...kept, ...others]),
      twiddle: { order: points, on: mirrored ? 'input' : 'output' },
      ...(unordered ? {} : { intermediate: { dimension, rows: factors[0]!, columns: length / factors[0]! } }),
    });
    bins.unshift({ count: n, input: at(rest), output: at(produced) });
    produced *= n;
  });
  const last = { count: rest, input: at(1), output: at(unordered ? 1 : produced) };
  const settled = unordered ? bins.map((bin) => ({ ...bin, output: bin.input })) : bins;
  children.push(leaf(place, name(factors.length - 1), last, [...settled, ...others]));
  return mirrored ? children.reverse() : children;
}

/**
 * The loops of two launches. The first one leaves element i₂ of bin k₁ at k₁ + n₁·i₂. The second then finds every
 * column where its bins belong, k₁ + n₁·k₂, and may work in place.
 */
export function reordering(dimension: number, [n1, n2]: readonly [number, number]) {
  const at = (step: number): DimensionStride => ({ dimension, stride: step });
  return {
    part: { count: n1, input: at(n2), output: at(1) },
    rows: { count: n2, input: at(1), output: at(n1) },
    rest: { count: n2, input: at(n1), output: at(n1) },
    bins: { count: n1, input: at(1), output: at(1) },
  } satisfies Record<string, Dimension>;
}

/** The loops of two launches that leave every element where they find it: bin k₁ + n₁·k₂ at k₁·n₂ + k₂. */
export function leaving(dimension: number, [n1, n2]: readonly [number, number]) {
  const at = (step: number) => ({ input: { dimension, stride: step }, output: { dimension, stride: step } });
  const [near, far] = [at(1), at(n2)];
  return {
    part: { count: n1, ...far },
    rows: { count: n2, ...near },
    rest: { count: n2, ...near },
    bins: { count: n1, ...far },
  } satisfies Record<string, Dimension>;
}

/** Two uploads, where the first one reorders: two buffers share the caches instead of three. */
function reorderedFirst(
  place: AxisPlace,
  factors: readonly [number, number],
  name: (upload: number) => string,
): LeafNode[] {
  const { dimension, length, others } = place;
  const { part, rows, rest, bins } = reordering(dimension, factors);
  return [
    { ...leaf(place, name(0), part, [rows, ...others]), twiddle: { order: length, on: 'output' } },
    leaf(place, name(1), rest, [bins, ...others]),
  ];
}

function leaf(place: AxisPlace, title: string, axis: Dimension, batch: readonly Dimension[]): LeafNode {
  return leafNode({ title, axisOf: place.dimension - 1, axis, batch, tensor: place.tensor });
}
