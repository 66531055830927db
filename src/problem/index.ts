/** The room `problem/`: what is asked for, in one normal form, and the error type of the whole library. */
export type {
  Checked,
  Facts,
  FactsOf,
  HostArray,
  NewData,
  NewFloat32Array,
  NewFloat64Array,
  NewUint8Array,
  ParsedDescriptor,
  PlanarData,
  PlannedDirection,
  PlannedProblem,
  ProblemLike,
  ReadSide,
  SideData,
  WrittenSide,
} from './arrays.ts';
export { parseDescriptor } from './descriptor.ts';
export { formatDescriptor } from './descriptor-format.ts';
export { copyElements, type ElementRuns, elementRuns } from './elements.ts';
export { FftError, type FftErrorCode, type FftErrorOptions, type FftProblem, fftErrorCodes } from './errors.ts';
export {
  blocksOf,
  defaultStrides,
  type ElementKind,
  elementBytes,
  elementKind,
  hermitianLength,
  isRealTransform,
  logicalLength,
  realBytes,
  realRowLength,
  scaleFactors,
  stridedSpan,
  tensorShape,
  tensorSpan,
  wordsOf,
} from './layout.ts';
export { normalizeProblem } from './normalize.ts';
export type {
  AnyProblemInput,
  Block,
  ComplexLayout,
  Direction,
  Directions,
  Placement,
  Precision,
  Problem,
  ProblemInput,
  Side,
  Sides,
  Storage,
  Strategy,
  TransformKind,
  Tuning,
} from './problem.ts';
