/** Simulates a world of any size, without its ranks. */

import type { ProfileName } from '../engine/index.ts';
import {
  type Decomposition,
  exchangeChunks,
  type Machine,
  rankDecompositions,
  sendingOfPeers,
} from '../plan/world/index.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';
import { normalizeWorldProblem, type WorldProblemInput } from '../problem/world/index.ts';
import { decompositionFacts, exchangeOfPeers, explainWorld, type WorldFacts } from './explain.ts';
import { namedMachine, pricesOf } from './pricing/pricing.ts';

export interface SimulationOptions {
  readonly ranks: number;
  /** Number of ranks on a node. Default: all ranks are on one node. */
  readonly perNode?: number;
  /** The result of `world.measure()`. Default: a guess. */
  readonly machine?: Machine;
  /** Kind of each rank's device, where no machine is given. Default: a processor. */
  readonly profile?: ProfileName;
}

export interface Simulation extends WorldFacts {
  explain(): string;
}

/**
 * Plans a transform for a world that does not exist, and predicts its messages and its time in seconds.
 * @throws FftError (as a rejection) as `world.plan`; `invalid-argument` for a number of ranks that is not a positive integer
 */
export async function simulateWorld(problem: WorldProblemInput, options: SimulationOptions): Promise<Simulation> {
  const { ranks, perNode = ranks } = options;
  for (const [name, value] of [
    ['ranks', ranks],
    ['perNode', perNode],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new FftError('invalid-argument', `${name} is ${show(value)}; it must be a whole number of at least 1.`);
  }
  const machine = options.machine ?? (await namedMachine(options.profile));
  const normal = normalizeWorldProblem(problem, ranks);
  const chunks = exchangeChunks(normal, false);
  const priceOfPass = pricesOf(normal.whole, machine.profile);
  // GPUs of one host reach one another's memory.
  const arePeers = machine.profile.lockstep !== 'vector' && perNode >= ranks;
  const sending = arePeers ? (one: Decomposition) => sendingOfPeers(normal, one) : undefined;
  const costs = rankDecompositions({ problem: normal, machine, perNode, chunks, priceOfPass, sending });
  const [chosen, ...rejected] = costs.map(decompositionFacts);
  const exchange = arePeers ? exchangeOfPeers(sending!(costs[0]!.decomposition)) : normal.exchange;
  const facts: WorldFacts = { ranks, perNode, chosen: chosen!, rejected, exchange, chunks };
  return { ...facts, explain: () => explainWorld(facts) };
}
