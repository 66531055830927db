/**
 * A launch that multiplies channels by matrices → its leaf. An item computes a block of result channels and batches at one bin;
 * neighbouring lanes take neighbouring bins, whose numbers are adjacent.
 */
import { memory } from '../../layout/index.ts';
import { divisors } from '../../numeric/primes.ts';
import { isInPairs, wordsPerReal } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';
import { KERNEL, type Leaf, type MixStep } from '../tree/leaf.ts';
import type { ChannelMix, LeafNode } from '../tree/node.ts';
import { leafSide } from './leaf-sides.ts';
import { type PlacedLeaf, tensorPlaces } from './placed.ts';

export function mixLeaf(placed: PlacedLeaf, mix: ChannelMix, target: Target): Leaf {
  const { axis, batch, precision } = placed;
  const [lanes, batches] = [batch[0]!.count, batch.at(-1)!.count];
  const outer = batch.slice(1, -1).reduce((product, { count }) => product * count, 1);
  const counts = { lanes, outer, batches, out: mix.out };
  const { tile, threads, ...blocks } = placed.together
    ? wholeBlocks(counts)
    : (target.lockstep === 'vector' ? vectorBlocks : threadBlocks)(counts, target);
  const shape = {
    batch,
    counts: { input: [mix.in], output: [mix.out] },
    axes: { input: [axis.input], output: [axis.output] },
    places: tensorPlaces([axis]),
  };
  const step: MixStep = {
    ...{
      do: 'mix',
      in: mix.in,
      out: mix.out,
      layout: matrices(placed.node, mix),
      conjugate: mix.conjugate,
    },
    ...blocks,
    ...termsOf(mix.in, target),
  };
  return {
    ...{ precision, lengths: [mix.in], steps: [step], coupled: false, blocks: 1 },
    batch: batch.map(({ count }) => count),
    ...{ tile, threads, lockstep: target.lockstep, lanes: target.capacity.lanes },
    shared: { format: target.sharedFormat, arrays: 1, banks: target.banks, room: target.capacity.room },
    input: leafSide(placed, shape, 'input'),
    output: leafSide(placed, shape, 'output'),
    operands: [{ name: KERNEL, storage: mix.storage }],
    ...{ inverse: false, scale: placed.scale, aliased: placed.aliased },
  };
}

/** The layout of the matrices, the same for all left batches and batches: [batch dimensions …, in, out, part]. */
function matrices({ batch }: LeafNode, { strides, entries, ...mix }: ChannelMix) {
  const steps = batch.map(({ input }) => 2 * input.stride * strides[input.dimension]!);
  const counts = [...batch.map(({ count }) => count), mix.in, mix.out, 2];
  return memory(KERNEL, counts, [...steps, 2 * entries.in, 2 * entries.out, 1]);
}

interface MixCounts {
  readonly lanes: number;
  /** The number of bins, if lanes take left batches. */
  readonly outer: number;
  readonly batches: number;
  readonly out: number;
}

type Blocks = Pick<MixStep, 'block' | 'blocks'> & Pick<Leaf, 'tile' | 'threads'>;

/** The blocks for vectors: registers hold the sums of two channels of two batches, and their terms. */
function vectorBlocks({ lanes, outer, batches, out }: MixCounts, target: Target): Blocks {
  const block = { out: Math.min(2, out), batches: Math.min(2, batches) };
  const count = { out: Math.ceil(out / block.out), batches: Math.ceil(batches / block.batches) };
  const tile = Math.min(lanes, NEIGHBOURS * target.capacity.lanes);
  // Each thread takes several groups; the matrices stay in its cache from batch to batch.
  const tiles = Math.ceil(lanes / tile) * outer;
  const parts = Math.ceil((GROUPS_EACH * target.multiprocessors) / tiles);
  const own = largestDivisor(count.batches, Math.max(1, Math.floor(count.batches / parts)));
  return { block, blocks: { out: count.out, batches: own }, tile, threads: 1 };
}

/** The blocks of a group that takes all bins and channels of its batch. */
function wholeBlocks({ lanes, out }: MixCounts): Blocks {
  const block = { out: Math.min(2, out), batches: 1 };
  return { block, blocks: { out: Math.ceil(out / block.out), batches: 1 }, tile: lanes, threads: 1 };
}

/** Vectors of neighbouring bins in a group, and the groups of each thread of a processor. */
const NEIGHBOURS = 4;
const GROUPS_EACH = 4;

/** The blocks for threads: the largest that leave enough blocks to occupy all multiprocessors. */
function threadBlocks({ lanes, outer, batches, out }: MixCounts, target: Target): Blocks {
  const words = wordsPerReal(target.precision);
  const shapes = BLOCKS.filter(([a, b]) => a * b <= MOST_SUMS / words);
  const countsOf = ([a, b]: (typeof BLOCKS)[number]) => {
    const block = { out: Math.min(a, out), batches: Math.min(b, batches) };
    return { block, count: { out: Math.ceil(out / block.out), batches: Math.ceil(batches / block.batches) } };
  };
  const items = ({ count }: ReturnType<typeof countsOf>) => lanes * outer * count.out * count.batches;
  const wanted = BUSY * target.multiprocessors;
  const choices = shapes.map(countsOf);
  const { block, count } = choices.find((choice) => items(choice) >= wanted) ?? choices.at(-1)!;
  const warp = target.lockstepBytes / 4;
  const tile = Math.min(lanes, Math.max(1, warp));
  const most = Math.max(1, Math.floor(Math.min(target.maxThreads, GROUP_THREADS) / tile));
  const own = { out: largestDivisor(count.out, Math.ceil(Math.sqrt(most))), batches: 1 };
  own.batches = largestDivisor(count.batches, Math.floor(most / own.out));
  return { block, blocks: own, tile, threads: tile * own.out * own.batches };
}

/** Channels and batches in a thread's block, largest first; and the most sums of complex numbers that a thread's registers hold. */
const BLOCKS = [
  [4, 4],
  [4, 2],
  [2, 2],
  [2, 1],
  [1, 1],
] as const;
const MOST_SUMS = 16;
/**
 * The number of threads on a multiprocessor that hides memory latency, and the number of threads in a group, which share the data they
 * read. On an H200, layers of 64 × 64 channels, 64 modes and batches take 1.6 to 2.3 times as long with 256 threads in groups of 256,
 * although larger blocks read less.
 */
const BUSY = 1024;
const GROUP_THREADS = 512;

function largestDivisor(count: number, most: number): number {
  return Math.max(...divisors(count).filter((n) => n <= Math.max(1, most)));
}

/**
 * Terms that vectors add up in one phase: engines load all numbers of an item first, and spill what registers do not hold. 64 × 64 channels,
 * 32 bins and 64 batches take 3.99 ms with 16 terms, 2.95 with 4 and 1.97 with 2, of blocks of two by two.
 */
const TERMS = 2;
/** Channels from which on vectors add up in loops: of 128 they take 0.93 of the time of phases, of 64 they take 2.4 times as long. */
const MANY = 128;

/** The number of terms that one phase adds up, where sums are no loops inside an item: few terms on vectors, or of pairs of numbers. */
function termsOf(count: number, target: Target): Pick<MixStep, 'terms'> {
  if (count >= MANY) return {};
  if (isInPairs(target.precision, target)) return { terms: Math.min(count, 4) };
  return target.lockstep === 'vector' ? { terms: Math.min(count, TERMS) } : {};
}
