/** Fused leaves: an axis that a cluster of blocks takes in two digits, and several axes that become one launch. */
import { divisors } from '../numeric/primes.ts';
import type { Sides } from '../problem/index.ts';
import { type Arithmetic, capacityOf, withoutClusters } from './capacity.ts';
import { assembled, butterfliesOf, productOf, twiddleOf } from './configure.ts';
import { type Cut, clusterFor, cutAxes, cutColumns, radicesOf, splitBefore, type Tiled } from './cuts.ts';
import type { LanesAlong, Leaf, LeafStep, PairStep, PassesStep, Stride } from './leaf.ts';
import type { Place } from './node.ts';
import { mergedBatch, type PlacedLeaf, packedAxis, placesOf } from './placed.ts';
import type { DeviceProfile } from './profile.ts';
import { threadOrder } from './thread-tiling.ts';
import { isContiguous, type Span, walksAlong } from './tiling.ts';

/** A leaf of one axis as two digits, where a cluster takes it. */
export function fuseAxis(placed: PlacedLeaf, profile: DeviceProfile): Leaf | undefined {
  if (placed.more) return undefined;
  const { axis, precision } = placed;
  const merged = mergedBatch(placed);
  const order = threadOrder(axis, merged);
  const batch = order.map((d) => merged[d]!);
  const strided = [axis.input, axis.output].filter((stride) => !isContiguous(stride)).length;
  const cut = clusterFor(axis.count, batch[0]!.count, strided, precision, profile);
  if (!cut) return undefined;
  const columns = (side: 'input' | 'output', d: number) =>
    cut.tile === 1 ? [d] : isContiguous(axis[side]) ? [d, -1] : [-1, d];
  const twiddle = placed.twiddle && { twiddle: twiddleOf(placed.twiddle, order) };
  const shape = digitsOf(axis, cut.lengths);
  const places = digitPlaces(axis, cut.lengths);
  const stages: StageShape[] = [
    { of: 0, split: 1, columns: columns('input', 1), along: 'batch' },
    { of: 1, split: 0, columns: columns('output', 0), along: 'batch', after: 0 },
  ];
  const { product } = placed;
  if (!product) {
    return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, coupled: true }, profile, {
      ...shape,
      places,
      stages,
    });
  }
  // On the way back the digits of the bins are those of the points in reverse, and come back to where these were.
  const [slow, fast] = stages as [StageShape, StageShape];
  const written = axis.places?.output;
  const returning = {
    ...axis,
    input: axis.output,
    ...(written ? { places: { input: written, output: written } } : {}),
  };
  const turn = productOf(product, places.output, batch).product;
  return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, coupled: true }, profile, {
    input: shape.input,
    output: digitsOf(returning, cut.lengths).input,
    places: { input: places.input, output: digitPlaces(returning, cut.lengths).input },
    stages: [
      slow,
      { ...fast, write: turn },
      { of: 1, split: 0, columns: fast.columns, along: 'batch', inverse: true },
      { of: 0, split: 1, columns: slow.columns, along: 'batch', after: 1, inverse: true },
    ],
  });
}

/** So many steps at a time. @throws RangeError for memory in tiles, which only vectors use. */
function steps(stride: Stride, count: number): Stride {
  if (typeof stride !== 'number') throw new RangeError('an axis in tiles cannot be cut into digits');
  return stride * count;
}

/** A leaf of several axes. @throws RangeError where they do not fit together: the tree says whether they do. */
export function fuseAxes(placed: PlacedLeaf, profile: DeviceProfile): Leaf {
  const { precision, more = [] } = placed;
  const spans = [...more].reverse().concat(placed.axis);
  const merged = mergedBatch(placed);
  const axis = packedAxis(placed);
  const order = threadOrder(axis, merged);
  const batch = order.map((d) => merged[d]!);
  const walks = { input: walksAlong(axis, batch[0]!, 'input'), output: walksAlong(axis, batch[0]!, 'output') };
  const pair = pairOf(placed);
  const counts = spans.map(({ count }) => count);
  const byColumns = walks.input === 'batch' || walks.output === 'batch';
  // Bins and those that mirror them are in one block.
  const own = pair ? withoutClusters(profile) : profile;
  const cut = (byColumns ? tileOfColumns : tileOfWholes)(counts, batch[0]!.count, precision, own);
  const { lengths, blocks } = cut;
  const coupled = lengths.length > spans.length;
  const last = lengths.length - 1;
  const columns = (of: number, along: LanesAlong) => {
    const inner = lengths.map((_, d) => last - d).filter((d) => d !== of);
    return along === 'batch' ? [-1, ...inner] : [...inner, -1];
  };
  const twiddle = placed.twiddle && { twiddle: twiddleOf(placed.twiddle, order) };
  const [slowest, ...faster] = spans as [Span, ...Span[]];
  const { input, output } = coupled ? digitsOf(slowest, lengths) : { input: [slowest.input], output: [slowest.output] };
  const places = coupled ? digitPlaces(slowest, lengths) : placesOf([slowest]);
  const others = placesOf(faster);
  return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, coupled }, own, {
    ...(pair ? { pair } : {}),
    input: [...input, ...faster.map((span) => span.input)],
    output: [...output, ...faster.map((span) => span.output)],
    places: { input: [...places.input, ...others.input], output: [...places.output, ...others.output] },
    stages: turnsOf(cut, coupled, precision, pair).map((of, turn) => {
      const split = of === 0 ? splitBefore(lengths, blocks) : 0;
      const along = turn === last ? walks.output : walks.input;
      const own = { ...(coupled && of === 1 ? { after: 0 } : {}), ...(pair?.back ? { inverse: true as const } : {}) };
      return { of, split, columns: columns(of, along), along: of === last ? along : 'batch', ...own };
    }),
  });
}

