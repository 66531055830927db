/** The room's door: programs of patterns in, kernels and the buffers between them out. */
export { keyOf } from './key.ts';
export {
  arrayName,
  type BuiltCallback,
  type Decided,
  type Launch,
  OUTPUT,
  type PlannedTransform,
  type ProgramPieces,
  type ProgramTarget,
  type Rows,
  rowOf,
  type TransformLaunch,
  USUALLY,
  WAYS,
} from './launches.ts';
export { piecesOf } from './pieces.ts';
