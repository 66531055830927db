/**
 * The adjoint of a spectral layer with respect to its matrices, as problems that are run one after another.
 *
 * With X and Y the spectra of signal and result at the kept bins, Y = X·H, the adjoint takes the spectrum G of a cotangent to X̄·G at each bin,
 * summed over batches and left batches. Where a factor is conjugated, the conjugates below follow. Half a spectrum has each bin once, but its
 * bins between the ends count twice in a result of reals.
 *
 * The sum over batches is computed by the launch that otherwise multiplies channels by matrices: the batches take the place of its input channels, the
 * channels of the cotangent that of its batches, and X that of its matrices.
 */
import type { PlannedProblem } from '../arrays.ts';
import type { BuiltCallback, BuiltCallbacks } from '../callbacks.ts';
import type { ProblemOfAdjoint } from '../convolution.ts';
import type { ProblemOfStorages } from '../layout/layout.ts';
import { normalFormOf, normalizeProblem } from '../normalize/normalize.ts';
import { keptBins } from '../normalize/read-convolution.ts';
import type { Convolution, Problem, Side } from '../problem.ts';
import type { AdjointSteps } from './adjoint-steps.ts';
import { Steps } from './steps.ts';

/** Which factor of the product X̄·G is conjugated, by the word that the layer has for its own product X·H: `signal` is G here, `kernel` is X. */
const OF_PRODUCT: Readonly<Record<Convolution['conjugate'], Convolution['conjugate']>> = {
  none: 'kernel',
  kernel: 'signal',
  signal: 'none',
};

/** The adjoint of a layer with respect to its matrices, in the layout in which `prepareKernel` takes them. */
export function layerToKernel(problem: Problem): AdjointSteps {
  const { channels } = problem.convolution!;
  const bins = keptBins(problem).reduce((a, b) => a * b, 1);
  const systems = problem.leftBatches * problem.batches;
  const { precision } = problem;
  return {
    steps: [
      { problem: keptSpectrum(problem, 'input'), task: 'convolve', reads: 'factor', writes: { between: 0 } },
      { problem: keptSpectrum(problem, 'output'), task: 'convolve', reads: 'input', writes: { between: 1 } },
      {
        ...{ problem: productOfSpectra(problem, bins, systems), task: 'convolve' },
        ...{ reads: { between: 1 }, kernel: { between: 0 }, writes: 'output' },
      },
    ],
    between: [channels!.in, channels!.out].map((count) => ({
      ...{ elements: bins * systems * count, complex: true, storage: precision },
    })),
  };
}

/** The transform of one side of a layer to its kept bins, packed: bins, systems, channels. */
function keptSpectrum(problem: Problem, side: Side): PlannedProblem {
  const { size, transform, leftBatches, batches, precision, storage, edgeStorage, debug, scale } = problem;
  const { channels, modes } = problem.convolution!;
  const count = channels![side === 'input' ? 'in' : 'out'];
  const own = normalizeProblem({
    ...{ size, transform, leftBatches, coordinates: count, batches, precision, storage, edgeStorage, debug },
    strides: { input: problem.strides[side] },
    offsets: { input: problem.offsets[side] },
    layout: { input: problem.layout[side], output: 'interleaved' },
    zeroPadding: { space: problem.zeroPadding.space },
    scale: { forward: side === 'input' ? 1 : scale.forward },
    convolution: { channels: { in: count, out: count }, modes: modes! },
  });
  const kept = keptBins(problem);
  const bins = kept.reduce((a, b) => a * b, 1);
  const along = kept.map((_, axis) => kept.slice(0, axis).reduce((a, b) => a * b, 1));
  const strides = [bins, ...along, bins * leftBatches * batches, bins * leftBatches];
  return normalFormOf({
    ...own,
    adjointConvolution: {
      ends: side === 'input' ? 'bins' : 'scaled bins',
      result: { strides, layout: 'interleaved' },
    },
  } satisfies ProblemOfAdjoint);
}

/** The product of both spectra at each bin, summed over systems: one launch, which transforms nothing. */
function productOfSpectra(problem: Problem, bins: number, systems: number): PlannedProblem {
  const { precision, edgeStorage, debug, transform, layout, convolution } = problem;
  const { channels, conjugate } = convolution!;
  const own = normalizeProblem({
    ...{ size: [bins], coordinates: systems, batches: channels!.out, precision, debug, directions: 'forward' },
    layout: { input: 'interleaved', output: transform[0] === 'r2c' ? 'interleaved' : layout.input },
  });
  return normalFormOf({
    ...own,
    omit: [true],
    sideStorage: { output: edgeStorage },
    strides: { ...own.strides, output: [1, 1, bins, bins * channels!.in] },
    convolution: {
      ...convolution!,
      ...{ channels: { in: systems, out: channels!.in }, modes: [bins] },
      ...{ kernelSpectrum: 'user', conjugate: OF_PRODUCT[conjugate] },
    },
    callbacks: layerWeights(problem),
  } satisfies Problem & ProblemOfStorages);
}

/** The store of a product of half spectra, which doubles bins between the ends of the first axis. */
function layerWeights({ size, transform, convolution }: Problem): BuiltCallbacks | null {
  const count = convolution!.modes![0]!;
  const to = Math.min(count, Math.ceil(size[0]! / 2));
  if (transform[0] !== 'r2c' || to <= 1) return null;
  const steps = new Steps();
  const index = steps.append({ op: 'index-mod', a: steps.append({ op: 'place', dimension: 1 }), by: count });
  const two = steps.constant(2);
  const result = (['re', 'im'] as const).map((op) => {
    const b = steps.append({ op });
    return steps.append({ op: 'where', index, from: 1, to, a: steps.mul(b, two), b });
  });
  const store: BuiltCallback = { takes: 'complex', gives: 'complex', nodes: steps.nodes, result };
  const none = { load: null, store: null };
  return { forward: none, inverse: { load: null, store }, arrays: {} };
}
