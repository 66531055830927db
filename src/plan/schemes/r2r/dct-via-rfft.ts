/**
 * DCT and DST II and III, and IV of odd lengths, by real transforms of as many points (VkFFT guide 2.5.5).
 *
 * Kind II (Makhoul, "A fast cosine transform in one and two dimensions", 1980): the real transform takes the points with even numbers, then the
 * others backwards. With its bins V,
 *
 *   2·e^{−2πi·k/4N}·V(k) = X(k) − i·X(N−k), X(N) = 0,
 *
 * for cosines of kind II; kind III is the inverse. Sines are cosines of the reals in reverse, every second one with the other sign.
 *
 * Kind IV of an odd N (after Chan and Ho, "Direct methods for computing discrete sinusoidal transforms", 1990) begins in the middle, h = (N−1)/2:
 * point n is (−1)^n·x(h + 2n), where x continues by the symmetry of its sums, x(2N−1−j) = −x(j) and x(2N+j) = −x(j). These points go through all
 * odd 2j+1 in steps whose angles are N apart from whole turns, so that the roots of bins are eighths of a turn:
 *
 *   2·e^{−2πi·(N+2k)/8}·V(k) = X(h+k) − i·s·X(h−k), s = i^{N−1}.
 *
 * Real transforms are split into launches as in R2C: r2c.ts.
 */
import {
  alternate,
  concat,
  type Layout,
  mask,
  negate,
  reverse,
  slice,
  stride,
  wholeLine,
  within,
} from '../../../layout/index.ts';
import { type ScaleFactor, scaleProduct } from '../../../numeric/scale-factor.ts';
import { hermitianLength, type Problem, type TransformKind } from '../../../problem/index.ts';
import type { Target } from '../../device/target.ts';
import type { Priced } from '../../price/priced.ts';
import {
  type Dimension,
  type DimensionStride,
  type ElementFactors,
  type LeafNode,
  type LineView,
  mapLeaves,
  type PlanNode,
  type RealParts,
} from '../../tree/node.ts';
import { type ComplexScheme, inOneUpload, type RealScheme } from '../axis-scheme.ts';
import { isInOneLaunch, isOneButterfly, lineNode, linesOf, schemesOfReals } from '../r2c.ts';
import { binsLeaf, otherDimensions } from '../real-columns.ts';
import { dhtEnds } from './dht.ts';
import { betweenReals, columnsNode, complexAxis, folded, type RealDftEnds } from './r2r-ends.ts';

/** The ways to transform an axis, cheapest first. */
export function cosineSchemes(problem: Problem, axis: number, target: Target, most: number): Priced<RealScheme>[] {
  const length = problem.size[axis]!;
  const schemes = schemesOfReals((points) => complexAxis(problem, axis, points), axis, length, target, most);
  const [best] = schemes as [Priced<RealScheme>];
  const short = problem.transform[axis] !== 'dht' && isOneButterfly(problem, axis, length, target, 'sums');
  if (!isInOneLaunch(best.value) || !short) return schemes;
  return [{ ...best, value: { by: 'zeros', points: inOneUpload(length) } }];
}

/** The node of an axis. @param scheme one of `cosineSchemes` */
export function cosinesAxis(
  problem: Problem,
  axis: number,
  target: Target,
  scheme: RealScheme,
  kind: TransformKind,
): PlanNode {
  const ends = kind === 'dht' ? dhtEnds : kind.endsWith('4') ? oddEnds : cosineEnds;
  const dft: RealDft = { problem, axis, target, ...ends(problem.size[axis]!, kind) };
  switch (scheme.by) {
    case 'halves':
      return fromTwoHalves(dft, scheme.points);
    case 'symmetric':
    case 'lines':
      return inLines(dft, scheme);
    case 'columns':
      return sumsInColumns(dft, scheme.lengths);
    case 'zeros':
      return zeroImaginaryParts(dft, scheme.points);
    default:
      throw new RangeError(`no such transform of reals is ${scheme.by}`);
  }
}

interface RealDft extends RealDftEnds {
  readonly problem: Problem;
  readonly axis: number;
  readonly target: Target;
}

