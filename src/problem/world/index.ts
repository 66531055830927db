/** Tensors that several ranks share, in normal form. */
export * from './boxes.ts';
export { normalizeRedistribution, normalizeWorldProblem, sharedShape } from './normalize.ts';
export type {
  Brick,
  BrickInput,
  DecompositionInput,
  ExchangeWay,
  Redistribution,
  RedistributionInput,
  SharedTensor,
  Sharing,
  SideInput,
  WorldProblem,
  WorldProblemInput,
} from './problem.ts';
export { bytesOnWire, sendsHalves } from './problem.ts';
export { boxStrides, boxText, brickSpan, bricksOfRank, bricksThatMeet, spanOfRank } from './sharing.ts';
