/**
 * Real transforms along the first axis (VkFFT guide 2.3.3 and 2.5.3): N reals on one side, ⌊N/2⌋ + 1 bins on the other, with half the work of N
 * complex points. The result of a sequence depends on that sequence alone, except in `lines`.
 *
 * - `halves`, for even N: points 2n and 2n + 1 are the parts of one complex number; a step pairs bins k and N/2 − k.
 * - `symmetric`, for odd N, and for a short line that is one butterfly: passes over reals that compute bins up to the half only
 *   (kernels/passes/symmetric-passes.ts).
 * - `lines`, for odd N where `tuning.mergeSequences` allows it: two sequences of the batch are the real and the imaginary part of one; a step pairs
 *   bins k and N − k, and the two sequences are no longer independent.
 * - `columns`, where N takes several launches: two columns of the four-step algorithm are such a pair of lines, both from one sequence.
 * - `zeros`, where the number of columns is odd: all imaginary parts are zero, and bins over the half are not stored.
 */
import { pad, wholeLine } from '../../layout/index.ts';
import { type Direction, hermitianLength, type Problem, tensorShape } from '../../problem/index.ts';
import { forPrecision, wordsPerReal } from '../device/capacity.ts';
import { boosted, type Target } from '../device/target.ts';
import { LONGEST_BUTTERFLY } from '../group/tiling.ts';
import { tripCost } from '../price/cost.ts';
import { ifFits, type Priced } from '../price/priced.ts';
import {
  type Dimension,
  type DimensionStride,
  isLeaf,
  type LeafNode,
  type LineView,
  leafNode,
  leavesOf,
  mapLeaves,
  type PlanNode,
  type RealParts,
} from '../tree/node.ts';
import { axisPlace, bluesteinInOne, cheapestBluestein, sameDimensions, uploadsQuestion } from './axis.ts';
import { type Bluestein, type ComplexScheme, inOneUpload, type RealScheme, type Uploads } from './axis-scheme.ts';
import { schemeNode } from './complex-axis.ts';
import { asComplex } from './complex-part.ts';
import { isPadded, isPaddedAxis, uploadSchemes } from './complex-schemes.ts';
import type { AxisPlace } from './four-step.ts';
import { binsRead, otherDimensions, realColumns, shapesOf } from './real-columns.ts';
import { leavesBins, unorderedColumns } from './unordered-reals.ts';

/** The ways to transform the axis of reals, cheapest first. */
export function realSchemes(problem: Problem, target: Target, most: number): Priced<RealScheme>[] {
  const length = problem.size[0]!;
  const found = schemesOfReals((points) => asComplex(problem, points), 0, length, target, Math.max(most, COMPLEX_WAYS));
  const stays = ({ value }: Priced<RealScheme>) => value.by === 'columns' && leavesBins(problem, value.lengths);
  // Schemes whose bins stay in rows come first where `unordered` asks for them.
  const schemes = [...found.filter(stays), ...found.filter((scheme) => !stays(scheme))].slice(0, most);
  const [best] = schemes as [Priced<RealScheme>];
  if (!isInOneLaunch(best.value) || !isShortLine(problem, target)) return schemes;
  return [{ ...best, value: { by: 'symmetric', points: inOneUpload(length) } }];
}

/** Whether a line is one butterfly of its reals: no bins have to be paired, and rounding errors are the smallest. */
function isShortLine(problem: Problem, target: Target): boolean {
  return isOneButterfly(problem, 0, problem.size[0]!, target, 'reals');
}

/** Whether `points` points of an axis of reals are one butterfly, whatever their primes. @param kind see `LONGEST_BUTTERFLY` */
export function isOneButterfly(
  problem: Problem,
  axis: number,
  points: number,
  target: Target,
  kind: 'reals' | 'sums' | 'continued',
): boolean {
  const { lanes } = target.capacity;
  const fillsVectors = sameDimensions(problem).some(({ count }, of) => of !== axis + 1 && count >= lanes);
  const longest = LONGEST_BUTTERFLY[kind][fillsVectors ? 'batch' : 'axis'];
  return target.lockstep === 'vector' && points <= longest[wordsPerReal(target.precision)];
}

/**
 * The ways to transform an axis from reals to the bins up to the half, or back, cheapest first.
 * @param complex makes a problem with a given number of complex points along that axis
 */