function cosineEnds(count: number, kind: TransformKind): RealDftEnds {
  const sines = kind.startsWith('dst');
  const reals = wholeLine(count);
  const backwards = sines ? negate(reverse(reals, 0)) : reverse(reals, 0);
  return {
    toReals: kind.endsWith('3'),
    points: { line: stride(concat(0, reals, backwards), 0, 2), title: 'even points, then odd ones backwards' },
    sums: sines
      ? { first: -1, last: count - 1, forwards: 'im', negated: true }
      : { first: 0, last: count, forwards: 're', negated: true },
    roots: { modulus: 4 * count, step: 1, first: 0 },
  };
}

/** The ends of kind IV for an odd number of reals. */
function oddEnds(count: number, kind: TransformKind): RealDftEnds {
  const sines = kind.startsWith('dst');
  const middle = (count - 1) / 2;
  const reals = wholeLine(count);
  const around = concat(0, reals, sines ? reverse(reals, 0) : negate(reverse(reals, 0)), negate(reals));
  return {
    toReals: false,
    points: {
      line: alternate(stride(slice(around, 0, middle, 2 * count - 1), 0, 2), 0),
      title: 'every second point from the middle, turning at the ends',
    },
    sums: {
      ...{ first: middle, last: middle, forwards: sines ? 'im' : 're' },
      ...(middle % 2 === 0 ? { negated: true as const } : {}),
    },
    // Kind IV sines are cosines of the reals, every second one with the other sign; here all signs are relative to the middle real.
    roots: { modulus: 8, step: 2, first: sines && middle % 2 === 1 ? count + 4 : count },
  };
}

/**
 * The line and the factors of the side of the results. Bins are conjugated where passes are inverse.
 * @param rows the number of columns, where bins come in rows that begin in the first half of the columns
 */
function sumsOf(dft: RealDft, count: number, rows?: number): Pick<LeafNode, 'lines' | 'factors'> {
  const { toReals, sums, roots, axis, problem } = dft;
  const length = problem.size[axis]!;
  const along: ElementFactors = {
    kind: 'roots',
    ...roots,
    count,
    along: axis + 1,
    ...(toReals ? { conjugated: true } : {}),
  };
  // Each pair of results is written by one bin alone; on the way back, all results are read.
  const half = Math.ceil(length / 2);
  const own = folded(length, sums, (im) => {
    if (toReals) return within(im, 0, 1, length);
    return rows ? mask(im, 0, rows, 1, Math.max(1, Math.ceil(rows / 2))) : within(im, 0, 1, Math.max(1, half));
  });
  return linesAndFactors(dft, own, along);
}

/** The lines of both sides of one launch, and the factors on the side of the results. */
function linesAndFactors(
  dft: RealDft,
  sums: Pick<LineView, 'line' | 'title'>,
  along: ElementFactors,
): Pick<LeafNode, 'lines' | 'factors'> {
  const view: LineView = { dimension: dft.axis + 1, ...sums };
  return dft.toReals
    ? { lines: { input: [view], output: [] }, factors: { input: [along], output: [] } }
    : { lines: { input: [], output: [view] }, factors: { input: [], output: [along] } };
}

/** The dimension of the points, where their order is not that of the reals. */
function linesOfPoints({ axis, points }: RealDft): LineView[] {
  return points ? [{ dimension: axis + 1, ...points }] : [];
}

/** The scale factor of a launch. @param two 2 where pairs of bins do not double the results already, else 1 */
function timesOf({ times = 1 }: RealDft, two: 1 | 2): ScaleFactor {
  return scaleProduct(times, two);
}

/** The only launch of an axis. @param points the scheme of its points @param two see `timesOf` */
function onlyLaunch(
  dft: RealDft,
  axis: Dimension,
  batch: readonly Dimension[],
  points: ComplexScheme,
  real: RealParts,
  two: 1 | 2 = 1,
): LeafNode {
  const { problem, axis: axisOf, toReals } = dft;
  const bins = hermitianLength(problem.size[axisOf]!);
  // Passes of a convolution also read roots for padded points, which are multiplied by zero.
  const roots = real.by === 'symmetric' && points.by === 'bluestein' ? points.length : bins;
  const { lines, factors } = sumsOf(dft, roots);
  const own = linesOfPoints(dft);
  return {
    ...lineNode(problem, axisOf, axis, batch, points),
    lines: toReals ? { input: lines.input, output: own } : { input: own, output: lines.output },
    factors,
    times: timesOf(dft, two),
    real: { ...real, ...sumsOfPoints(dft) },
    exponents: 'forward',
  };
}

