/** The choice of a decomposition: the cheapest of all that the problem allows. */
import { realBytes } from '../../problem/index.ts';
import type { WorldProblem } from '../../problem/world/index.ts';
import { type CostQuestion, costOf, type WorldCost } from './cost.ts';
import { decompositionsOf } from './decompositions.ts';

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
  const costs = decompositionsOf(problem).map((one) => costOf(roughly, one));
  costs.sort(ofSeconds);
  const best = costs.slice(0, MOST_COUNTED).map(({ decomposition }) => costOf(question, decomposition));
  return [...best.sort(ofSeconds), ...costs.slice(MOST_COUNTED)];
}

/**
 * The number of chunks of each exchange.
 * @param beside whether messages move while a pass is computed
 * @param leastBytes the least bytes of a chunk on a rank: smaller chunks cost more than they hide
 */
export function chunksFor({ chunks, whole, ranks }: WorldProblem, beside: boolean, leastBytes = 0): number {
  if (chunks !== 'auto') return chunks;
  if (!beside) return 1;
  const bytes = (2 * realBytes(whole.edgeStorage) * whole.size.reduce((a, b) => a * b, whole.batches)) / ranks;
  return Math.max(1, Math.min(CHUNKS_BESIDE, leastBytes > 0 ? Math.floor(bytes / leastBytes) : CHUNKS_BESIDE));
}
