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
  dimensionsOf,
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
export { lengthsAlone, parseDescriptor } from './descriptor.ts';
export { formatDescriptor } from './descriptor-format.ts';
export type { Direction, Directions } from './directions.ts';
export { copyElements, type ElementRuns, elementRuns } from './elements.ts';
export { FftError, type FftErrorCode, type FftErrorOptions, type FftProblem, fftErrorCodes } from './errors.ts';
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
  realBytes,
  realRowLength,
  scaleFactors,
  tensorShape,
  tensorSpan,
  transformedKind,
  withoutCallbacks,
  wordsOf,
} from './layout.ts';
export { normalFormOf, normalizeProblem } from './normalize.ts';
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
export { convolvingCallbacks, keptBins } from './read-convolution.ts';
export { storageOfSide, withHalves } from './side-storage.ts';
export { type BlockRun, placeOf, type SplitAxis, splitAxisOf, withSplitAxes } from './split-axis.ts';
