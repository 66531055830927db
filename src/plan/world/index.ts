/** Decompositions and schedules of transforms over many ranks: pure data, which any fabric can run. */
export {
  type CostQuestion,
  type ExchangeCost,
  exchangeChunks,
  type PriceOfPass,
  rankDecompositions,
  type WorldCost,
  worldCost,
} from './cost.ts';
export { type Decomposition, decompositionsOf, type Stage, stageTensor } from './decompositions.ts';
export { type Links, type Machine, type Sending, sendingOfPeers, usualMachine } from './machine.ts';
export { type LocalPass, localPass } from './passes.ts';
export { type Block, type BoxInMemory, fillsItsMemory, isOwn, type Memory, memories } from './places.ts';
export { isSameSharing, piecesFrom, piecesTo, type Reshape, type Traffic, trafficOf } from './reshapes.ts';
export {
  type Copy,
  type ExchangeStep,
  elementsCounted,
  movesAsItIs,
  type PassPart,
  type PassStep,
  type RankSchedule,
  rankSchedule,
  redistributionSchedule,
  type ScheduleChoice,
  type ScheduledWay,
  type Step,
  scheduleOf,
  type Transfer,
  type WorldSchedule,
} from './schedule.ts';
