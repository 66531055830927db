/**
 * Cuts: tiles that a cluster of blocks holds together, if one block could not hold them or would be slow. A tile is one long axis in two
 * digits, or several axes that become one launch. (Saving a pass over memory comes before optimising one.)
 */
import { divisors, largestPrimeFactor } from '../../numeric/primes.ts';
import { forPrecision, wordsPerReal } from '../device/capacity.ts';
import { Memo } from '../device/memo.ts';
import { mayFuse, type Target } from '../device/target.ts';
import { chooseRadices, steppedRadices } from './radix.ts';
import { shareOfCluster, shareOfGroup, shareOfRuns } from './share.ts';
import { residentGroups, threadsFor } from './threads.ts';

/** A tile divided among blocks. */
export interface Cut {
  readonly lengths: readonly number[];
  readonly blocks: number;
  /** The share of the bandwidth that this number of blocks of this size reaches. */
  readonly share: number;
}

/** A cut and the number of transforms in a tile. */
export type Tiled = Cut & { readonly tile: number };

/** A number of blocks and its price as log₂ of the slowdown. One block costs nothing. */
interface PricedBlocks {
  readonly blocks: number;
  readonly cost: number;
}

/** The numbers of blocks that can hold a tile of this many points together, cheapest first. */
function blocksFor(points: number, target: Target): PricedBlocks[] {
  const { cluster } = target;
  const { choice } = target.calibration.cluster;
  const { sharedBytes, room } = target.capacity;
  // Padding may add a sixteenth to the points.
  const most = (room * 16) / 17;
  const found: PricedBlocks[] = [];
  if (points <= most) found.push({ blocks: 1, cost: 0 });
  for (let blocks = 2; cluster && blocks <= cluster.blocks; blocks++) {
    const bytes = (points * sharedBytes) / blocks;
    if (points / blocks > most || bytes > 2 * cluster.sharedBytes) continue;
    const size = choice.largerBlocks * Math.max(0, Math.log2(bytes / cluster.sharedBytes));
    found.push({ blocks, cost: choice.moreBlocks * Math.log2(blocks) + size });
  }
  return found.sort((one, other) => one.cost - other.cost);
}

/** Whether each dimension that blocks exchange is divisible by the number of blocks. */
function divideAmong({ blocks }: PricedBlocks, shared: readonly number[]): boolean {
  return shared.every((length) => length % blocks === 0);
}

/**
 * The share of the bandwidth that blocks with equal shares of a tile reach.
 * @param ragged the pieces that one block stores into another are no whole number of lines
 */
function shareOfBlocks(
  { blocks, points, ragged }: { blocks: number; points: number; ragged: boolean },
  radices: readonly number[],
  target: Target,
): number {
  if (blocks === 1) return shareOfGroup({ points, radices, fused: true }, target);
  const { sharedBytes } = target.capacity;
  return shareOfCluster(blocks, (points / blocks) * sharedBytes, radices, ragged, target);
}

/**
 * Whether the threads of a cluster are busy in all passes, without too many small butterflies each, and with other blocks on the same
 * multiprocessor.
 * @param idle the most time that the passes may take, as a multiple of the time without idle threads; infinite: any cluster is accepted
 */
function keepsBusy(
  points: number,
  passes: readonly number[],
  target: Target,
  idle = target.calibration.cluster.idle,
): boolean {
  if (idle === Number.POSITIVE_INFINITY) return true;
  const { butterflies, sideBySide } = target.calibration.cluster;
  const radices = steppedRadices(passes, target);
  const threads = threadsFor(points, radices, {}, target, true);
  const rounds = radices.map((radix) => Math.ceil(points / radix / threads));
  const times = radices.map((radix, n) => (rounds[n]! * threads * radix) / points);
  return (
    Math.max(...rounds) <= butterflies &&
    times.reduce((sum, time) => sum + time, 0) <= idle * times.length &&
    (!target.registerFile || residentGroups(points, radices, threads, target, true) >= sideBySide)
  );
}

/** The dimension of a tile that the blocks divide among themselves while they transform the first one; −1 if none is divisible. */
export function splitBefore(lengths: readonly number[], blocks: number): number {
  return lengths.findIndex((length, d) => d > 0 && length % blocks === 0);
}

/** The radices for each dimension of a tile. */
export function radixChoices(lengths: readonly number[], target: Target) {
  return lengths.map((length) => chooseRadices({ length, lanesAlong: 'batch', lanes: 1 }, target));
}

