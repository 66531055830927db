/**
 * omnifft/world: one transform over many ranks.
 *
 * `openWorld` gives a world, `world.plan` a plan on all of its ranks, `plan.forward` a spectrum that they share.
 * @module omnifft/world
 */
export type { ExchangeCost, Machine } from '../plan/world/index.ts';
export type { Brick, BrickInput, RedistributionInput, SideInput, WorldProblemInput } from '../problem/world/index.ts';
export type { DecompositionFacts, WorldFacts } from './explain.ts';
export {
  type GpusWorldOptions,
  type MpiWorldOptions,
  openWorld,
  type WorkersWorldOptions,
  type WorldKind,
} from './open.ts';
export { WorldMove, WorldPlan } from './plan.ts';
export type { LocalData, RankData, WorldSide } from './ranks/data.ts';
export { type Simulation, type SimulationOptions, simulateWorld } from './simulate.ts';
export { World, type WorldPlanOptions } from './world.ts';