export function schemesOfReals(
  complex: (length: number) => Problem,
  axis: number,
  length: number,
  target: Target,
  most: number,
): Priced<RealScheme>[] {
  const even = length % 2 === 0;
  const whole = complex(even ? length / 2 : length);
  const inOne = schemeInOneLaunch(whole, axis, target, !even);
  if (inOne) {
    const { value: points, price } = inOne;
    return [{ value: even ? { by: 'halves', points } : oddLines(whole, axis, points), price }];
  }
  const several = complex(length);
  if (isPaddedAxis(several, axis, target)) {
    const { value, price } = cheapestBluestein(several, axis, target);
    return [{ value: { by: 'zeros', points: value }, price: 2 * price }];
  }
  return uploadSchemes(uploadsQuestion(several, axis, target), Math.max(most, COMPLEX_WAYS))
    .map((uploads) => ({ ...inColumnsOrZeros(uploads, target), last: uploads.value.lengths.at(-1)! }))
    .map((way) => ({ ...way, price: Math.round(way.price / SAME_PRICE) * SAME_PRICE }))
    .sort((a, b) => a.price - b.price || a.last - b.last)
    .slice(0, most)
    .map(({ value, price }) => ({ value, price }));
}

/**
 * The difference below which two prices are equal but for rounding. Then the scheme with the shorter last upload is better, as it takes more rows
 * side by side.
 */
const SAME_PRICE = 1e-9;

/** The number of complex schemes that are tried as schemes of reals, the best first. */
const COMPLEX_WAYS = 8;

/**
 * Several uploads of an axis of reals. They begin with columns of reals, two by two; if the rows are odd, imaginary parts are zero, which doubles
 * the number of points.
 */
function inColumnsOrZeros({ value, price }: Priced<Uploads>, target: Target): Priced<RealScheme> {
  const [_, ...rows] = value.lengths;
  if (!rows.some((n) => n % 2 === 0)) return { value: { by: 'zeros', points: value }, price: 2 * price };
  const trips = value.lengths.length * tripCost(target);
  const { ofReals } = target.calibration.uploads;
  const beyond = (rows.length > 1 ? ofReals.several : forPrecision(ofReals.one, target.precision)) * (price - trips);
  const own = target.lockstep === 'threads' ? trips + beyond : price;
  return { value: { by: 'columns', lengths: value.lengths }, price: own };
}

/** The scheme of an odd number of reals in one launch: each line by itself, or two lines at a time where the problem allows that. */
function oddLines(problem: Problem, axis: number, points: ComplexScheme): RealScheme {
  const along = mergedLines(problem, axis);
  return along === undefined ? { by: 'symmetric', points } : { by: 'lines', along, points };
}

/** Whether a scheme of reals takes one launch. */
export function isInOneLaunch(scheme: RealScheme): boolean {
  if (scheme.by === 'columns') return false;
  return scheme.points.by === 'uploads' ? scheme.points.lengths.length === 1 : true;
}

/**
 * The scheme of an axis in one launch of one block; undefined where the axis takes more launches, or more are cheaper.
 * @param ofReals points are reals, and the launch computes the bins up to the half; else each point is a pair of reals
 */
export function schemeInOneLaunch(
  problem: Problem,
  axis: number,
  target: Target,
  ofReals = false,
): Priced<Uploads | Bluestein> | undefined {
  const length = problem.size[axis]!;
  const { room } = boosted(target, length, false).capacity;
  if (target.lockstep === 'threads' && length > room) return undefined;
  if (length === 1) return { value: inOneUpload(1), price: 1 };
  const symmetric = ofReals && mergedLines(problem, axis) === undefined;
  if (isPadded(length, target, symmetric)) return bluesteinInOne(problem, axis, target, symmetric);
  const best = ifFits(() => uploadSchemes(uploadsQuestion(problem, axis, target), 1)[0]!);
  return best?.value.lengths.length === 1 ? best : undefined;
}

/** The launches of a real axis. @param scheme one of `realSchemes` @param inPlace see `unorderedColumns` */
export function realAxis(
  problem: Problem,
  direction: Direction,
  target: Target,
  scheme: RealScheme,
  inPlace = false,
): PlanNode {
  const side = direction === 'forward' ? 'input' : 'output';
  switch (scheme.by) {
    case 'halves':
      return {
        ...lineNode(problem, 0, halvedAxis(problem, side), otherDimensions(problem, 0), scheme.points),
        ...realEnds(problem, side),
      };
    case 'columns':
      return leavesBins(problem, scheme.lengths)
        ? unorderedColumns(problem, side, scheme.lengths, inPlace)
        : realColumns(problem, side, scheme.lengths);
    case 'symmetric':
    case 'lines':
      return wholeLines(problem, side, scheme);
    case 'zeros':
      return realsAsComplex(problem, direction, target, scheme.points, side);
    default:
      throw new RangeError(`no axis of reals and bins is ${scheme.by}`);
  }
}

