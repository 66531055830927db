/**
 * The adjoints of a convolution, under the real inner product, as problems that are run one after another.
 *
 * With F the transform, K and X the spectra of kernel and signal, the result is F⁻¹(K·X). The adjoint with respect to the signal takes a
 * cotangent y to F⁻¹(K̄·Y), a correlation; with respect to the kernel it is F⁻¹(X̄·Y), summed over the systems that share the kernel. Where
 * one of the two was conjugated, the conjugates below follow.
 *
 * A sum over systems is a transform along one more axis of which only bin 0 is written.
 */
import type { PlannedProblem } from '../arrays.ts';
import {
  type AdjointConvolution,
  kernelsOfEach,
  ownKernels,
  type ProblemOfAdjoint,
  resultSide,
} from '../convolution.ts';
import { FftError } from '../errors.ts';
import { channelsOf, packedStrides, stridedExtent, tensorShape } from '../layout/layout.ts';
import { normalFormOf, normalizeProblem } from '../normalize/normalize.ts';
import type { AnyProblemInput, Block, ComplexLayout, Convolution, Problem } from '../problem.ts';
import { layerToKernel } from './adjoint-layer.ts';
import type { AdjointStep, AdjointSteps } from './adjoint-steps.ts';

type Conjugate = Convolution['conjugate'];

const TO_SIGNAL: Readonly<Record<Conjugate, Conjugate>> = { none: 'kernel', kernel: 'none', signal: 'signal' };
const TO_KERNEL: Readonly<Record<Conjugate, Conjugate>> = { none: 'kernel', kernel: 'signal', signal: 'none' };

/** The adjoint with respect to the signal. @throws FftError `unsupported-feature`, `overlapping-strides` */
export function adjointToSignal(problem: Problem): AdjointSteps {
  refuseWithoutAdjoint(problem);
  return kernelsOfEach(problem.convolution!) > 1 ? sumOfKernels(problem) : correlation(problem);
}

/** Refuses problems without an adjoint. @throws FftError `unsupported-feature` for problems that are not linear, or have no adjoint yet */
function refuseWithoutAdjoint({ convolution, callbacks }: Problem): void {
  if (convolution!.crossPower) {
    const message =
      'convolution.crossPower divides each product by its magnitude, which is not linear and has no adjoint; plan without crossPower.';
    refuseFeature('convolution.crossPower', message);
  }
  if (callbacks) {
    const message =
      'A convolution with callbacks has no adjoint yet; plan it without them, and multiply the signal and the cotangent by the gates.';
    refuseFeature('callbacks', message);
  }
}

function refuseFeature(path: string, message: string): never {
  throw new FftError('unsupported-feature', message, { path });
}

/** A normal form with fields that users cannot set. */
function withAdjoint(input: AnyProblemInput, adjointConvolution: AdjointConvolution): PlannedProblem {
  return normalFormOf({ ...normalizeProblem(input), adjointConvolution } satisfies ProblemOfAdjoint);
}

/** The exchange of rows and columns for matrices that are stored in full; symmetric ones need none. */
function transposedMatrices({ matrix, symmetric, channels }: Convolution): Pick<AdjointConvolution, 'transposed'> {
  return channels || (matrix > 1 && !symmetric) ? { transposed: true } : {};
}

/** The fields that all steps take from the problem. Knobs are left out, as they are for the problem's own axes. */
function common({ precision, storage, edgeStorage, debug }: Problem) {
  return { precision, storage, edgeStorage, debug, directions: 'forward' } as const;
}

/** The adjoint with one kernel for each signal: the other factor is conjugated, and the sides are exchanged, channels of layers, too. */
function correlation(problem: Problem): AdjointSteps {
  const convolution = problem.convolution!;
  const channels = channelsOf(problem);
  const swap = resultSide(problem) === 'output';
  const sides = <T>({ input, output }: { readonly input: T; readonly output: T }) =>
    swap ? { input: output, output: input } : { input, output };
  const derived = withAdjoint(
    {
      ...problem,
      ...common(problem),
      // Convolutions are not measured, so neither are their adjoints.
      strategy: problem.strategy === 'measure' ? 'fast' : problem.strategy,
      ...{ strides: sides(problem.strides), offsets: sides(problem.offsets), layout: sides(problem.layout) },
      ...{ normalize: false, scale: { forward: problem.scale.forward } },
      ...(channels ? { coordinates: channels.out } : {}),
      convolution: {
        ...{ ...convolution, conjugate: TO_SIGNAL[convolution.conjugate] },
        ...(channels ? { channels: { in: channels.out, out: channels.in } } : {}),
      },
    },
    { like: problem, ...transposedMatrices(convolution) },
  );
  return {
    steps: [{ problem: derived, task: 'convolve', reads: 'input', writes: 'output', kernel: 'factor' }],
    between: [],
  };
}

