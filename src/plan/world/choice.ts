/** Which decomposition is taken: the cheapest one, of those that the problem allows. */
import { realBytes } from '../../problem/index.ts';
import type { WorldProblem } from '../../problem/world/index.ts';
import { type CostQuestion, costOf, type WorldCost } from './cost.ts';
import { decompositionsOf } from './decompositions.ts';

/** Chunks of an exchange that overlaps with the pass before it, on a device whose work runs beside the host's. */
const CHUNKS_BESIDE = 4;

/** Decompositions whose messages are all counted, the cheapest ones. */
const MOST_COUNTED = 8;

/** Ranks that the others are estimated by. */
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
 * @param beside whether messages move while a pass is computed.
 * @param leastBytes of what a rank holds of a chunk, where chunks of fewer cost more than they hide.
 */
export function chunksFor({ chunks, whole, ranks }: WorldProblem, beside: boolean, leastBytes = 0): number {
  if (chunks !== 'auto') return chunks;
  if (!beside) return 1;
  const bytes = (2 * realBytes(whole.edgeStorage) * whole.size.reduce((a, b) => a * b, whole.batches)) / ranks;
  return Math.max(1, Math.min(CHUNKS_BESIDE, leastBytes > 0 ? Math.floor(bytes / leastBytes) : CHUNKS_BESIDE));
}
