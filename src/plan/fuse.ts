/**
 * Fused leaves: what is too long for one block becomes a tile that a cluster of blocks holds together, and several axes
 * that fit there together become one launch (design §4: count passes first, then polish them).
 */
import { divisors } from '../numeric/primes.ts';
import { capacityOf } from './capacity.ts';
import { mergeSpans, type PlacedLeaf, sharedOf, twiddleOf } from './configure.ts';
import type { FusedLeaf, FusedStage, LanesAlong, Stride } from './leaf.ts';
import { Memo } from './memo.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { shareOfCluster, shareOfGroup } from './share.ts';
import { besideOf, CLUSTER_BUTTERFLIES, threadsFor } from './threads.ts';
import { isContiguous, type Span, threadOrder, walksAlong } from './tiling.ts';

type Precision = 'single' | 'double';

/** A tile shared out among blocks. */
export interface Cut {
  readonly lengths: readonly number[];
  readonly blocks: number;
  /** Of the bandwidth, what is left for so many blocks of that size. */
  readonly share: number;
}

/** A cut, and how many transforms of it are in a tile. */
type Tiled = Cut & { readonly tile: number };

/** What it costs a cluster, in halvings of its speed, to have twice as many blocks, or blocks twice as large. */
const MORE_BLOCKS = 0.2;
const LARGER_BLOCKS = 0.5;
/**
 * Numbers of blocks that can hold a tile together, so that each of the shared dimensions divides among them, and what they
 * cost (measured on an H200: four to eight blocks of 32 KiB reach 0.8 to 0.87 of copy, sixteen 0.71 to 0.74, and 0.56 to
 * 0.63 with 64 KiB of each). One block costs nothing.
 */
function blocksFor(
  points: number,
  shared: readonly number[],
  precision: Precision,
  { cluster, ...profile }: DeviceProfile,
): { readonly blocks: number; readonly cost: number }[] {
  const { sharedBytes, room } = capacityOf(precision, profile);
  // A sixteenth is left for padding.
  const most = (room * 16) / 17;
  const found: { blocks: number; cost: number }[] = [];
  if (points <= most) found.push({ blocks: 1, cost: 0 });
  for (let blocks = 2; cluster && blocks <= cluster.blocks; blocks++) {
    const bytes = (points * sharedBytes) / blocks;
    if (points / blocks > most || bytes > 2 * cluster.sharedBytes) continue;
    if (!shared.every((length) => length % blocks === 0)) continue;
    const size = LARGER_BLOCKS * Math.max(0, Math.log2(bytes / cluster.sharedBytes));
    found.push({ blocks, cost: MORE_BLOCKS * Math.log2(blocks) + size });
  }
  return found.sort((one, other) => one.cost - other.cost);
}

/** What so many blocks with an equal share of a tile reach of the bandwidth. @param shared the dimensions that change hands. */
function shareOf(
  { blocks, points, shared, tile }: { blocks: number; points: number; shared: readonly number[]; tile: number },
  radices: readonly number[],
  precision: Precision,
  profile: DeviceProfile,
): number {
  if (blocks === 1) return shareOfGroup({ points, radices, fused: true }, precision, profile);
  const { run, sharedBytes } = capacityOf(precision, profile);
  const ragged = shared.some((length) => ((length / blocks) * tile) % run !== 0);
  return shareOfCluster(blocks, (points / blocks) * sharedBytes, radices, ragged, precision, profile);
}

/** Times that the threads of a cluster may take for all passes, over what they would take if none were ever idle. */
const IDLE = { most: 1.13, little: 1.06 };
/** Blocks that have to fit side by side on a multiprocessor: what one of them waits for, another one hides. */
const SIDE_BY_SIDE = 2;

/**
 * Whether the threads of a cluster have work in all passes, not too many small pieces of it, and other blocks beside them.
 * @param idle how idle they may be; infinite: any cluster will do.
 */
function keepsBusy(
  points: number,
  radices: readonly number[],
  precision: Precision,
  profile: DeviceProfile,
  idle = IDLE.most,
): boolean {
  if (idle === Number.POSITIVE_INFINITY) return true;
  const threads = threadsFor(points, radices, { precision }, profile, true);
  const rounds = radices.map((radix) => Math.ceil(points / radix / threads));
  const times = radices.map((radix, n) => (rounds[n]! * threads * radix) / points);
  return (
    Math.max(...rounds) <= CLUSTER_BUTTERFLIES &&
    times.reduce((sum, time) => sum + time, 0) <= idle * times.length &&
    (!profile.registerFile || besideOf(points, radices, threads, precision, profile, true) >= SIDE_BY_SIDE)
  );
}