/**
 * Several axes as one tile, slowest first.
 * @param tile neighbouring transforms in a tile
 * @param idle the most time that passes may take if a cluster exchanges data between the axes, as a multiple of the time without idle threads
 * @returns undefined if the axes do not fit
 */
export function cutAxes(
  lengths: readonly number[],
  target: Target,
  tile = 1,
  idle = target.calibration.cluster.idle,
): Cut | undefined {
  if (!mayFuse(target) || lengths.length < 2) return undefined;
  const { cluster } = target.calibration;
  const whole = wholeAxes(lengths, target, tile, idle);
  const { sharedBytes } = target.capacity;
  const bytes = lengths.reduce((a, b) => a * b, tile * sharedBytes);
  // Blocks small enough to run side by side need no cluster.
  if (whole?.blocks === 1 && cluster.sideBySide * bytes <= (target.residentBytes ?? target.sharedBytes)) return whole;
  const early = earlyAxes(lengths, target, tile);
  if (!early || !whole) return early ?? whole;
  const odd = wordsPerReal(target.precision) === 1 && lengths.some((length) => largestPrimeFactor(length) > 3);
  return early.share * (whole.blocks > 1 && odd ? cluster.oddEarly : 1) >= whole.share ? early : whole;
}

/**
 * Several axes as one tile of neighbouring columns: a run of columns or a part of a run.
 * @param count the number of columns
 * @returns undefined if not even one column fits
 */
export function cutColumns(
  lengths: readonly number[],
  count: number,
  target: Target,
  idle?: number,
): Tiled | undefined {
  const { run } = target.capacity;
  let best: Tiled | undefined;
  for (let tile = Math.min(run, count); tile >= 1; tile = Math.floor(tile / 2)) {
    const cut = cutAxes(lengths, target, tile, idle);
    const share = cut ? cut.share * shareOfRuns({ tile, count }, 2, target) : 0;
    // A share of 0 means an unknown price; memory with unusual strides may leave nothing better.
    if (cut && (!best || share > best.share)) best = { ...cut, share, tile };
  }
  return best;
}

/** Several axes as the dimensions of a tile, unchanged: blocks exchange their shares after the first axis. */
function wholeAxes(lengths: readonly number[], target: Target, tile: number, idle: number): Cut | undefined {
  const points = lengths.reduce((a, b) => a * b, tile);
  // Blocks exchange the first two dimensions.
  const cheapest = blocksFor(points, target).find((some) => divideAmong(some, lengths.slice(0, 2)));
  if (!cheapest) return undefined;
  const { blocks } = cheapest;
  const radices = radixChoices(lengths, target).flatMap((choice) => choice.radices);
  if (blocks > 1 && !keepsBusy(points / blocks, radices, target, idle)) return undefined;
  const { run } = target.capacity;
  const ragged = lengths.slice(0, 2).some((length) => ((length / blocks) * tile) % run !== 0);
  return { lengths, blocks, share: shareOfBlocks({ blocks, points, ragged }, radices, target) };
}

/**
 * Two axes, the slower one in two digits, of which the first is a single pass: blocks exchange their shares right after their first
 * butterflies. Shared memory is empty until then, so no block waits for others to read. Three axes gain nothing from that.
 */
function earlyAxes(lengths: readonly number[], target: Target, tile: number): Cut | undefined {
  if (lengths.length > 2 || !target.cluster) return undefined;
  const [slowest, fastest] = lengths as [number, number];
  const { choice } = target.calibration.cluster;
  const { run } = target.capacity;
  const points = slowest * fastest * tile;
  const candidates = blocksFor(points, target).filter(({ blocks }) => blocks > 1);
  let best: Cut | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const a of candidates.length > 0 ? divisors(slowest) : []) {
    const fitting = candidates.filter((some) => divideAmong(some, [a]));
    if (a === 1 || a === slowest || fitting.length === 0) continue;
    const digits = [a, slowest / a, fastest];
    const passes = radixChoices(digits, target);
    if (passes[0]!.radices.length > 1) continue;
    const radices = passes.flatMap((choice) => choice.radices);
    for (const { blocks, cost: sharing } of fitting) {
      // Before the exchange, blocks share the other digit or the fastest axis, but without cutting runs of memory.
      const split = splitBefore(digits, blocks);
      const piece = ((split === 2 ? fastest / blocks : fastest) * tile) / run;
      if (split < 0 || piece < 1) continue;
      const cost = passes.reduce((sum, choice) => sum + choice.cost, 0) + choice.halving * sharing;
      if (cost >= least || !keepsBusy(points / blocks, radices, target)) continue;
      best = {
        lengths: digits,
        blocks,
        share: shareOfBlocks({ blocks, points, ragged: !Number.isInteger(piece) }, radices, target),
      };
      least = cost;
    }
  }
  return best;
}

