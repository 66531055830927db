/**
 * Fused leaves: what is too long for one block becomes a tile that a cluster of blocks holds together, and several axes
 * that fit there together become one launch (design §4: count passes first, then polish them).
 */
import { divisors } from '../numeric/primes.ts';
import { capacityOf } from './capacity.ts';
import { mergeSpans, type PlacedLeaf, sharedOf, threadsFor, twiddleOf } from './configure.ts';
import type { FusedLeaf, FusedStage, Stride } from './leaf.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { isContiguous, type Span, threadOrder } from './tiling.ts';

type Precision = 'single' | 'double';

/** A tile shared out among blocks. */
export interface Cut {
  readonly lengths: readonly number[];
  readonly blocks: number;
}

/** What it costs a cluster, in halvings of its speed, to have twice as many blocks, or blocks twice as large. */
const MORE_BLOCKS = 0.2;
const LARGER_BLOCKS = 0.3;
/** Blocks up to which a cluster finds its place easily, and what more of them cost. */
const EASILY_PLACED = 8;
const HARDLY_PLACED = { digits: 0.25, axes: 0.05 };

/**
 * Blocks that hold a tile together, so that each of the shared dimensions divides among them: one, where it has room, or
 * the cheapest number (measured on an H200: between two and eight blocks 0.65 to 0.75 of copy, sixteen 0.45 to 0.65).
 */
function blocksFor(
  points: number,
  shared: readonly number[],
  what: 'digits' | 'axes',
  precision: Precision,
  { cluster, ...profile }: DeviceProfile,
): number | undefined {
  const { sharedBytes, room } = capacityOf(precision, profile);
  // A sixteenth is left for padding.
  const most = (room * 16) / 17;
  if (points <= most) return 1;
  if (!cluster) return undefined;
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let blocks = 2; blocks <= cluster.blocks; blocks++) {
    const bytes = (points * sharedBytes) / blocks;
    if (blocks > EASILY_PLACED && blocks !== cluster.blocks) continue;
    if (points / blocks > most || bytes > 2 * cluster.sharedBytes) continue;
    if (!shared.every((length) => length % blocks === 0)) continue;
    const size = LARGER_BLOCKS * Math.max(0, Math.log2(bytes / cluster.sharedBytes));
    const cost = MORE_BLOCKS * Math.log2(blocks) + size + (blocks > EASILY_PLACED ? HARDLY_PLACED[what] : 0);
    if (cost < least) {
      best = blocks;
      least = cost;
    }
  }
  return best;
}

/** Some axes as one tile, slowest first. @returns undefined where they do not fit. */
export function cutAxes(lengths: readonly number[], precision: Precision, profile: DeviceProfile): Cut | undefined {
  if (!mayFuse(profile) || lengths.length < 2) return undefined;
  const points = lengths.reduce((a, b) => a * b, 1);
  // The first two dimensions change hands between the blocks.
  const blocks = blocksFor(points, lengths.slice(0, 2), 'axes', precision, profile);
  return blocks === undefined ? undefined : { lengths, blocks };
}

/** What it costs, in passes of radix 4, that the digits of an axis differ by a factor of two. */
const UNEQUAL = 0.2;
/** What it costs that a block's share of a digit is shorter than a run of memory. */
const SHORT_SHARE = 1;

/** One long axis in two digits, `tile` transforms of it at a time. */
export function cutAxis(length: number, tile: number, precision: Precision, profile: DeviceProfile): Cut | undefined {
  if (!mayFuse(profile)) return undefined;
  const { run } = capacityOf(precision, profile);
  let best: Cut | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const a of divisors(length)) {
    const b = length / a;
    if (a === 1 || b === 1) continue;
    const blocks = blocksFor(length * tile, [a, b], 'digits', precision, profile);
    if (blocks === undefined) continue;
    const passes = (n: number) => chooseRadices({ length: n, lanesAlong: 'batch', lanes: 1, precision }, profile).cost;
    const short = (n: number) => ((n / blocks) * tile < run ? SHORT_SHARE : 0);
    const cost = passes(a) + passes(b) + UNEQUAL * Math.abs(Math.log2(a / b)) + short(a) + short(b) + Math.log2(blocks);
    if (cost >= least) continue;
    best = { lengths: [a, b], blocks };
    least = cost;
  }
  return best;
}

function mayFuse({ lockstep, doubleBuffered }: DeviceProfile): boolean {
  return lockstep === 'threads' && !doubleBuffered;
}

