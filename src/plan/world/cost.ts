/** The cost of a decomposition: seconds of the slowest rank, and the bytes that it sends. */
import { realBytes } from '../../problem/index.ts';
import { bricksOfRank, bytesOnWire, lengthsOf, sendsHalves, type WorldProblem } from '../../problem/world/index.ts';
import { type Decomposition, decompositionsOf, stageTensor } from './decompositions.ts';
import type { Machine, Sending } from './machine.ts';
import { largestBox, type Reshape, type Traffic, trafficOf } from './reshapes.ts';
import { scheduleOf, type WorldSchedule } from './schedule.ts';

/** An exchange, in bytes. */
export interface ExchangeCost {
  readonly seconds: number;
  /** Bytes of all ranks, of the rank that sends the most, and between nodes. */
  readonly bytes: number;
  readonly worstBytes: number;
  readonly leavingBytes: number;
  readonly messages: number;
  /** Whether ranks pack or unpack messages by copies of their own, instead of in passes. */
  readonly copied: boolean;
}

export interface WorldCost {
  readonly decomposition: Decomposition;
  /** Seconds of all passes of a rank. */
  readonly computing: number;
  readonly exchanges: readonly ExchangeCost[];
  readonly seconds: number;
  /** Bytes of memory for messages on a rank, beside the caller's memory. */
  readonly memory: number;
}

/**
 * The planner's price of a pass, in its units per point.
 * @param lengths of a rank's box, batches last
 * @param axes that are transformed
 */
export type PriceOfPass = (lengths: readonly number[], axes: readonly number[]) => number;

export interface CostQuestion {
  readonly problem: WorldProblem;
  readonly machine: Machine;
  /** The number of ranks of a node. */
  readonly perNode: number;
  readonly chunks: number;
  readonly priceOfPass: PriceOfPass;
  /** The way of sending that a decomposition uses; default: messages. */
  readonly sending?: ((decomposition: Decomposition) => Sending) | undefined;
  /** The number of ranks whose messages are counted; if it is not all of them, bytes and messages are estimates. Default: all. */
  readonly counted?: number;
}

export function worldCost(question: CostQuestion, decomposition: Decomposition): WorldCost {
  const { problem, perNode, chunks } = question;
  const sending = question.sending?.(decomposition) ?? 'messages';
  const schedule = scheduleOf(problem, { decomposition, chunks, way: 'blocks' });
  const bytes = bytesOnWire(problem);
  const passes = decomposition.stages.map((_, n) => passSeconds(question, decomposition, n));
  const exchanges = schedule.reshapes.map((reshape, n) => {
    const traffic = trafficOf(reshape, perNode, question.counted);
    const copied = isCopied(schedule, n);
    // GPUs copy the caller's data in the caller's format.
    const stored = copied && sending !== 'messages' ? 2 * realBytes(problem.whole.edgeStorage) : bytes;
    const per = reshape.from.elements === 'real' ? stored / 2 : stored;
    // Kernels store the results of passes; the caller's bricks are copied.
    const way = sending === 'stores' && copied ? 'copies' : sending;
    const onLinks = linkSeconds(question, reshape, traffic, per);
    const seconds = onLinks + memorySeconds(question, reshape, traffic, { per, copied, way });
    return { cost: { ...trafficBytes(traffic, per), copied, seconds }, onLinks, way };
  });
  const computing = passes.reduce((sum, seconds) => sum + seconds, 0);
  const first = Number(schedule.reshapesFirst);
  const exchanging = exchanges.reduce((sum, { cost: { seconds }, onLinks, way }, n) => {
    const [before, stage] = [passes[n - first] ?? 0, decomposition.stages[n - first]];
    // All chunks but one are on their way while the pass before continues; stores are on their way while its last launch runs.
    const { chunks } = schedule.reshapes[n]!;
    const beside =
      way === 'stores'
        ? Math.min(onLinks, before / (stage?.axes.length ?? 1))
        : Math.min(onLinks, before) * (1 - 1 / chunks);
    return sum + seconds - beside;
  }, 0);
  const largest = schedule.reshapes.map(({ from, to }) =>
    Math.max(largestShare(from, problem), largestShare(to, problem)),
  );
  const memory = largest.length > 0 ? 2 * bytes * Math.max(...largest) : 0;
  return {
    decomposition,
    computing,
    exchanges: exchanges.map(({ cost }) => cost),
    seconds: computing + exchanging,
    memory,
  };
}