/** A launch of one block over whole lines. @param axis a dimension with as many points as are transformed @param points the scheme of these points */
export function lineNode(
  problem: Problem,
  axisOf: number,
  axis: Dimension,
  batch: readonly Dimension[],
  points: ComplexScheme,
): LeafNode {
  const node = leafNode({ title: `axis ${axisOf}`, axisOf, axis, batch, tensor: tensorShape(problem, 'input') });
  return points.by === 'bluestein' ? { ...node, convolved: { by: 'bluestein', length: points.length } } : node;
}

/** The first axis as a dimension of complex numbers whose parts are two reals. @param side the side of the reals */
export function halvedAxis({ size }: Problem, side: 'input' | 'output'): Dimension {
  const [two, one] = [2, 1].map((step): DimensionStride => ({ dimension: 1, stride: step })) as [
    DimensionStride,
    DimensionStride,
  ];
  return { count: size[0]! / 2, ...(side === 'input' ? { input: two, output: one } : { input: one, output: two }) };
}

/** The ends of a launch that makes bins from complex numbers of two reals each, or such numbers from bins. */
export function realEnds(
  problem: Problem,
  side: 'input' | 'output',
): Pick<LeafNode, 'exponents' | 'real' | 'length' | 'outputLength'> {
  return {
    ...shapesOf(problem, side),
    exponents: 'forward',
    real: { side, by: 'halves', pairs: { along: 1, on: side } },
  };
}

/** A launch that takes whole lines. */
function wholeLines(
  problem: Problem,
  side: 'input' | 'output',
  scheme: Extract<RealScheme, { readonly by: 'symmetric' | 'lines' }>,
): LeafNode {
  const along = { dimension: 1, stride: 1 };
  const axis = { count: problem.size[0]!, input: along, output: along };
  const merged = scheme.by === 'lines' ? scheme.along : undefined;
  const real: RealParts =
    merged === undefined ? { side, by: 'symmetric' } : { side, by: 'lines', pairs: { along: merged, on: 'both' } };
  const node = lineNode(problem, 0, axis, linesOf(problem, 0, merged), scheme.points);
  return { ...node, exponents: 'forward', real, ...shapesOf(problem, side) };
}

/** Every dimension, except the axis, that has more than one element. @param merged a dimension whose lines are taken two by two */
export function linesOf(problem: Problem, axis: number, merged: number | undefined): Dimension[] {
  return otherDimensions(problem, axis).map((dimension) =>
    dimension.input.dimension === merged ? twoByTwo(dimension) : dimension,
  );
}

/**
 * The dimension along which two neighbouring lines are the parts of one complex line; undefined where no dimension has two lines, or where
 * lines have to be independent of one another.
 */
export function mergedLines(problem: Problem, axis: number): number | undefined {
  if (!problem.tuning.mergeSequences) return undefined;
  const others = sameDimensions(problem).filter(({ count }, of) => of !== axis + 1 && count > 1);
  return (others.find(({ count }) => count % 2 === 0) ?? others[0])?.input.dimension;
}

/** A dimension whose lines are taken two by two: it counts the first line of each pair. */
function twoByTwo({ count, input: { dimension } }: Dimension): Dimension {
  const apart = { dimension, stride: 2 };
  return { count: Math.ceil(count / 2), input: apart, output: apart };
}

function realsAsComplex(
  problem: Problem,
  direction: Direction,
  target: Target,
  points: ComplexScheme,
  side: 'input' | 'output',
): PlanNode {
  const length = problem.size[0]!;
  const complex = asComplex(problem, length);
  const place: AxisPlace = { ...axisPlace(complex, direction, 0, target), reorderFirst: false };
  const node = schemeNode(complex, 0, target, place, points);
  const { length: before, outputLength: after } = shapesOf(problem, side);
  const leaves = leavesOf(node);
  const [first, last] = [leaves[0]!, leaves.at(-1)!];
  const bins = hermitianLength(length);
  const kept: LineView = { dimension: 1, line: pad(wholeLine(bins), 0, 0, length - bins), title: `keep ${bins} bins` };
  const outer = (leaf: LeafNode): LeafNode => ({
    ...leaf,
    ...(leaf === first ? { length: before } : {}),
    ...(leaf === last ? { outputLength: after } : {}),
    ...(leaf === (side === 'input' ? first : last) ? { real: { side, by: 'zeros' } as const } : {}),
    ...(side === 'input' && leaf === last ? { lines: { ...leaf.lines, output: [kept] } } : {}),
    ...(side === 'output' && leaf === first ? { lines: { ...leaf.lines, input: [binsRead(length)] } } : {}),
  });
  const all = mapLeaves(node, outer);
  return isLeaf(all) ? all : { ...all, length: before, outputLength: after };
}
