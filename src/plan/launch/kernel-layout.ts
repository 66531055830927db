/**
 * The layout of a convolution kernel's spectrum as a launch reads it: its dimensions are the loops of the launch. It is built like the
 * layouts of input and output (`leaf-sides.ts`): it begins as the memory of the spectrum and is reordered until it matches the loops.
 */
import { digits, type Layout, memory, permute, seenThrough, without } from '../../layout/index.ts';
import type { Span } from '../group/tiling.ts';
import { KERNEL, type KernelFactors } from '../tree/leaf.ts';
import type { DimensionStride, KernelProduct } from '../tree/node.ts';

/** A loop of a leaf over bins: a dimension of its tile or of its batch. */
interface BinLoop {
  readonly count: number;
  readonly place: DimensionStride | undefined;
  /** The stride in the kernel's memory, in complex numbers. */
  readonly step: number;
}

/** The convolution kernel as factors of bins. @param tile dimensions of a tile of bins */
export function kernelFactors(
  product: KernelProduct,
  tile: readonly (DimensionStride & Pick<Span, 'count'>)[],
  batch: readonly Span[],
): KernelFactors {
  const loops = [
    ...tile.map((place): BinLoop => ({ count: place.count, place, step: binStep(place, product) })),
    ...batch.map((span): BinLoop => {
      const { count, places } = span;
      return { count, place: places?.output, step: kernelStep(span, product) };
    }),
  ];
  const { matrix, symmetric, conjugate, crossPower, transposed } = product;
  const own = { matrix, symmetric, conjugate, crossPower, ...(transposed ? { transposed } : {}) };
  return { ...own, layout: spectrumLayout(product, loops) };
}

/**
 * The stride of a loop in the memory of the kernels, in complex numbers: from bin to bin along an axis, or from kernel to kernel if the
 * loop counts kernels. (A loop over kernels reads the same signal again: its input stride is 0.)
 */
export function kernelStep({ places }: Pick<Span, 'places'>, product: KernelProduct): number {
  if (!places) return 0;
  return places.input.stride === 0 ? product.kernel : binStep(places.output, product);
}

/** The distance in the kernel's memory between bins that are one step apart in the tensor. */
function binStep(place: DimensionStride, product: KernelProduct): number {
  return product.strides[place.dimension]! * naturalStep(place, product);
}

/**
 * The stride of a loop over bins in natural order, given its stride in the order in which uploads leave bins. Uploads of lengths n₁, n₂, …
 * leave bin k₁ + n₁·(k₂ + n₂·…) at place (k₁·n₂ + k₂)·…; a loop counts one of the digits k₁, k₂, …
 */
function naturalStep({ dimension, stride: step }: DimensionStride, { orders, halved }: KernelProduct): number {
  const order = orders[dimension];
  if (!order) return dimension === halved ? step / 2 : step;
  let [left, natural] = [order.reduce((a, b) => a * b, 1), 1];
  for (const length of order) {
    left /= length;
    if (step >= left) return (step / left) * natural;
    natural *= length;
  }
  throw new RangeError(`A loop over bins has the step ${step}.`);
}

/** The dimensions of the tensor along which the kernel is seen through a line view or has blocks of zeros. */
export function viewedDimensions({ lines, zeros }: KernelProduct): ReadonlySet<number> {
  return new Set([...lines, ...zeros].map(({ dimension }) => dimension));
}

/** The layout [loops …, entry of a matrix, part]. */
function spectrumLayout(product: KernelProduct, loops: readonly BinLoop[]): Layout {
  const { lengths, strides, entry, matrix, symmetric, lines, zeros } = product;
  const entries = symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
  const viewed = [...viewedDimensions(product)];
  const along = (of: number) => loops.flatMap(({ place }, n) => (place?.dimension === of ? [n] : []));
  const plain = loops.flatMap(({ place }, n) => (place && viewed.includes(place.dimension) ? [] : [n]));
  const counts = [...viewed.map((of) => lengths[of]!), ...plain.map((n) => loops[n]!.count), entries];
  const steps = [...viewed.map((of) => strides[of]!), ...plain.map((n) => loops[n]!.step), entry];
  let own = memory(KERNEL, [...counts, 2], [...steps.map((step) => 2 * step), 1]);
  for (const { dimension, from, to } of zeros) own = without(own, viewed.indexOf(dimension), from, to);
  for (const { dimension, line } of lines) own = seenThrough(own, viewed.indexOf(dimension), line);
  if (viewed.length === 0) return own;
  // The last dimension comes first, so that the positions of the others do not change.
  for (let d = viewed.length - 1; d >= 0; d--) own = splitIntoLoops(own, d, along(viewed[d]!), loops, product);
  const order = [...viewed.flatMap(along), ...plain];
  const behind = [loops.length, loops.length + 1];
  return permute(own, [...loops.map((_, n) => order.indexOf(n)), ...behind]);
}

/** A dimension split into the loops that count along it. */
function splitIntoLoops(
  of: Layout,
  d: number,
  own: readonly number[],
  loops: readonly BinLoop[],
  product: KernelProduct,
) {
  const steps = own.map((n) => {
    const { count, place } = loops[n]!;
    return { count, step: count > 1 ? naturalStep(place!, product) : 0 };
  });
  return digits(of, d, steps);
}
