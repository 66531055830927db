/** The room's door: kernels of non-uniform transforms. */
export {
  clearKernel,
  type MarginWork,
  type ModeArray,
  marginKernel,
  modesKernel,
  packedModes,
} from './grid.ts';
export { interpolationKernel } from './interpolate.ts';
export {
  CHUNK,
  chunkCount,
  type FineGrid,
  fineGridOf,
  type NonuniformShape,
  type NonuniformTarget,
  spreadPoints,
  weightLayoutOf,
} from './shape.ts';
export { spreadKernel } from './spread.ts';
export { weightsKernel } from './weights.ts';
