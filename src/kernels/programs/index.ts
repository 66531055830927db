/** The room's door: programs of patterns in, kernels and the buffers between them out. */
export { kernelKey } from './key.ts';
export {
  type BuiltCallback,
  type Decided,
  type Launch,
  nameOfRead,
  OUTPUT,
  type PlannedTransform,
  type ProgramPieces,
  type ProgramTarget,
  type Rows,
  rowShape,
  type TransformLaunch,
  USUALLY,
  WAYS,
} from './loops/launches.ts';
export { programPieces } from './pieces.ts';