/** The step between reals and bins, where the axis is one of reals. */
function pairOf({ axis, real }: PlacedLeaf): PairStep | undefined {
  if (real?.by !== 'halves') return undefined;
  const back = real.side === 'output' ? { back: true as const } : {};
  return { do: 'pair', length: axis.count, by: 'halves', everyAxis: true, ...back };
}

/** Strides of the two digits of an axis: input element n₀·B + n₁, output element k₀ + A·k₁. */
function digitsOf({ input, output }: Pick<Span, 'input' | 'output'>, [a, b]: readonly number[]) {
  return { input: [steps(input, b!), input], output: [output, steps(output, a!)] };
}

/** Where they lie in the tensor. */
function digitPlaces(span: Span, [a, b]: readonly number[]): Sides<readonly Place[]> {
  const { input, output } = placesOf([span]);
  const far = ([place]: readonly Place[], by: number): Place => ({ ...place!, step: place!.step * by });
  return { input: [far(input, b!), input[0]!], output: [output[0]!, far(output, a!)] };
}

/**
 * In which order the dimensions of a tile are transformed: the slowest first, so that whole rows are written in the end.
 * For clusters the other order is faster, by 1 to 50 % on an H200; but slower, by 1 to 4 %, for images in single precision
 * whose rows are as long as columns or longer, and for cubes.
 * Bins are paired where memory has them, before the passes along the fastest one or after them.
 * @param coupled the slowest axis is in two digits: blocks exchange their shares after the first one.
 */
function turnsOf(
  { lengths, blocks }: Cut,
  coupled: boolean,
  precision: Arithmetic,
  pair: PairStep | undefined,
): readonly number[] {
  if (pair?.back) return lengths.map((_, d) => lengths.length - 1 - d);
  const [slow, fast, ...more] = lengths as [number, number, ...number[]];
  const turned = blocks > 1 && !coupled && more.length === 0 && (precision !== 'single' || fast < slow);
  return turned ? [1, 0] : lengths.map((_, d) => d);
}

/** As many whole tiles as one block has use for; those of a cluster one by one. */
function tileOfWholes(lengths: readonly number[], count: number, precision: Arithmetic, profile: DeviceProfile): Tiled {
  const cut = cutAxes(lengths, precision, profile);
  if (!cut) throw new RangeError('these axes do not fit together');
  const points = lengths.reduce((a, b) => a * b, 1);
  const { room } = capacityOf(precision, profile);
  const most = Math.min(profile.groupPoints, (room * 16) / 17);
  const plenty = cut.blocks > 1 ? 1 : Math.max(1, Math.floor(most / points));
  return { ...cut, tile: Math.max(...divisors(count).filter((n) => n <= plenty)) };
}

/** A run of neighbours, or a part of one. */
function tileOfColumns(
  lengths: readonly number[],
  count: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): Tiled {
  const cut =
    cutColumns(lengths, count, precision, profile) ??
    cutColumns(lengths, count, precision, profile, Number.POSITIVE_INFINITY);
  if (!cut) throw new RangeError('these axes do not fit together');
  return cut;
}

/** Passes along one of several dimensions, and along what neighbouring threads walk in them. */
interface StageShape extends Pick<PassesStep, 'of' | 'columns' | 'after' | 'inverse' | 'write'> {
  readonly split: number;
  readonly along: LanesAlong;
}

function fusedLeaf(
  placed: PlacedLeaf,
  batch: readonly Span[],
  cut: Tiled & { readonly coupled: boolean },
  profile: DeviceProfile,
  shape: {
    readonly input: readonly Stride[];
    readonly output: readonly Stride[];
    readonly places: Sides<readonly Place[]>;
    readonly stages: readonly StageShape[];
    readonly pair?: PairStep;
  },
): Leaf {
  const { lengths, blocks, tile, coupled } = cut;
  const choices = radicesOf(lengths, placed.precision, profile);
  const steps = shape.stages.map(
    ({ of, along, ...own }): PassesStep => ({
      do: 'passes',
      of,
      ...butterfliesOf(choices[of]!.radices, profile),
      ...own,
      lanesAlong: { input: along, output: along },
    }),
  );
  const axes = { input: shape.input, output: shape.output };
  const { twiddle } = placed;
  const { pair } = shape;
  const all: LeafStep[] = pair ? (pair.back ? [pair, ...steps] : [...steps, pair]) : steps;
  return assembled(
    placed,
    { batch, lengths, tile, blocks, coupled, steps: all, axes, places: shape.places, twiddle },
    profile,
  );
}
