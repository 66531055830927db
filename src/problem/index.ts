/** The room `problem/`: the normal form of problems, and the error type of the whole library. */
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
  SpectrumData,
  WrittenSide,
} from './arrays.ts';
export {
  arraysOf,
  type BuiltCallback,
  type BuiltCallbacks,
  type Callback,
  type CallbackArray,
  type CallbackBuilder,
  type CallbackComplex,
  type CallbackCondition,
  type CallbackIndex,
  type CallbackNode,
  type CallbackPlace,
  type CallbackReal,
  type CallbackResult,
  type Callbacks,
  type CallbackValue,
  coordinatesUsed,
  loadedArrays,
} from './callbacks.ts';
export {
  type AdjointConvolution,
  adjointConvolutionOf,
  directionsOf,
  kernelCounts,
  kernelsOfEach,
  ownKernels,
  resultSide,
} from './convolution.ts';
export type { Direction, Directions } from './directions.ts';
export { FftError, type FftErrorCode, type FftErrorOptions, type FftProblem, fftErrorCodes } from './errors.ts';
export { copyElements, type ElementRuns, elementRuns } from './layout/elements.ts';
export {
  blocksOf,
  channelsOf,
  defaultStrides,
  type ElementKind,
  elementBytes,
  elementKind,
  hermitianLength,
  isRealTransform,
  keepsReals,
  logicalLength,
  packedStrides,
  realBytes,
  realRowLength,
  scaleFactors,
  storageOfSide,
  tensorShape,
  tensorSpan,
  transformedKind,
  withHalves,
  withoutCallbacks,
  wordsOf,
} from './layout/layout.ts';
export { type BlockRun, memoryPlace, type SplitAxis, splitAxisOf, withSplitAxes } from './layout/split-axis.ts';
export { lengthsAlone, parseDescriptor } from './normalize/descriptor.ts';
export { formatDescriptor } from './normalize/descriptor-format.ts';
export { normalFormOf, normalizeProblem } from './normalize/normalize.ts';
export { convolvingCallbacks, keptBins } from './normalize/read-convolution.ts';
export type {
  AnyProblemInput,
  Band,
  Block,
  ComplexLayout,
  Convolution,
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
