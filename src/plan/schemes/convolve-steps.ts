/**
 * There and back in one launch: passes along an axis, a product with what is known of its bins, and the passes back. That is a
 * cyclic convolution (rocFFT Bluestein design, "the convolution building block"; VkFFT guide 2.5.8): bins need no order in between.
 */
import type { HermitianSplit, LeafStep, MultiplyStep, PassesStep, PointwiseStep } from '../tree/leaf.ts';

/** What is done to single points on the way. */
export interface ConvolveSteps {
  /** To the bins, as the last pass there writes them. */
  readonly product: PointwiseStep | MultiplyStep | HermitianSplit;
  /** To the points, as the first pass of all reads them and the last one writes them. */
  readonly ends?: { readonly read: PointwiseStep; readonly write: PointwiseStep };
}

/**
 * The passes of a transform → the steps there and back.
 * @param inverse there it is the inverse transform: the caller conjugates what is known.
 */
export function convolveSteps(passes: PassesStep, { product, ends }: ConvolveSteps, inverse = false): LeafStep[] {
  const { input, output } = passes.lanesAlong;
  const sign = (backward: boolean) => (backward === inverse ? {} : { inverse: true as const });
  const isStep = 'do' in product;
  const there: PassesStep = {
    ...{ ...passes, ...sign(false), lanesAlong: { input, output } },
    ...(isStep ? {} : { write: product }),
    ...(ends ? { read: ends.read } : {}),
  };
  const back: PassesStep = {
    ...{ ...passes, ...sign(true), lanesAlong: { input: output, output } },
    ...(ends ? { write: ends.write } : {}),
  };
  return [there, ...(isStep ? [product] : []), back];
}