/** Whether a digit has more than two passes with a radix that is no power of two. (Why clusters are slow then is not known.) */
function isDeep(digits: readonly number[], target: Target): boolean {
  return radixChoices(digits, target).some(
    ({ radices }) => radices.length > 2 && radices.some((radix) => !Number.isInteger(Math.log2(radix))),
  );
}

const cuts = new Memo<Cut | undefined>();

/**
 * One long axis in two digits, with `tile` transforms in a tile.
 * @param instead only cuts over several blocks are considered; their passes may take this multiple of the time without idle threads
 */
export function cutAxis(length: number, tile: number, target: Target, instead?: number): Cut | undefined {
  if (!mayFuse(target)) return undefined;
  return cuts.of(target, `${length},${tile},${instead}`, () => searchCuts(length, tile, target, instead));
}

function searchCuts(length: number, tile: number, target: Target, instead: number | undefined): Cut | undefined {
  const { choice, deep } = target.calibration.cluster;
  const { run } = target.capacity;
  const candidates = blocksFor(length * tile, target).filter(({ blocks }) => blocks > 1 || !instead);
  let best: Cut | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const a of candidates.length > 0 ? divisors(length) : []) {
    const b = length / a;
    const fitting = candidates.filter((some) => divideAmong(some, [a, b]));
    if (a === 1 || b === 1 || fitting.length === 0) continue;
    const passes = radixChoices([a, b], target);
    const work = passes[0]!.cost + passes[1]!.cost + choice.unequal * Math.abs(Math.log2(a / b));
    if (work >= least) continue;
    const radices = passes.flatMap((choice) => choice.radices);
    for (const { blocks, cost: sharing } of fitting) {
      const points = (length * tile) / blocks;
      const short = (n: number) => ((n / blocks) * tile < run ? choice.shortShare : 0);
      const cost = work + short(a) + short(b) + choice.halving * sharing;
      if (cost >= least) continue;
      if (blocks > 1 && !keepsBusy(points, radices, target, instead)) continue;
      const ragged = [a, b].some((digit) => ((digit / blocks) * tile) % run !== 0);
      const share = shareOfBlocks({ blocks, points: length * tile, ragged }, radices, target);
      best = { lengths: [a, b], blocks, share: share * (blocks > 1 && isDeep([a, b], target) ? deep : 1) };
      least = cost;
    }
  }
  return best;
}

/**
 * The cut of an axis over a cluster, if one block could not hold whole runs of it or would be slow.
 * @param count the number of neighbouring transforms
 * @param strided the number of sides on which memory is contiguous along the transforms, not along the axis
 */
export function clusterFor(length: number, count: number, strided: number, target: Target): Tiled | undefined {
  const { contiguous, idle } = target.calibration.cluster;
  const { run, room, sharedBytes } = target.capacity;
  const whole = strided > 0 ? Math.min(run, count) : 1;
  // If one block cannot hold a single transform, a cluster is necessary. Otherwise a cluster may be faster than a block that occupies a
  // multiprocessor alone, if it moves whole runs on both sides.
  const needed = length > room;
  const bytes = length * sharedBytes * whole;
  const above = target.cluster ? forPrecision(target.cluster.above, target.precision) : Number.POSITIVE_INFINITY;
  const worth = strided === 2 ? bytes > above : strided === 0 && bytes > contiguous * above;
  if (!needed && !worth) return undefined;
  const least = needed ? 1 : whole;
  const tiles = Array.from({ length: whole - least + 1 }, (_, n) => whole - n).filter((tile) => count % tile === 0);
  // The tree may have assumed a tile of more columns, which keeps threads busier; if a cluster is necessary, any idle time is accepted.
  const idles = needed ? [idle, Number.POSITIVE_INFINITY] : [idle];
  for (const most of idles) {
    for (const tile of tiles) {
      const cut = cutAxis(length, tile, target, most);
      if (cut && (needed || !isDeep(cut.lengths, target))) return { ...cut, tile };
    }
  }
  return undefined;
}