/** Radices of each dimension of a tile. */
function radicesOf(lengths: readonly number[], precision: Precision, profile: DeviceProfile) {
  return lengths.map((length) => chooseRadices({ length, lanesAlong: 'batch', lanes: 1, precision }, profile));
}

/**
 * Some axes as one tile, slowest first.
 * @param tile transforms of neighbours that a tile holds.
 * @param idle how idle the threads of a cluster may be.
 * @returns undefined where they do not fit.
 */
export function cutAxes(
  lengths: readonly number[],
  precision: Precision,
  profile: DeviceProfile,
  tile = 1,
  idle = IDLE.most,
): Cut | undefined {
  if (!mayFuse(profile) || lengths.length < 2) return undefined;
  const points = lengths.reduce((a, b) => a * b, tile);
  // The first two dimensions change hands between the blocks.
  const [cheapest] = blocksFor(points, lengths.slice(0, 2), precision, profile);
  if (!cheapest) return undefined;
  const { blocks } = cheapest;
  const radices = radicesOf(lengths, precision, profile).flatMap((choice) => choice.radices);
  if (blocks > 1 && !keepsBusy(points / blocks, radices, precision, profile, idle)) return undefined;
  return {
    lengths,
    blocks,
    share: shareOf({ blocks, points, shared: lengths.slice(0, 2), tile }, radices, precision, profile),
  };
}

/** What it costs, in passes of radix 4, that the digits of an axis differ by a factor of two. */
const UNEQUAL = 0.2;
/** What it costs that a block's share of a digit is shorter than a run of memory. */
const SHORT_SHARE = 1;
/** Passes of radix 4 that cost as much as halving the speed of a cluster. */
const HALVING = 5;

const cuts = new Memo<Cut | undefined>();

/**
 * One long axis in two digits, `tile` transforms of it at a time.
 * @param instead more than one block is wanted, instead of one: how idle its threads may be.
 */
export function cutAxis(
  length: number,
  tile: number,
  precision: Precision,
  profile: DeviceProfile,
  instead?: number,
): Cut | undefined {
  if (!mayFuse(profile)) return undefined;
  return cuts.of(profile, `${length},${tile},${precision},${instead}`, () =>
    searchCuts(length, tile, precision, profile, instead),
  );
}

function searchCuts(
  length: number,
  tile: number,
  precision: Precision,
  profile: DeviceProfile,
  instead: number | undefined,
): Cut | undefined {
  const { run } = capacityOf(precision, profile);
  let best: Cut | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const a of divisors(length)) {
    const b = length / a;
    if (a === 1 || b === 1) continue;
    const passes = radicesOf([a, b], precision, profile);
    const radices = passes.flatMap((choice) => choice.radices);
    for (const { blocks, cost: sharing } of blocksFor(length * tile, [a, b], precision, profile)) {
      if (blocks === 1 && instead) continue;
      const points = (length * tile) / blocks;
      if (blocks > 1 && !keepsBusy(points, radices, precision, profile, instead)) continue;
      const short = (n: number) => ((n / blocks) * tile < run ? SHORT_SHARE : 0);
      const work = passes.reduce((sum, choice) => sum + choice.cost, 0);
      const cost = work + UNEQUAL * Math.abs(Math.log2(a / b)) + short(a) + short(b) + HALVING * sharing;
      if (cost >= least) continue;
      const whole = { blocks, points: length * tile, shared: [a, b], tile };
      best = { lengths: [a, b], blocks, share: shareOf(whole, radices, precision, profile) };
      least = cost;
    }
  }
  return best;
}

/** Whether several dimensions of a tile can be transformed in one launch. */
export function mayFuse({ lockstep, doubleBuffered }: DeviceProfile): boolean {
  return lockstep === 'threads' && !doubleBuffered;
}

/** By how much longer an axis has to be that lies side by side: one block moves it better than columns. */
const CONTIGUOUS = 1.6;

