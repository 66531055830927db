/** The room's door: programs of patterns in, kernels and the buffers between them out. */
export { keyOf } from './key.ts';
export {
  type Launch,
  OUTPUT,
  type ProgramPieces,
  type ProgramTarget,
  piecesOf,
  type TransformLaunch,
} from './pieces.ts';