/** The adjoint with several kernels for each signal: each result is correlated with its kernel, and all of them are added up. */
function sumOfKernels(problem: Problem): AdjointSteps {
  const { size, transform, omit, leftBatches, coordinates, batches, zeroPadding, scale } = problem;
  const convolution = problem.convolution!;
  const kernels = kernelsOfEach(convolution);
  const side = resultSide(problem);
  const strides = problem.strides[side];
  const [along, ofBatch] = [strides.at(-2)!, strides.at(-1)!];
  const folded = foldedBatches(problem, { coordinates: along, batches: ofBatch });
  const shape = [folded.leftBatches, ...size, folded.coordinates, kernels];
  const between = packedStrides(shape);
  const derived = withAdjoint(
    {
      ...common(problem),
      ...{ size, transform, omit, zeroPadding, scale: { forward: scale.forward } },
      ...{ leftBatches: folded.leftBatches, coordinates: folded.coordinates, batches: kernels },
      strides: {
        input: [folded.left ?? strides[0]!, ...strides.slice(1, -2), folded.along, batches * ofBatch],
        // The spectrum of reals is not written.
      },
      offsets: { input: problem.offsets[side] },
      layout: { input: problem.layout[side], output: 'interleaved' },
      convolution: { ...convolution, kernels: 'per-batch', conjugate: TO_SIGNAL[convolution.conjugate] },
    },
    { like: problem, ...transposedMatrices(convolution), result: { strides: between, layout: 'interleaved' } },
  );
  const own = folded.placesOf(between);
  const sum = sumAlong(problem, kernels, {
    ...{ leftBatches, size, coordinates, batches },
    from: [own.left, ...between.slice(1, -2), between.at(-1)!, own.coordinates, own.batches],
    to: problem.strides.input,
    ...{ offset: problem.offsets.input, layout: problem.layout.input, blocks: zeroPadding.space },
  });
  return {
    steps: [
      { problem: derived, task: 'convolve', reads: 'input', writes: { between: 0 }, kernel: 'factor' },
      { problem: sum, task: 'forward', reads: { between: 0 }, writes: 'output' },
    ],
    between: [{ elements: shape.reduce((a, b) => a * b, 1), complex: transform[0] === 'c2c' }],
  };
}

/** The place of the problem's batches in a problem whose own batches count kernels. */
interface FoldedBatches {
  readonly leftBatches: number;
  readonly coordinates: number;
  /** The stride of the left batches; default: as in the original problem. */
  readonly left?: number;
  /** The stride of the coordinates. */
  readonly along: number;
  /** The strides of the problem's dimensions, from the strides of the folded tensor. */
  placesOf(strides: readonly number[]): {
    readonly left: number;
    readonly coordinates: number;
    readonly batches: number;
  };
}

function foldedBatches(
  problem: Problem,
  strides: { readonly coordinates: number; readonly batches: number },
): FoldedBatches {
  const { leftBatches, coordinates, batches, convolution } = problem;
  const same = { leftBatches, coordinates, along: strides.coordinates };
  if (batches === 1) {
    return { ...same, placesOf: (own) => ({ left: own[0]!, coordinates: own.at(-2)!, batches: 1 }) };
  }
  const goesOn = coordinates === 1 || strides.batches === coordinates * strides.coordinates;
  if (convolution!.matrix === 1 && goesOn) {
    return {
      ...{ leftBatches, coordinates: coordinates * batches },
      along: coordinates === 1 ? strides.batches : strides.coordinates,
      placesOf: (own) => ({ left: own[0]!, coordinates: own.at(-2)!, batches: coordinates * own.at(-2)! }),
    };
  }
  if (leftBatches === 1) {
    return {
      ...{ leftBatches: batches, coordinates, left: strides.batches, along: strides.coordinates },
      placesOf: (own) => ({ left: 1, coordinates: own.at(-2)!, batches: own[0]! }),
    };
  }
  return refuseFeature(
    'convolution.kernels',
    `The adjoint of a convolution with ${convolution!.kernels} kernels sums over them, which it does not for ${leftBatches} left batches × ${coordinates} coordinates × ${batches} batches with these strides; plan one kernel at a time, or without left batches.`,
  );
}

