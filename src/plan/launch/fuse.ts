/** Fused leaves: an axis that a cluster of blocks takes in two digits, and several axes in one launch. */
import { divisors } from '../../numeric/primes.ts';
import type { Sides } from '../../problem/index.ts';
import { type Arithmetic, wordsPerReal } from '../device/capacity.ts';
import { coordinatesTarget, type Target, withoutClusters } from '../device/target.ts';
import { type Cut, clusterFor, cutAxes, cutColumns, radixChoices, splitBefore, type Tiled } from '../group/cuts.ts';
import { threadOrder } from '../group/thread-tiling.ts';
import { hasUnitStep, type Span, type Stride, walksAlong } from '../group/tiling.ts';
import type { ConvolveSteps } from '../schemes/convolve-steps.ts';
import type { HermitianSplit, LanesAlong, Leaf, LeafStep, MultiplyStep, PassesStep } from '../tree/leaf.ts';
import type { DimensionStride, LeafNode } from '../tree/node.ts';
import { assembled, elementCounts, productStep, radicesAndPrimes, type TileBins, twiddlesOf } from './configure.ts';
import { mergedBatch, type PlacedLeaf, packedAxis, tensorPlaces } from './placed.ts';

/** A leaf of one axis as two digits; undefined if a cluster does not take it. */
export function fuseAxis(placed: PlacedLeaf, target: Target): Leaf | undefined {
  if (placed.more.length > 0) return undefined;
  const { axis } = placed;
  const merged = mergedBatch(placed);
  const order = threadOrder(axis, merged);
  const strided = [axis.input, axis.output].filter((stride) => !hasUnitStep(stride)).length;
  const cut = clusterFor(axis.count, merged[order[0]!]!.count, strided, target);
  if (!cut) return undefined;
  const columns = (side: 'input' | 'output', d: number) =>
    cut.tile === 1 ? [d] : hasUnitStep(axis[side]) ? [d, -1] : [-1, d];
  const forwardStages: StageShape[] = [
    { dimension: 0, split: 1, columns: columns('input', 1), along: 'batch' },
    { dimension: 1, split: 0, columns: columns('output', 0), along: 'batch', after: 0 },
  ];
  const tile = {
    ...cut,
    coupled: true,
    slowest: axis,
    faster: [],
    forwardStages,
    backwardStages: forwardStages.toReversed(),
  };
  return fusedLeaf(placed, order, tile, target);
}

/** The stride of several steps. @throws RangeError for memory in tiles, which only vectors use */
function multipleStride(stride: Stride, count: number): Stride {
  if (typeof stride !== 'number') throw new RangeError('an axis in tiles cannot be cut into digits');
  return stride * count;
}

/** A leaf of several axes. @throws RangeError if they do not fit together; a tree fuses only axes that do */
export function fuseAxes(placed: PlacedLeaf, target: Target): Leaf {
  const { precision, more, coordinates } = placed;
  const { product, real } = placed.node;
  const spans = [...more].reverse().concat(placed.axis);
  const merged = mergedBatch(placed);
  const axis = packedAxis(placed);
  const order = threadOrder(axis, merged);
  const neighbours = merged[order[0]!]!;
  const walks = { input: walksAlong(axis, neighbours, 'input'), output: walksAlong(axis, neighbours, 'output') };
  const pair = hermitianSplitOfTile(placed);
  const counts = spans.map(({ count }) => count);
  const byColumns = walks.input === 'batch' || walks.output === 'batch';
  // Bins that mirror each other have to be in one block.
  const own = coordinatesTarget(coordinates?.count ?? 1, real ? withoutClusters(target) : target);
  const cut = (byColumns ? tileOfColumns : tileOfWholes)(counts, neighbours.count, own);
  const { lengths, blocks } = cut;
  const coupled = lengths.length > spans.length;
  const last = lengths.length - 1;
  const columns = (of: number, along: LanesAlong) => {
    const inner = lengths.map((_, d) => last - d).filter((d) => d !== of);
    return [...(along === 'batch' ? [-1, ...inner] : [...inner, -1]), ...(coordinates ? [last + 1] : [])];
  };
  const stage = (dimension: number, along: LanesAlong): StageShape => ({
    ...{ dimension, split: dimension === 0 ? splitBefore(lengths, blocks) : 0, columns: columns(dimension, along) },
    along: dimension === last ? along : 'batch',
    ...(coupled && dimension === 1 ? { after: 0 } : {}),
  });
  const [slowest, ...faster] = spans as [Span, ...Span[]];
  const dimensions = passOrder(cut, coupled, precision, pair);
  const forwardStages = dimensions.map((dimension, n) =>
    stage(dimension, n === last && !product ? walks.output : walks.input),
  );
  const backwardStages = dimensions.toReversed().map((dimension) => stage(dimension, walks.output));
  return fusedLeaf(
    placed,
    order,
    { ...cut, coupled, slowest, faster, forwardStages, backwardStages, ...(pair ? { pair } : {}) },
    own,
  );
}