function sumsOfPoints({ points }: RealDft): Pick<RealParts, 'points'> {
  return points ? { points: 'sums' } : {};
}

function fromTwoHalves(dft: RealDft, points: ComplexScheme): LeafNode {
  const { toReals, axis, problem } = dft;
  const dimension = axis + 1;
  const [one, two] = [1, 2].map((step): DimensionStride => ({ dimension, stride: step })) as [
    DimensionStride,
    DimensionStride,
  ];
  const along = toReals ? { input: one, output: two } : { input: two, output: one };
  const real: RealParts = {
    side: 'both',
    by: 'halves',
    ...(toReals ? { toReals } : {}),
    pairs: { along: dimension, on: toReals ? 'output' : 'input' },
  };
  return onlyLaunch(dft, { count: problem.size[axis]! / 2, ...along }, otherDimensions(problem, axis), points, real);
}

function inLines(dft: RealDft, scheme: Extract<RealScheme, { readonly by: 'symmetric' | 'lines' }>): LeafNode {
  const { toReals, axis, problem } = dft;
  const one: DimensionStride = { dimension: axis + 1, stride: 1 };
  const along = { count: problem.size[axis]!, input: one, output: one };
  const way = toReals ? { toReals } : {};
  if (scheme.by === 'lines') {
    const pairs = { along: scheme.along, on: 'both' } as const;
    const batch = linesOf(problem, axis, scheme.along);
    return onlyLaunch(dft, along, batch, scheme.points, { side: 'both', by: 'lines', ...way, pairs });
  }
  const real: RealParts = { side: 'both', by: 'symmetric', ...way };
  // Pairs of bins double the results of real transforms; single bins do not.
  return onlyLaunch(dft, along, otherDimensions(problem, axis), scheme.points, real, toReals ? 1 : 2);
}

/** The uploads of a long axis; the one that transforms columns of reals comes first or last. */
function sumsInColumns(dft: RealDft, uploads: readonly number[]): PlanNode {
  const { toReals, axis, problem } = dft;
  const side = toReals ? 'output' : 'input';
  const node = columnsNode(problem, axis, uploads, side);
  const ending = binsLeaf(node, side);
  return mapLeaves(node, (leaf): LeafNode => {
    if (!leaf.real) {
      const exponents = toReals ? 'inverse' : 'forward';
      if (leaf !== ending) return { ...leaf, exponents };
      const real = { side: toReals ? 'input' : 'output', by: 'parts' } as const;
      return { ...leaf, exponents, real, ...sumsOf(dft, problem.size[axis]!, uploads[0]!) };
    }
    const own = linesOfPoints(dft);
    return {
      ...leaf,
      lines: toReals ? { input: [], output: own } : { input: own, output: [] },
      times: toReals ? leaf.times : timesOf(dft, 2),
      real: { ...leaf.real, ...sumsOfPoints(dft) },
    };
  });
}

/** Several uploads of as many complex points: their imaginary parts are zero, and bins over the half are not written. */
function zeroImaginaryParts(dft: RealDft, scheme: ComplexScheme): PlanNode {
  const { toReals, problem, axis, target, roots, sums, points } = dft;
  const length = problem.size[axis]!;
  // Conjugated bins have the same real parts as points, and can go through forward passes.
  const { negated: _, ...conjugates } = sums;
  const half = hermitianLength(length);
  const pairs = (im: Layout) => within(im, 0, 1, toReals ? length : Math.max(1, Math.ceil(length / 2)));
  const own = folded(length, toReals ? conjugates : sums, pairs);
  const bins = toReals ? own : { ...own, line: within(own.line, 0, 0, half) };
  return betweenReals(
    problem,
    axis,
    target,
    { scheme, points: length },
    {
      roots: toReals ? { input: roots } : { output: roots },
      input: toReals ? bins : points,
      output: toReals ? points : bins,
      times: toReals ? 1 : timesOf(dft, 2),
      points: points ? 'sums' : 'facing',
    },
  );
}
