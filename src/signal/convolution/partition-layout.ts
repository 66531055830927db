/**
 * The division of an impulse response into partitions for a streaming convolver (W. G. Gardner, "Efficient convolution without input-output delay",
 * Journal of the Audio Engineering Society 43 (1995); G. García, "Optimal filter partition for efficient convolution with short input/output delay",
 * AES Convention 113 (2002)). The beginning has partitions of the length of a block; later parts have longer partitions, which have more time to be
 * computed.
 */

/** Partitions of one length. */
export interface PartitionLevel {
  /** Samples of a partition: the block size times a power of two. */
  readonly size: number;
  /** The first partition's first sample in the response. */
  readonly offset: number;
  readonly count: number;
}

/** The number of channels and of rows of a response. */
export interface ChannelCounts {
  readonly inputs: number;
  readonly outputs: number;
  /** Pairs of an input and an output that the response connects. */
  readonly routes: number;
}

/**
 * Costs in nanoseconds: of a real transform of n points per n · log₂ n, of its call, and of a product of two complex numbers. Only their ratios
 * matter.
 */
const TRANSFORM = 0.15;
const CALL = 400;
const PRODUCT = 3;

/** The most that a block of a stream may take, as a multiple of the mean. It is less than two, because the costs above are those of one machine. */
const HIGHEST_PEAK = 1.5;
/** The largest power of two between the longest partitions and the block size. */
const MOST_DOUBLINGS = 8;

/** Cost of transforming 2 · size reals. */
export function transformCost(size: number): number {
  return CALL + TRANSFORM * 2 * size * Math.log2(2 * size);
}

/** Cost of adding up products of `count` spectra of a partition. */
export function productCost(size: number, spectra: number): number {
  return PRODUCT * (size + 1) * spectra;
}

/** All partitions of the block's length. */
export function uniformLevels(length: number, block: number): PartitionLevel[] {
  return [{ size: block, offset: 0, count: Math.max(1, Math.ceil(length / block)) }];
}

/**
 * The cheapest partitions of one to four lengths whose work can be spread evenly over blocks.
 *
 * A spectrum of a longer partition is complete when all of its samples have come. Partitions of length B begin at 2 · B in the response, so that
 * there are as many samples' time to compute what they contribute.
 */
export function nonUniformLevels(length: number, block: number, counts: ChannelCounts): PartitionLevel[] {
  let best = uniformLevels(length, block);
  let least = meanCost(best, block, counts);
  for (const doublings of increasing(MOST_DOUBLINGS, 3)) {
    const sizes = [block, ...doublings.map((power) => block * 2 ** power)];
    const levels = partitionLevels(sizes, length);
    if (levels === undefined) continue;
    const cost = meanCost(levels, block, counts);
    if (cost >= least || peakCost(levels, block, counts) > HIGHEST_PEAK * cost) continue;
    [best, least] = [levels, cost];
  }
  return best;
}

/** Increasing lists of at most `most` numbers from 1 to `last`, without the empty one. */
function increasing(last: number, most: number, first = 1): number[][] {
  const lists: number[][] = [];
  for (let k = first; k <= last; k++) {
    lists.push([k]);
    if (most > 1) lists.push(...increasing(last, most - 1, k + 1).map((rest) => [k, ...rest]));
  }
  return lists;
}

/** The partitions with given lengths; undefined where the response ends before the longest partitions begin. */
function partitionLevels(sizes: readonly number[], length: number): PartitionLevel[] | undefined {
  const offsets = sizes.map((size, k) => (k === 0 ? 0 : 2 * size));
  if (offsets.at(-1)! >= length) return undefined;
  return sizes.map((size, k) => {
    const offset = offsets[k]!;
    return { size, offset, count: Math.ceil(((offsets[k + 1] ?? length) - offset) / size) };
  });
}

/** Costs of the tasks of one block of a level, in order. */
function taskCosts({ size, count }: PartitionLevel, { inputs, outputs, routes }: ChannelCounts): number[] {
  const transform = transformCost(size);
  const pairs = Array.from({ length: Math.ceil(count / 2) }, (_, k) => productCost(size, Math.min(2, count - 2 * k)));
  const each = Array.from({ length: outputs }, () => [
    ...Array.from({ length: routes / outputs }, () => pairs).flat(),
    transform,
  ]);
  return [...Array.from({ length: inputs }, () => transform), ...each.flat()];
}

/** The mean cost of a block of the stream. */
function meanCost(levels: readonly PartitionLevel[], block: number, counts: ChannelCounts): number {
  return levels.reduce((sum, level) => sum + (total(taskCosts(level, counts)) * block) / level.size, 0);
}

/** The cost of the most expensive block of the stream. */
function peakCost(levels: readonly PartitionLevel[], block: number, counts: ChannelCounts): number {
  const calls = levels.at(-1)!.size / block;
  const costs = new Float64Array(calls);
  for (const level of levels) {
    const shares = costOfCalls(taskCosts(level, counts), level.size / block);
    for (let call = 0; call < calls; call++) costs[call]! += shares[call % shares.length]!;
  }
  return costs.reduce((most, cost) => Math.max(most, cost), 0);
}

/** The cost of each call, if tasks are divided among `calls` calls. */
function costOfCalls(costs: readonly number[], calls: number): number[] {
  const all = total(costs);
  let [next, done] = [0, 0];
  return Array.from({ length: calls }, (_, call) => {
    const before = done;
    while (next < costs.length && isDue(done, costs[next]!, all, call, calls)) done += costs[next++]!;
    return done - before;
  });
}

/**
 * Whether a call still has time for a task: the tasks of a block are divided among calls as evenly as they can be.
 * @param done cost of the tasks before it
 * @param all cost of all tasks
 */
export function isDue(done: number, cost: number, all: number, call: number, calls: number): boolean {
  return call === calls - 1 || done + cost / 2 <= (all * (call + 1)) / calls;
}

function total(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0);
}