/**
 * How a cluster takes an axis, where one block could not hold whole runs of it, or would be slow.
 * @param count neighbouring transforms.
 * @param strided on how many sides memory runs along those, not along the axis.
 */
export function clusterFor(
  length: number,
  count: number,
  strided: number,
  precision: Precision,
  profile: DeviceProfile,
): Tiled | undefined {
  const { run, room, sharedBytes } = capacityOf(precision, profile);
  const whole = strided > 0 ? Math.min(run, count) : 1;
  // Where one block cannot hold even one transform there is no choice. Otherwise a cluster may be faster than a block that
  // has its multiprocessor to itself, if it moves whole runs on both sides.
  const needed = length > room;
  const bytes = length * sharedBytes * whole;
  const above = profile.cluster?.above[precision] ?? Number.POSITIVE_INFINITY;
  const worth = strided === 2 ? bytes > above : strided === 0 && bytes > CONTIGUOUS * above;
  if (!needed && !worth) return undefined;
  const little = strided === 0 && bytes < 2 * above;
  const least = needed ? 1 : whole;
  const tiles = Array.from({ length: whole - least + 1 }, (_, n) => whole - n).filter((tile) => count % tile === 0);
  // A tile of fewer columns than the tree reckoned with may keep its threads less busy: there is no choice then.
  const idles = needed ? [IDLE.most, Number.POSITIVE_INFINITY] : [little ? IDLE.little : IDLE.most];
  for (const idle of idles) {
    for (const tile of tiles) {
      const cut = cutAxis(length, tile, precision, profile, idle);
      if (cut) return { ...cut, tile };
    }
  }
  return undefined;
}

/** A leaf of one axis as two digits, where a cluster takes it. */
export function fuseAxis(placed: PlacedLeaf, profile: DeviceProfile): FusedLeaf | undefined {
  if (!mayFuse(profile) || placed.more) return undefined;
  const { axis, precision } = placed;
  const merged = mergeSpans(placed.batch, placed.twiddle !== undefined);
  const order = threadOrder(axis, merged);
  const batch = order.map((d) => merged[d]!);
  const strided = [axis.input, axis.output].filter((stride) => !isContiguous(stride)).length;
  const cut = clusterFor(axis.count, batch[0]!.count, strided, precision, profile);
  if (!cut) return undefined;
  const [a, b] = cut.lengths as [number, number];
  const columns = (side: 'input' | 'output', d: number) =>
    cut.tile === 1 ? [d] : isContiguous(axis[side]) ? [d, -1] : [-1, d];
  const twiddle = placed.twiddle && { twiddle: twiddleOf(placed.twiddle, order) };
  return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, coupled: true }, profile, {
    // Input element n₀·B + n₁, output element k₀ + A·k₁.
    input: [steps(axis.input, b), axis.input],
    output: [axis.output, steps(axis.output, a)],
    stages: [
      { of: 0, split: 1, columns: columns('input', 1), along: 'batch' },
      { of: 1, split: 0, columns: columns('output', 0), along: 'batch' },
    ],
  });
}

/** So many steps at a time. @throws RangeError for memory in tiles, which devices with clusters do not use. */
function steps(stride: Stride, count: number): Stride {
  if (typeof stride !== 'number') throw new RangeError('an axis in tiles cannot be cut into digits');
  return stride * count;
}

/** A leaf of several axes. @throws RangeError where they do not fit together: the tree says whether they do. */
export function fuseAxes(placed: PlacedLeaf, profile: DeviceProfile): FusedLeaf {
  const { precision, more = [], axis } = placed;
  const spans = [...more].reverse().concat(axis);
  const merged = mergeSpans(placed.batch, placed.twiddle !== undefined);
  const order = threadOrder(axis, merged);
  const batch = order.map((d) => merged[d]!);
  const walks = { input: walksAlong(axis, batch[0]!, 'input'), output: walksAlong(axis, batch[0]!, 'output') };
  const lengths = spans.map(({ count }) => count);
  const byColumns = walks.input === 'batch' || walks.output === 'batch';
  const { tile, ...cut } = (byColumns ? tileOfColumns : tileOfWholes)(lengths, batch[0]!.count, precision, profile);
  const last = spans.length - 1;
  const columns = (of: number, split: number, along: LanesAlong) => {
    const inner = cut.lengths.map((_, d) => last - d).filter((d) => d !== of && d !== split);
    return along === 'batch' ? [-1, ...inner, split] : [...inner, split, -1];
  };
  const twiddle = placed.twiddle && { twiddle: twiddleOf(placed.twiddle, order) };
  return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, tile, coupled: false }, profile, {
    input: spans.map(({ input }) => input),
    output: spans.map(({ output }) => output),
    stages: turnsOf(cut, precision).map((of, turn) => {
      const split = of === 0 ? 1 : 0;
      const along = turn === last ? walks.output : walks.input;
      return { of, split, columns: columns(of, split, along), along: of === last ? along : 'batch' };
    }),
  });
}