/** The Hermitian split of a tile whose fastest axis is real on one side. */
function hermitianSplitOfTile({ axis, node: { real } }: PlacedLeaf): HermitianSplit | undefined {
  if (real?.by !== 'halves' || real.side === 'both') return undefined;
  const toReals = real.side === 'output' ? { toReals: true as const } : {};
  return { do: 'hermitian-split', length: axis.count, by: 'halves', everyAxis: true, ...toReals };
}

/** The strides of some dimensions of a tile, and their directions in the tensor. */
interface Digits extends Sides<readonly Stride[]> {
  readonly places: Sides<readonly DimensionStride[]>;
}

function wholeAxis(span: Span): Digits {
  return { input: [span.input], output: [span.output], places: tensorPlaces([span]) };
}

/** The two digits of an axis: input element n₀·B + n₁, output element k₀ + A·k₁. */
function axisDigits(span: Span, [a, b]: readonly number[]): Digits {
  const { input, output } = tensorPlaces([span]);
  const far = ([place]: readonly DimensionStride[], by: number): DimensionStride => ({
    ...place!,
    stride: place!.stride * by,
  });
  return {
    input: [multipleStride(span.input, b!), span.input],
    output: [span.output, multipleStride(span.output, a!)],
    places: { input: [far(input, b!), input[0]!], output: [output[0]!, far(output, a!)] },
  };
}

/** The digits of an axis that is transformed forward and back: points are written in the order in which they were read. */
function digitsInInputOrder(span: Span, lengths: readonly number[]): Digits {
  const { input, places } = axisDigits({ ...span, input: span.output, ...outputPlaces(span) }, lengths);
  return { input, output: input, places: { input: places.input, output: places.input } };
}

function outputPlaces({ places }: Span): Pick<Span, 'places'> {
  return places ? { places: { input: places.output, output: places.output } } : {};
}

/**
 * The order in which the dimensions of a tile are transformed: the slowest first, so that whole rows are written at the end. Clusters are
 * faster in the reverse order, except for cubes, and for images of single precision whose rows are at least as long as columns. A Hermitian
 * split takes place on the side where memory has bins, before or after the passes along the fastest dimension.
 * @param coupled the slowest axis is in two digits: blocks exchange their shares after the first one
 */
function passOrder(
  { lengths, blocks }: Cut,
  coupled: boolean,
  precision: Arithmetic,
  pair: HermitianSplit | undefined,
): readonly number[] {
  if (pair?.toReals) return lengths.map((_, d) => lengths.length - 1 - d);
  const [slow, fast, ...more] = lengths as [number, number, ...number[]];
  const reversed = blocks > 1 && !coupled && more.length === 0 && (wordsPerReal(precision) > 1 || fast < slow);
  return reversed ? [1, 0] : lengths.map((_, d) => d);
}

/** A tile of as many whole transforms as a block can use; one if a cluster holds it. */
function tileOfWholes(lengths: readonly number[], count: number, target: Target): Tiled {
  const cut = cutAxes(lengths, target);
  if (!cut) throw new RangeError('these axes do not fit together');
  const points = lengths.reduce((a, b) => a * b, 1);
  const { room } = target.capacity;
  const most = Math.min(target.groupPoints, (room * 16) / 17);
  const plenty = cut.blocks > 1 ? 1 : Math.max(1, Math.floor(most / points));
  return { ...cut, tile: Math.max(...divisors(count).filter((n) => n <= plenty)) };
}

/** A tile of a run of neighbouring columns or a part of a run. */
function tileOfColumns(lengths: readonly number[], count: number, target: Target): Tiled {
  const cut = cutColumns(lengths, count, target) ?? cutColumns(lengths, count, target, Number.POSITIVE_INFINITY);
  if (!cut) throw new RangeError('these axes do not fit together');
  return cut;
}

/** The passes along one of several dimensions, and the direction in which neighbouring threads walk. */
interface StageShape extends Pick<PassesStep, 'dimension' | 'columns' | 'after' | 'inverse' | 'write'> {
  readonly split: number;
  readonly along: LanesAlong;
}