/** A leaf of one axis as two digits, where one block could not hold whole runs of it. */
export function fuseAxis(placed: PlacedLeaf, profile: DeviceProfile): FusedLeaf | undefined {
  if (!mayFuse(profile) || placed.more) return undefined;
  const { axis, precision } = placed;
  const { run, room, sharedBytes } = capacityOf(precision, profile);
  const merged = mergeSpans(placed.batch, placed.twiddle !== undefined);
  const order = threadOrder(axis, merged);
  const batch = order.map((d) => merged[d]!);
  const { count } = batch[0]!;
  const strided = [axis.input, axis.output].filter((stride) => !isContiguous(stride)).length;
  const whole = strided > 0 ? Math.min(run, count) : 1;
  // Where one block cannot hold even one transform there is no choice; otherwise only whole runs on both sides pay.
  const needed = axis.count > room;
  const worth =
    strided === 2 && axis.count * sharedBytes * whole > (profile.cluster?.above ?? Number.POSITIVE_INFINITY);
  if (!needed && !worth) return undefined;
  const least = needed ? 1 : Math.ceil(whole / 2);
  const tiles = Array.from({ length: whole - least + 1 }, (_, n) => whole - n).filter((tile) => count % tile === 0);
  for (const tile of tiles) {
    const cut = cutAxis(axis.count, tile, precision, profile);
    if (!cut || cut.blocks === 1) continue;
    const [a, b] = cut.lengths as [number, number];
    const columns = (side: 'input' | 'output', d: number) =>
      tile === 1 ? [d] : isContiguous(axis[side]) ? [d, -1] : [-1, d];
    const twiddle = placed.twiddle && { twiddle: twiddleOf(placed.twiddle, order) };
    return fusedLeaf({ ...placed, ...twiddle }, batch, { ...cut, tile, coupled: true }, profile, {
      // Input element n₀·B + n₁, output element k₀ + A·k₁.
      input: [steps(axis.input, b), axis.input],
      output: [axis.output, steps(axis.output, a)],
      stages: [
        { of: 0, split: 1, columns: columns('input', 1), along: 'batch' },
        { of: 1, split: 0, columns: columns('output', 0), along: 'batch' },
      ],
    });
  }
  return undefined;
}

/** So many steps at a time. @throws RangeError for memory in tiles, which devices with clusters do not use. */
function steps(stride: Stride, count: number): Stride {
  if (typeof stride !== 'number') throw new RangeError('an axis in tiles cannot be cut into digits');
  return stride * count;
}

/** A leaf of several axes. @throws RangeError where they do not fit together: the tree says whether they do. */
export function fuseAxes(placed: PlacedLeaf, profile: DeviceProfile): FusedLeaf {
  const { precision, more = [] } = placed;
  const spans = [...more].reverse().concat(placed.axis);
  const cut = cutAxes(
    spans.map(({ count }) => count),
    precision,
    profile,
  );
  if (!cut) throw new RangeError('these axes do not fit together');
  const batch = mergeSpans(placed.batch, false);
  const last = spans.length - 1;
  const points = cut.lengths.reduce((a, b) => a * b, 1);
  const { room } = capacityOf(precision, profile);
  const most = Math.min(profile.groupPoints, (room * 16) / 17);
  const plenty = cut.blocks > 1 ? 1 : Math.max(1, Math.floor(most / points));
  const tile = Math.max(...divisors(batch[0]!.count).filter((n) => n <= plenty));
  const others = (of: number, split: number) => {
    const inner = cut.lengths.map((_, d) => last - d).filter((d) => d !== of && d !== split);
    return [...inner, split, -1];
  };
  return fusedLeaf(placed, batch, { ...cut, tile, coupled: false }, profile, {
    input: spans.map(({ input }) => input),
    output: spans.map(({ output }) => output),
    stages: cut.lengths.map((_, of) => {
      const split = of === 0 ? 1 : 0;
      return { of, split, columns: others(of, split), along: of === last ? 'axis' : 'batch' };
    }),
  });
}

interface StageShape extends Pick<FusedStage, 'of' | 'split' | 'columns'> {
  readonly along: 'axis' | 'batch';
}

function fusedLeaf(
  placed: PlacedLeaf,
  batch: readonly Span[],
  cut: Cut & { readonly tile: number; readonly coupled: boolean },
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
  const stages = shape.stages.map(({ of, split, columns, along }): FusedStage => {
    const question = { length: lengths[of]!, lanesAlong: 'batch', lanes: 1, precision } as const;
    return {
      of,
      radices: chooseRadices(question, profile).radices,
      split,
      columns,
      lanesAlong: { input: along, output: along },
    };
  });
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
    threads: threadsFor(
      points,
      stages.flatMap(({ radices }) => radices),
      placed,
      profile,
    ),
    shared: sharedOf(precision, profile),
    input: side('input'),
    output: side('output'),
    inverse: placed.inverse,
    ...(placed.twiddle ? { twiddle: placed.twiddle } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
  };
}
