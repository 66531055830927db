/**
 * There and back in one launch: passes along an axis, a product with what is known of its bins, and the passes back. That is a
 * cyclic convolution (rocFFT Bluestein design, "the convolution building block"; VkFFT guide 2.5.8): bins need no order in between.
 */
import type { PassesStep, PointwiseStep } from './leaf.ts';

/** What is done to single points on the way. */
export interface RoundTrip {
  /** To the bins, as the last pass there writes them. */
  readonly product: PointwiseStep;
  /** To the points, as the first pass of all reads them and the last one writes them. */
  readonly ends?: PointwiseStep;
}

/**
 * The passes of a transform → those there and back.
 * @param inverse there it is the inverse transform: what is known is conjugated by the caller.
 */
export function roundTrip(passes: PassesStep, { product, ends }: RoundTrip, inverse = false): PassesStep[] {
  const { input, output } = passes.lanesAlong;
  const sign = (backward: boolean) => (backward === inverse ? {} : { inverse: true as const });
  const there = { ...passes, ...sign(false), lanesAlong: { input, output }, write: product };
  const back = { ...passes, ...sign(true), lanesAlong: { input: output, output } };
  return ends
    ? [
        { ...there, read: ends },
        { ...back, write: ends },
      ]
    : [there, back];
}