/** A tile with its dimensions and the passes along them. */
interface TileShape extends Tiled {
  /** The slowest axis is in two digits. */
  readonly coupled: boolean;
  readonly slowest: Span;
  readonly faster: readonly Span[];
  readonly forwardStages: readonly StageShape[];
  /** The passes of the transform back, if there is a product in between. */
  readonly backwardStages: readonly StageShape[];
  readonly pair?: HermitianSplit;
}

/** @param order of the batch dimensions */
function fusedLeaf(placed: PlacedLeaf, order: readonly number[], shape: TileShape, target: Target): Leaf {
  const { coupled, slowest, faster } = shape;
  const { coordinates } = placed;
  const { product } = placed.node;
  const merged = mergedBatch(placed);
  const batch = order.map((d) => merged[d]!);
  const others = [...faster, ...(coordinates ? [coordinates] : [])];
  const lengths = [...shape.lengths, ...(coordinates ? [coordinates.count] : [])];
  const digits = coupled ? axisDigits(slowest, lengths) : wholeAxis(slowest);
  const returned = product && coupled ? digitsInInputOrder(slowest, lengths) : digits;
  const { input, output } = tensorPlaces(others);
  const bins = [...digits.places.output, ...output].map((place, d): TileBins => ({ ...place, count: lengths[d]! }));
  const steps = tileSteps(product, shape, (own) => productStep(placed, own, bins, batch));
  const choices = radixChoices(lengths, target);
  return assembled(
    placed,
    {
      ...{ batch, lengths, tile: shape.tile, blocks: shape.blocks, coupled },
      steps: [
        ...steps.map((step): LeafStep => {
          if ('do' in step) return step;
          const { dimension, along, ...own } = step;
          const butterflies = radicesAndPrimes(choices[dimension]!.radices, target);
          return {
            ...{ do: 'passes', dimension },
            ...butterflies,
            ...own,
            lanesAlong: { input: along, output: along },
          };
        }),
        ...(storesInPieces(placed, shape, choices, target) ? [{ do: 'copy' as const }] : []),
      ],
      counts: elementCounts(lengths, shape.lengths.length - 1, shape.pair && (shape.pair.toReals ? 'input' : 'output')),
      axes: {
        input: [...digits.input, ...others.map((span) => span.input)],
        output: [...returned.output, ...others.map((span) => span.output)],
      },
      places: { input: [...digits.places.input, ...input], output: [...returned.places.output, ...output] },
      ...twiddlesOf(placed, merged, order),
    },
    target,
  );
}

/** Whether neighbouring threads of the last pass would store pieces shorter than half a run; the tile is then copied as a whole. */
function storesInPieces(
  { node: { product }, coordinates }: PlacedLeaf,
  { blocks, coupled, pair, forwardStages, faster }: TileShape,
  choices: ReturnType<typeof radixChoices>,
  target: Target,
): boolean {
  const { dimension, along } = forwardStages.at(-1)!;
  const axis = faster.at(-1)!;
  if (blocks > 1 || coupled || pair || product || coordinates || dimension !== faster.length || along !== 'axis')
    return false;
  const { run } = target.capacity;
  return hasUnitStep(axis.output) && axis.count / choices[dimension]!.radices.at(-1)! < Math.min(run / 2, axis.count);
}

/** The passes and the steps between them: forward, or forward and back around a product. */
function tileSteps(
  product: LeafNode['product'],
  { coupled, forwardStages, backwardStages, pair }: TileShape,
  multiply: (product: NonNullable<LeafNode['product']>) => ConvolveSteps['product'],
): readonly (StageShape | HermitianSplit | MultiplyStep)[] {
  if (product)
    return [
      ...withProduct(forwardStages, multiply(product)),
      ...backwardStages.map((stage) => reversedStage(stage, coupled)),
    ];
  if (!pair) return forwardStages;
  return pair.toReals
    ? [pair, ...forwardStages.map((stage) => ({ ...stage, inverse: true as const }))]
    : [...forwardStages, pair];
}

/** Passes followed by the product of their bins. */
function withProduct(stages: readonly StageShape[], product: ConvolveSteps['product']) {
  if ('do' in product) return [...stages, product];
  return stages.map((stage, n) => (n === stages.length - 1 ? { ...stage, write: product } : stage));
}

/**
 * Passes of the transform back: the digits of bins are those of points in reverse order. @param coupled the first two dimensions are digits
 */
function reversedStage({ after: _, ...stage }: StageShape, coupled: boolean): StageShape {
  return { ...stage, ...(coupled && stage.dimension === 0 ? { after: 1 } : {}), inverse: true };
}