/** A tensor whose elements are summed along one more axis, behind the axes of `size`. */
interface Summed {
  readonly size: readonly number[];
  readonly leftBatches: number;
  readonly coordinates: number;
  readonly batches: number;
  /** The strides of the summands: [left, axes …, the axis of the sum, coordinate, batch]. */
  readonly from: readonly number[];
  /** The strides of the sums, without the axis of the sum. */
  readonly to: readonly number[];
  readonly offset: number;
  readonly layout: ComplexLayout;
  readonly blocks: readonly (Block | null)[];
}

/** A sum along an axis, which is bin 0 of a transform. */
function sumAlong(problem: Problem, count: number, summed: Summed): PlannedProblem {
  const { size, leftBatches, coordinates, batches, from, to, offset, layout, blocks } = summed;
  // Only bin 0 is written: the strides of the axis put other bins behind everything else.
  const shape = [leftBatches, ...size, coordinates, batches];
  const { before, behind } = stridedExtent(shape, to);
  const beyond = before + behind + 1;
  return normalizeProblem({
    ...common(problem),
    transform: problem.transform[0] === 'c2c' ? 'c2c' : 'dht',
    ...{ size: [...size, count], omit: [...size.map(() => true), false], leftBatches, coordinates, batches },
    strides: { input: from, output: [...to.slice(0, -2), beyond, ...to.slice(-2)] },
    offsets: { output: offset },
    layout: { input: 'interleaved', output: layout },
    zeroPadding: { space: [...blocks, null], frequency: [...blocks, count > 1 ? { from: 1, to: count } : null] },
  });
}

/**
 * The adjoint with respect to the kernel: the spectrum of the signal; its product with the spectrum of the cotangent, system by system; and the
 * sum over the systems that share a kernel.
 * @throws FftError `unsupported-feature`
 */
export function adjointToKernel(problem: Problem): AdjointSteps {
  refuseWithoutAdjoint(problem);
  if (channelsOf(problem)) return layerToKernel(problem);
  const { convolution, edgeStorage, transform } = problem;
  const { symmetric, kernelSpectrum } = convolution!;
  if (symmetric) {
    refuseFeature(
      'convolution.symmetric',
      'The adjoint with respect to a kernel of symmetric matrices is not there; plan without symmetric, and add the results of entries ij and ji.',
    );
  }
  if (kernelSpectrum === 'user') {
    refuseFeature(
      'convolution.kernelSpectrum',
      "The adjoint with respect to a spectrum of the user's is not there; plan with kernelSpectrum 'prepared', whose adjoint is with respect to the kernel itself, and take the adjoint of the inverse transform of that.",
    );
  }
  if (edgeStorage === 'half') {
    refuseFeature(
      'edgeStorage',
      "The adjoint with respect to a kernel keeps a spectrum in memory of the type of edgeStorage, for which 'half' is too little; use 'single'.",
    );
  }
  const systems = systemsOf(problem);
  const spectrum = signalSpectrum(problem, systems);
  const product = systemProducts(problem, systems);
  const complex = transform[0] === 'c2c';
  const points = problem.size.reduce((a, b) => a * b, 1);
  const bins = tensorShape(problem, 'output')
    .slice(1, -2)
    .reduce((a, b) => a * b, 1);
  const signals = problem.leftBatches * problem.coordinates * problem.batches;
  const first: AdjointStep = { problem: spectrum, task: 'forward', reads: 'factor', writes: { between: 0 } };
  const middle = { problem: product.problem, task: 'convolve', reads: 'input', kernel: { between: 0 } } as const;
  const memory = { elements: bins * signals, complex: true };
  if (!product.sum) return { steps: [first, { ...middle, writes: 'output' }], between: [memory] };
  return {
    steps: [
      first,
      { ...middle, writes: { between: 1 } },
      { problem: product.sum, task: 'forward', reads: { between: 1 }, writes: 'output' },
    ],
    between: [memory, { elements: points * product.systems, complex }],
  };
}

/** A dimension that counts systems. */
interface SystemDimension {
  readonly count: number;
  /** The stride from one system to the next in the cotangent. */
  readonly stride: number;
  /** Whether each index along this dimension has a kernel of its own. */
  readonly own: boolean;
  readonly name: 'left' | 'coordinate' | 'batch';
}

/** The dimensions that count systems: they become omitted axes of the product, each with a factor of its own. */
function systemsOf(problem: Problem): readonly SystemDimension[] {
  const { leftBatches, coordinates, batches, convolution } = problem;
  const strides = problem.strides[resultSide(problem)];
  const own = ownKernels(convolution!);
  const all: readonly SystemDimension[] = [
    { name: 'left', count: leftBatches, stride: strides[0]!, own: false },
    { name: 'coordinate', count: coordinates, stride: strides.at(-2)!, own: own.coordinates },
    { name: 'batch', count: batches, stride: strides.at(-1)!, own: own.batches },
  ];
  // Matrices take the coordinates of signal and result together, so coordinates count no systems then.
  return all.filter(({ name, count }) => count > 1 && !(name === 'coordinate' && convolution!.matrix > 1));
}

