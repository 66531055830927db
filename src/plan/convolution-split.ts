/**
 * The split of a convolution: the axes, or the part of an axis, that its middle launch takes, and the schemes of the other axes. The cheapest
 * split is taken; launches of the other axes are counted twice, once for each direction.
 */
import { blocksOf, type Problem, tensorShape } from '../problem/index.ts';
import { rankSplits } from './candidates.ts';
import { coordinatesTarget, type Target } from './device/target.ts';
import { leastCost, tripCost } from './price/cost.ts';
import { ifFits, keepCheapest, type Priced } from './price/priced.ts';
import { cheapestBluestein, roundTrips, roundTripUploads } from './schemes/axis.ts';
import { asComplex, complexPart, isReal } from './schemes/complex-part.ts';
import { isConvolved, isPaddedAxis } from './schemes/complex-schemes.ts';
import { sharedConvolveChoices } from './schemes/shared-axes.ts';
import type { Splits } from './schemes/splits.ts';

/** An axis in the middle by itself. */
export interface Period {
  /** The length of the axis. */
  readonly own: number;
  readonly length: number;
  /** Uploads of the period; missing where one launch takes a period longer than the axis. */
  readonly uploads?: readonly number[];
}

/** The middle of a convolution: the axes whose last forward launch is also their first inverse launch. */
export interface Middle {
  /** The axes of the middle; none where the product is a launch by itself. */
  readonly axes: readonly number[];
  /** The period of the only axis in the middle. */
  readonly period?: Period;
  /** The parts of the second axis, where the axes share two launches; missing where they share one. */
  readonly parts?: readonly [number, number];
  /** Whether the only transformed axis has reals, which are complex numbers whose imaginary parts are zero. */
  readonly real: boolean;
  /** The first of the axes has reals, and pairs of them are complex numbers; one launch pairs their bins. */
  readonly halves?: true;
  /**
   * The only transformed axis has reals, in two uploads: columns of the first length, and rows of their bins, of the second length. The rows
   * are the middle.
   */
  readonly columns?: readonly [number, number];
}

export interface ConvolutionSplit extends Middle {
  /** The schemes of the axes that are transformed before and after the middle. */
  readonly splits: Splits;
  /** Whether most of the kernel follows its end, as in a correlation, instead of preceding its beginning. */
  readonly after: boolean;
}

/** The problem between complex numbers: the bins of reals, or, where nothing else is transformed, the reals themselves. */
export function complexOf(problem: Problem, real: boolean): Problem {
  const complex = real ? asComplex(problem, problem.size[0]!) : complexPart(problem);
  return { ...complex, unordered: true };
}

export function axesToTransform({ size, omit }: Problem): number[] {
  return size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis]));
}

/** The problem of the axes that are not in the middle. */
export function restOf(problem: Problem, { axes, real }: Pick<Middle, 'axes' | 'real'>): Problem {
  const taken = real || (isReal(problem) && axes.includes(0));
  const rest = taken ? complexOf(problem, false) : { ...problem, unordered: true };
  return { ...rest, omit: rest.omit.map((omitted, axis) => omitted || axes.includes(axis)) };
}

/** The cheapest split of a convolution. @throws FftError `unsupported-length`; RangeError where nothing fits the profile */
export function splitConvolution(problem: Problem, target: Target): ConvolutionSplit {
  const best: Priced<ConvolutionSplit>[] = [];
  const known = new Map<string, Priced<Splits> | undefined>();
  for (const { value, price } of middlesOf(problem, target)) {
    const rest = restOf(problem, value);
    const key = rest.omit.join();
    if (!known.has(key))
      known.set(
        key,
        ifFits(() => rankSplits(rest, target, 1)[0]!),
      );
    const others = known.get(key);
    if (!others) continue;
    const split = { ...value, splits: others.value, after: problem.convolution!.conjugate === 'signal' };
    keepCheapest(best, { value: split, price: price + 2 * others.price }, 1);
  }
  if (best.length === 0) throw new RangeError('this convolution has no launches that fit');
  return best[0]!.value;
}

/** All possible middles, with the cost of both directions. */
function middlesOf(problem: Problem, target: Target): Priced<Middle>[] {
  const alone = isReal(problem) && axesToTransform(complexOf(problem, false)).length === 0;
  const complex = complexOf(problem, alone);
  const axes = axesToTransform(complex);
  const elements = tensorShape(complex, 'input').reduce((a, b) => a * b, 1);
  return [
    ...(isReal(problem) ? middlesOfReals(problem, target) : []),
    // The first of equally cheap middles is taken: it should leave axes that are neighbours.
    ...[...axes.slice(0, 1), ...axes.slice(1).reverse()].flatMap((axis) => periodsOf(problem, complex, axis, target)),
    ...(alone ? [] : runsOf(axes).flatMap((run) => sharedMiddles(complex, run, target, problem.convolution!.matrix))),
    { value: { axes: [], real: alone && axes.length === 0 }, price: leastCost(elements, target).price },
  ];
}