function largestShare(tensor: Reshape['from'], { ranks }: WorldProblem): number {
  return largestBox(tensor, ranks).reduce((a, b) => a * b, 1);
}

function trafficBytes({ elements, worst, leaving, messages }: Traffic, per: number) {
  return { bytes: elements * per, worstBytes: worst * per, leavingBytes: leaving * per, messages };
}

function passSeconds({ problem, machine, priceOfPass }: CostQuestion, { stages }: Decomposition, n: number): number {
  const tensor = stageTensor(problem, stages[n]!, 'before');
  const [brick] = bricksOfRank(tensor, 0);
  if (!brick) return 0;
  const lengths = lengthsOf(brick);
  const points = lengths.reduce((a, b) => a * b, 1) / (tensor.elements === 'real' ? 2 : 1);
  return points * priceOfPass(lengths, stages[n]!.axes) * machine.unit;
}

/** The seconds that links take for the slowest rank. */
function linkSeconds(
  { machine: { latency, bandwidth }, perNode }: CostQuestion,
  { chunks, ranks }: Reshape,
  traffic: Traffic,
  per: number,
): number {
  const inside = (traffic.worst - traffic.worstLeaving) * per;
  const between = traffic.worstLeaving * per;
  const wait = perNode < ranks ? latency.between : latency.inside;
  return inside / bandwidth.inside + between / bandwidth.between + wait * Math.max(chunks, traffic.worstMessages);
}

/** The seconds that a rank takes to move messages in its own memory. */
function memorySeconds(
  { machine, problem }: CostQuestion,
  { from }: Reshape,
  { worst }: Traffic,
  { per, copied, way }: { readonly per: number; readonly copied: boolean; readonly way: Sending },
): number {
  // Converting the caller's numbers to halves reads and writes them once more.
  const times = (copied ? 2 : 0) + (copied && way === 'messages' && sendsHalves(problem) ? 2 : 0);
  // Copies between GPUs read and write memory that passes wait for, and the part that stays on a rank is copied, too.
  const held = way === 'copies' ? largestShare(from, problem) : 0;
  return ((times * worst + held) * per) / machine.memory;
}

/** Whether an exchange needs copies. Only exchanges of the caller's own memory may: between stages, passes write and read the messages themselves. */
function isCopied({ reshapesFirst, passes }: WorldSchedule, n: number): boolean {
  const stageAfter = n + Number(!reshapesFirst);
  return stageAfter === 0 || stageAfter >= (passes?.decomposition.stages.length ?? 0);
}

/** The number of chunks of an exchange that overlaps with the pass before it, on a device whose work runs beside the host's. */
const CHUNKS_BESIDE = 4;

/** The number of decompositions, the cheapest ones, whose messages are all counted. */
const MOST_COUNTED = 8;

/** The number of ranks whose messages are counted for an estimate of all. */
const MOST_LOOKED_AT = 64;

/** Priced decompositions, cheapest first; of those that cost the same, the first one stays first. */
export function rankDecompositions(question: CostQuestion): WorldCost[] {
  const { problem, perNode } = question;
  const ofSeconds = (a: WorldCost, b: WorldCost) => a.seconds - b.seconds;
  const roughly = { ...question, counted: Math.min(perNode, MOST_LOOKED_AT) };
  const costs = decompositionsOf(problem).map((one) => worldCost(roughly, one));
  costs.sort(ofSeconds);
  const best = costs.slice(0, MOST_COUNTED).map(({ decomposition }) => worldCost(question, decomposition));
  return [...best.sort(ofSeconds), ...costs.slice(MOST_COUNTED)];
}

/**
 * The number of chunks of each exchange.
 * @param beside whether messages move while a pass is computed
 * @param leastBytes the least bytes of a chunk on a rank: smaller chunks cost more than they hide
 */
export function exchangeChunks({ chunks, whole, ranks }: WorldProblem, beside: boolean, leastBytes = 0): number {
  if (chunks !== 'auto') return chunks;
  if (!beside) return 1;
  const bytes = (2 * realBytes(whole.edgeStorage) * whole.size.reduce((a, b) => a * b, whole.batches)) / ranks;
  return Math.max(1, Math.min(CHUNKS_BESIDE, leastBytes > 0 ? Math.floor(bytes / leastBytes) : CHUNKS_BESIDE));
}
