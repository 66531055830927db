/**
 * A transform and its inverse in one launch: passes along an axis, a product with factors known at plan time, and the passes of the inverse.
 * Together they are a cyclic convolution (rocFFT Bluestein design, "the convolution building block"; VkFFT guide 2.5.8): bins need no order in
 * between.
 */
import type { HermitianSplit, LeafStep, MultiplyStep, PassesStep, PointwiseStep } from '../tree/leaf.ts';

/** The steps for single points, beside the passes. */
export interface ConvolveSteps {
  /** The product with the bins: the last pass of the first transform applies it as it writes. */
  readonly product: PointwiseStep | MultiplyStep | HermitianSplit;
  /** The steps at both ends: the first pass of all applies `read` as it reads, the last pass of all `write` as it writes. */
  readonly ends?: { readonly read: PointwiseStep; readonly write: PointwiseStep };
}

/**
 * The passes of a transform → the steps of the convolution.
 * @param inverse the first transform is the inverse one; the caller conjugates the factors
 */
export function convolveSteps(passes: PassesStep, { product, ends }: ConvolveSteps, inverse = false): LeafStep[] {
  const { input, output } = passes.lanesAlong;
  const sign = (backward: boolean) => (backward === inverse ? {} : { inverse: true as const });
  const isStep = 'do' in product;
  const first: PassesStep = {
    ...{ ...passes, ...sign(false), lanesAlong: { input, output } },
    ...(isStep ? {} : { write: product }),
    ...(ends ? { read: ends.read } : {}),
  };
  const second: PassesStep = {
    ...{ ...passes, ...sign(true), lanesAlong: { input: output, output } },
    ...(ends ? { write: ends.write } : {}),
  };
  return [first, ...(isStep ? [product] : []), second];
}
