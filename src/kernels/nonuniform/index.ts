/** The room's door: kernels of non-uniform transforms. */
export {
  type MarginWork,
  type ModeArray,
  marginKernel,
  modesKernel,
  packedModes,
  zeroKernel,
} from './grid.ts';
export { interpolationKernel } from './interpolate.ts';
export {
  CHUNK,
  chunksOf,
  type FineGrid,
  fineGridOf,
  type NonuniformShape,
  type NonuniformTarget,
  reachOf,
  weightLayoutOf,
} from './shape.ts';
export { spreadKernel } from './spread.ts';
export { weightsKernel } from './weights.ts';
