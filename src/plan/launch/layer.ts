/**
 * Makes the leaf of a spectral layer, along its last axis, in one launch. A group takes the lines of all channels of one batch, at one bin of the
 * other axes. Shared memory holds the bins of the signal and, beside them, the bins of the result.
 */
import type { Side, Sides } from '../../problem/index.ts';
import { besideBytes, type Target } from '../device/target.ts';
import type { Span } from '../group/tiling.ts';
import type { Leaf, Operand } from '../tree/leaf.ts';
import type { Dimension, LayerParts, LeafNode } from '../tree/node.ts';
import { oneAxis } from './configure.ts';
import { mixLeaf } from './mix.ts';
import { isInverse, launchScale, type PlacedLeaf, type TensorMemory } from './placed.ts';

export function layerLeaf(
  placed: PlacedLeaf,
  { forward: first, mix: middle, inverse: last }: LayerParts,
  target: Target,
): Leaf {
  const { format, storage, tensor } = placed;
  const outside = (side: Side): Memory => ({ tensor: tensor[side], format: format[side], storage: storage[side] });
  const dimensions = dimensionsOf(middle);
  const inside = (lengths: readonly number[]): Memory => ({
    tensor: { lengths, strides: planeStrides(lengths, dimensions), offset: 0 },
    ...{ format: 'planar', storage: placed.precision },
  });
  const [bins, mixed] = [inside(middle.length), inside(middle.outputLength)];
  const beside = besideBytes(planeBytes(middle, target), target);
  const there = oneAxis(layerPart(placed, first, { input: outside('input'), output: bins }, 'input'), beside);
  const mix = mixLeaf(layerPart(placed, middle, { input: bins, output: mixed }), middle.mix!, beside);
  const back = oneAxis(layerPart(placed, last, { input: mixed, output: outside('output') }, 'output'), beside);
  const operands = new Map(
    [there, mix, back].flatMap((leaf) => leaf.operands ?? []).map((one): [string, Operand] => [one.name, one]),
  );
  const { residentGroups: _, ...leaf } = there;
  return {
    ...leaf,
    ...{
      output: back.output,
      steps: [{ do: 'layer', forward: there, mix, inverse: back }],
      operands: [...operands.values()],
    },
    ...{ threads: Math.max(there.threads, back.threads), scale: placed.scale, aliased: placed.aliased },
  };
}

/** Whether a group has room for the bins of all channels, and for a tile of their lines: for all of them, where threads share it. */
export function holdsLayer({ forward, mix, inverse }: LayerParts, target: Target): boolean {
  const bytes = planeBytes(mix, target);
  if (bytes >= target.sharedBytes) return false;
  const { capacity, lockstep } = besideBytes(bytes, target);
  return [forward, inverse].every(({ axis, batch, convolved }) => {
    const length = convolved?.length ?? axis.count;
    return length * (lockstep === 'threads' ? batch[0]!.count : 1) <= capacity.room;
  });
}

/** The shared memory that the bins of a group take. */
function planeBytes(mix: LeafNode, { capacity }: Target): number {
  const { axis, channel } = dimensionsOf(mix);
  const [from, to] = [mix.length[channel]!, mix.outputLength[channel]!];
  // Sums over channels may be computed in pieces, which are kept meanwhile.
  return mix.length[axis]! * (from + to + to + 1) * capacity.complexBytes;
}

/** The dimensions of the tensor that a group takes. */
interface GroupDimensions {
  readonly axis: number;
  readonly channel: number;
}

function dimensionsOf({ axis, batch }: LeafNode): GroupDimensions {
  return { axis: batch[0]!.input.dimension, channel: axis.input.dimension };
}

/** The strides of bins in shared memory: groups use the same planes one after another, so all other steps are none there. */
function planeStrides(lengths: readonly number[], { axis, channel }: GroupDimensions): number[] {
  return lengths.map((_, d) => (d === axis ? 1 : d === channel ? lengths[axis]! : 0));
}

/** A side of a leaf in memory. */
interface Memory {
  readonly tensor: TensorMemory;
  readonly format: PlacedLeaf['format']['input'];
  readonly storage: PlacedLeaf['storage']['input'];
}

/** One of the leaves of a launch. @param end the side in the user's memory, which the scale and the callbacks of the launch belong to */
function layerPart(placed: PlacedLeaf, node: LeafNode, { input, output }: Sides<Memory>, end?: Side): PlacedLeaf {
  const span = ({ count, input: from, output: to }: Dimension): Span => ({
    count,
    input: input.tensor.strides[from.dimension]! * from.stride,
    output: output.tensor.strides[to.dimension]! * to.stride,
    places: { input: from, output: to },
  });
  const only = <T>(both: Partial<Sides<T>>): Partial<Sides<T>> =>
    end && both[end] !== undefined ? { [end]: both[end] } : {};
  return {
    ...placed,
    ...{ node, axis: span(node.axis), batch: node.batch.map(span), factors: node.factors },
    tensor: { input: input.tensor, output: output.tensor },
    format: { input: input.format, output: output.format },
    storage: { input: input.storage, output: output.storage },
    inverse: isInverse(node, 'forward'),
    scale: launchScale(node, { input: 1, output: 1, ...only(placed.scale) }),
    callbacks: only(placed.callbacks),
    realsOnly: only(placed.realsOnly),
    ...{ aliased: false, split: false, together: true },
  };
}