/** The transform of the signal, packed: bins, systems, and with matrices the coordinates last. */
function signalSpectrum(problem: Problem, systems: readonly SystemDimension[]): PlannedProblem {
  const { size, transform, omit, leftBatches, coordinates, batches, strides, offsets, layout, zeroPadding } = problem;
  const bins = tensorShape(problem, 'output').slice(1, -2);
  const axes = packedStrides(bins);
  let next = bins.reduce((a, b) => a * b, 1);
  const placed = new Map<string, number>();
  for (const { name, count } of systems) {
    placed.set(name, next);
    next *= count;
  }
  const at = (name: SystemDimension['name']) => placed.get(name) ?? next;
  return normalizeProblem({
    ...common(problem),
    ...{ size, transform, omit, leftBatches, coordinates, batches, zeroPadding },
    strides: { input: strides.input, output: [at('left'), ...axes, at('coordinate'), at('batch')] },
    offsets: { input: offsets.input },
    layout: { input: layout.input, output: 'interleaved' },
  });
}

interface SystemProducts {
  readonly problem: PlannedProblem;
  /** The sum; missing where the product is the result. */
  readonly sum?: PlannedProblem;
  /** The number of results before they are summed. */
  readonly systems: number;
}

function systemProducts(problem: Problem, systems: readonly SystemDimension[]): SystemProducts {
  const { size, transform, omit, batches, zeroPadding, scale } = problem;
  const convolution = problem.convolution!;
  const { matrix } = convolution;
  const kernels = kernelsOfEach(convolution);
  const side = resultSide(problem);
  const strides = problem.strides[side];
  const points = size.reduce((a, b) => a * b, 1);
  const shared = systems.filter(({ own }) => !own);
  const sums = shared.reduce((all, { count }) => all * count, 1);
  // Systems that are summed are neighbours; the entries of matrices and the kernels are behind them.
  const unit = points * sums;
  let next = points;
  const places = new Map<SystemDimension, number>();
  for (const one of shared) {
    places.set(one, next);
    next *= one.count;
  }
  const entries = matrix * matrix;
  next = unit * entries;
  for (const one of systems.filter(({ own }) => own)) {
    places.set(one, next);
    next *= one.count;
  }
  // The kernels of the product are the columns of matrices, which come after the kernels of the problem.
  const [ofKernel, ofColumn] = [unit, unit * kernels];
  const permuted = matrix > 1 && kernels > 1;
  const direct = sums === 1 && !permuted;
  const owned = systems.reduce((all, { count, own }) => all * (own ? count : 1), 1);
  const derived = withAdjoint(
    {
      ...common(problem),
      ...{ size: [...size, ...systems.map(({ count }) => count)], transform: transform[0]! },
      ...{ omit: [...omit, ...systems.map(() => true)], scale: { forward: scale.forward } },
      ...{ coordinates: matrix, batches: kernels },
      strides: {
        input: [
          1,
          ...strides.slice(1, -2),
          ...systems.map(({ stride }) => stride),
          strides.at(-2)!,
          batches * strides.at(-1)!,
        ],
      },
      offsets: { input: problem.offsets[side] },
      layout: { input: problem.layout[side], output: 'interleaved' },
      zeroPadding: {
        space: [...zeroPadding.space, ...systems.map(() => null)],
        frequency: [...zeroPadding.frequency, ...systems.map(() => null)],
      },
      convolution: { kernels: matrix, conjugate: TO_KERNEL[convolution.conjugate], kernelSpectrum: 'user' },
    },
    {
      result: {
        strides: [1, ...packedStrides(size), ...systems.map((one) => places.get(one)!), ofColumn * matrix, ofKernel],
        layout: direct ? problem.layout.input : 'interleaved',
      },
    },
  );
  const all = sums * entries * kernels * owned;
  if (direct) return { problem: derived, systems: all };
  const sum = sumAlong(problem, sums, {
    ...{ size: [], leftBatches: points, coordinates: entries, batches: kernels * owned },
    from: [1, points, ofColumn, owned > 1 ? unit * entries : ofKernel],
    to: [1, points, points * entries],
    ...{ offset: 0, layout: problem.layout.input, blocks: [] },
  });
  return { problem: derived, sum, systems: all };
}