/**
 * In which order the dimensions of a tile are transformed: the slowest first, so that whole rows are written in the end.
 * For clusters the other order is faster, by 1 to 50 % on an H200; but slower, by 1 to 4 %, for images in single precision
 * whose rows are as long as columns or longer, and for cubes.
 */
function turnsOf({ lengths, blocks }: Cut, precision: Precision): readonly number[] {
  const [slow, fast, ...more] = lengths as [number, number, ...number[]];
  const turned = blocks > 1 && more.length === 0 && (precision === 'double' || fast < slow);
  return turned ? [1, 0] : lengths.map((_, d) => d);
}

/** As many whole tiles as one block has use for; those of a cluster one by one. */
function tileOfWholes(lengths: readonly number[], count: number, precision: Precision, profile: DeviceProfile): Tiled {
  const cut = cutAxes(lengths, precision, profile);
  if (!cut) throw new RangeError('these axes do not fit together');
  const points = lengths.reduce((a, b) => a * b, 1);
  const { room } = capacityOf(precision, profile);
  const most = Math.min(profile.groupPoints, (room * 16) / 17);
  const plenty = cut.blocks > 1 ? 1 : Math.max(1, Math.floor(most / points));
  return { ...cut, tile: Math.max(...divisors(count).filter((n) => n <= plenty)) };
}

/** A run of neighbours, or as much of one as divides them. */
function tileOfColumns(lengths: readonly number[], count: number, precision: Precision, profile: DeviceProfile): Tiled {
  const { run } = capacityOf(precision, profile);
  const tiles = divisors(count).filter((n) => n <= run);
  for (const idle of [IDLE.most, Number.POSITIVE_INFINITY]) {
    for (const tile of tiles.toReversed()) {
      const cut = cutAxes(lengths, precision, profile, tile, idle);
      if (cut) return { ...cut, tile };
    }
  }
  throw new RangeError('these axes do not fit together');
}

interface StageShape extends Pick<FusedStage, 'of' | 'split' | 'columns'> {
  readonly along: 'axis' | 'batch';
}

function fusedLeaf(
  placed: PlacedLeaf,
  batch: readonly Span[],
  cut: Tiled & { readonly coupled: boolean },
  profile: DeviceProfile,
  shape: {
    readonly input: readonly Stride[];
    readonly output: readonly Stride[];
    readonly stages: readonly StageShape[];
  },
): FusedLeaf {
  const { precision, layout, offset } = placed;
  const { lengths, blocks, tile, coupled } = cut;
  const points = (lengths.reduce((a, b) => a * b, 1) * tile) / blocks;
  const choices = radicesOf(lengths, precision, profile);
  const stages = shape.stages.map(
    ({ of, split, columns, along }): FusedStage => ({
      of,
      radices: choices[of]!.radices,
      split,
      columns,
      lanesAlong: { input: along, output: along },
    }),
  );
  const radices = stages.flatMap((stage) => stage.radices);
  const threads = threadsFor(points, radices, placed, profile, blocks > 1);
  const beside = besideOf(points, radices, threads, precision, profile, blocks > 1);
  const side = (name: 'input' | 'output') => ({
    layout: layout[name],
    axes: shape[name],
    batch: batch.map((span) => span[name]),
    offset: offset[name],
  });
  return {
    scheme: 'fused',
    precision,
    lengths,
    stages,
    coupled,
    blocks,
    batch: batch.map(({ count }) => count),
    tile,
    lanes: capacityOf(precision, profile).lanes,
    threads,
    ...(beside > 1 ? { beside } : {}),
    shared: sharedOf(precision, profile),
    input: side('input'),
    output: side('output'),
    inverse: placed.inverse,
    ...(placed.twiddle ? { twiddle: placed.twiddle } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
  };
}