/** The middles that are one axis by itself. */
function periodsOf(problem: Problem, complex: Problem, axis: number, target: Target): Priced<Middle>[] {
  const { crossPower, matrix, kernelSpectrum } = problem.convolution!;
  const [own, length] = [coordinatesTarget(matrix, target), complex.size[axis]!];
  const real = isReal(problem) && axis === 0;
  const priced = (period: Omit<Period, 'own'>, price: number): Priced<Middle>[] => {
    // Imaginary parts that are zero are computed, too; if they go from one launch to the next, they are also moved.
    const carried = period.uploads !== undefined && period.uploads.length > 1;
    const ofReals = carried ? 2 * price : 2 * price - tripCost(target);
    const value = { axes: [axis], period: { own: length, ...period }, real };
    return [{ value, price: real ? ofReals : price }];
  };
  const passes = !isConvolved(complex, axis, target);
  // A cluster of reals takes three times as long as one of complex numbers: longer than five launches.
  const uploads = passes && ifFits(() => roundTripUploads(complex, axis, own, matrix === 1 && !real));
  if (uploads) return priced({ length, uploads: uploads.value }, uploads.price);
  // A longer period has other bins, so it is excluded where the caller sees the bins or their magnitudes.
  if (crossPower || kernelSpectrum === 'user' || blocksOf(problem, 'output')[axis]) return [];
  const longer = ifFits(() => cheapestBluestein(complex, axis, own));
  if (!longer) return [];
  const { length: points, uploads: several } = longer.value;
  return priced({ length: points, ...(several ? { uploads: several } : {}) }, longer.price);
}

/** All runs of two or three neighbouring axes. */
function runsOf(axes: readonly number[]): number[][] {
  return axes.flatMap((_, n) =>
    [2, 3].map((count) => axes.slice(n, n + count)).filter((run, at) => run.length === at + 2),
  );
}

/** The middles of axes that share one launch, or two. @param axes the only axes that are transformed */
function sharedMiddles(problem: Problem, axes: readonly number[], target: Target, matrix: number): Priced<Middle>[] {
  const omit = problem.omit.map((_, axis) => !axes.includes(axis));
  return sharedConvolveChoices({ ...problem, omit }, axes, target, coordinatesTarget(matrix, target)).map(
    ({ value, price }) => ({
      value: { axes, ...(value.launches === 2 ? { parts: value.parts } : {}), real: false },
      price,
    }),
  );
}

/** The middles that contain the axis of reals, as pairs of reals, and axes that share its launches. */
function middlesOfReals(problem: Problem, target: Target): Priced<Middle>[] {
  const { matrix } = problem.convolution!;
  const others = axesToTransform(complexOf(problem, false));
  const runs = [1, 2].filter((count) => count <= others.length).map((count) => [0, ...others.slice(0, count)]);
  const shared = runs.flatMap((axes) => sharedMiddles({ ...problem, unordered: true }, axes, target, matrix));
  const pairs = (axes: readonly number[], price: number): Priced<Middle>[] => [
    { value: { axes, real: false, halves: true }, price },
  ];
  const half = problem.size[0]! / 2;
  const inOne = (): Priced<Middle>[] => {
    const complex = { ...asComplex(problem, half), unordered: true };
    const way = !isConvolved(complex, 0, target) && ifFits(() => roundTripUploads(complex, 0, target, false));
    return way && way.value.length === 1 ? pairs([0], way.price) : [];
  };
  // Bins that mirror one another share a matrix and a place in a launch, so a block of zeros would have to hold both of them.
  const blocked = blocksOf(problem, 'output').some((block, axis) => axis > 0 && block !== null);
  return [
    ...(others.length === 0 && matrix === 1 && Number.isInteger(half) && half > 1 ? inOne() : []),
    ...(others.length === 0 ? columnsOf(problem, target) : []),
    ...shared.flatMap(({ value, price }) => {
      if (value.parts) return [{ value, price }];
      return matrix > 1 || blocked || value.axes.length <= others.length ? [] : pairs(value.axes, price);
    }),
  ];
}

/** The middle of an axis of reals in columns, two of which are one complex column: half the data of zero imaginary parts, in as many launches. */
function columnsOf(problem: Problem, target: Target): Priced<Middle>[] {
  const complex = { ...asComplex(problem, problem.size[0]!), unordered: true };
  if (isPaddedAxis(complex, 0, target)) return [];
  const own = coordinatesTarget(problem.convolution!.matrix, target);
  const ways = ifFits(() => roundTrips(complex, 0, own, false, WAYS)) ?? [];
  const [best] = ways.flatMap(({ value: [n1, n2, ...more], price }): Priced<Middle>[] =>
    n2 === undefined || n2 % 2 > 0 || more.length > 0
      ? []
      : [{ value: { axes: [0], real: false, columns: [n1!, n2] }, price }],
  );
  return best ? [best] : [];
}

/** The number of complex candidates that are tried, the best first. */
const WAYS = 8;
