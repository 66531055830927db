/**
 * DCT and DST I by symmetric extension: N reals are extended to a sequence of L points, even or odd around both ends. The bins of that sequence are
 * the results, but for a factor at each point and each bin (Martucci, "Symmetric convolution and the discrete sine and cosine transforms", 1994).
 * The transform is linear in complex numbers, too, so two lines of reals may be the parts of one complex line. Or two neighbouring points are the
 * parts of one complex number, and bins are paired as for any reals: r2c.ts.
 */
import { concat, type Layout, negate, pad, reverse, slice, wholeLine, zeros } from '../../../layout/index.ts';
import { hermitianLength, type Problem, type TransformKind } from '../../../problem/index.ts';
import type { Target } from '../../device/target.ts';
import type { Priced } from '../../price/priced.ts';
import { type Dimension, type LeafNode, type LineView, mapLeaves, type PlanNode } from '../../tree/node.ts';
import { type ComplexScheme, inOneUpload, type RealScheme } from '../axis-scheme.ts';
import { isOneButterfly, lineNode, mergedLines, schemeInOneLaunch, schemesOfReals } from '../r2c.ts';
import { binsLeaf, onceInRows, otherDimensions } from '../real-columns.ts';
import { betweenReals, columnsNode, complexAxis, type EndFactors } from './r2r-ends.ts';

/** The symmetric extension of one kind. */
interface Continuation {
  /** The number of points is 2·(N + `more`) for N reals. */
  readonly more: -1 | 1;
  /** The bin of the first result. */
  readonly first: 0 | 1;
  /** Whether the results are sines: bins are then imaginary. */
  readonly sines?: true;
  /** All points, from a line of reals. */
  readonly extension: (reals: Layout) => Layout;
}

const CONTINUATIONS: Readonly<Partial<Record<TransformKind, Continuation>>> = {
  dct1: {
    ...{ more: -1, first: 0 },
    extension: (x) => concat(0, x, reverse(slice(x, 0, 1, x.shape[0]! - 2), 0)),
  },
  dst1: {
    ...{ more: 1, first: 1, sines: true },
    extension: (x) => concat(0, zeros([1]), x, zeros([1]), negate(reverse(x, 0))),
  },
};

/** The number of points of the transform along an axis. */
function continuedPoints({ size, transform }: Problem, axis: number): number {
  return 2 * (size[axis]! + CONTINUATIONS[transform[axis]!]!.more);
}

/** The ways to transform an axis, cheapest first. Lines that are merged need no pairs of bins. */
export function extensionSchemes(problem: Problem, axis: number, target: Target, most: number): Priced<RealScheme>[] {
  const points = continuedPoints(problem, axis);
  const complex = (length: number) => complexAxis(problem, axis, length);
  const whole = schemeInOneLaunch(complex(points), axis, target);
  if (whole && isShort(problem, axis, target))
    return [{ value: { by: 'zeros', points: inOneUpload(points) }, price: whole.price }];
  const along = mergedLines(problem, axis);
  if (whole && along !== undefined) return [{ value: { by: 'lines', along, points: whole.value }, price: whole.price }];
  return schemesOfReals(complex, axis, points, target, most).map(({ value, price }) => ({
    value: value.by === 'zeros' && along !== undefined ? { ...value, by: 'lines', along } : value,
    price,
  }));
}

/** Whether the points are one butterfly, in which points that mirror one another only occur in sums and differences. */
function isShort(problem: Problem, axis: number, target: Target): boolean {
  return isOneButterfly(problem, axis, continuedPoints(problem, axis), target, 'continued');
}

/** The lines and factors at both ends of an extended axis. */
interface ContinuedEnds {
  readonly points: LineView;
  readonly bins: LineView;
  /** The factor of the bins. */
  readonly roots: EndFactors | undefined;
}

/** The node of an axis. @param scheme one of `extensionSchemes` */
export function extensionAxis(
  problem: Problem,
  axis: number,
  target: Target,
  scheme: RealScheme,
  kind: TransformKind,
): PlanNode {
  const { first, sines, extension } = CONTINUATIONS[kind]!;
  const [count, points, dimension] = [problem.size[axis]!, continuedPoints(problem, axis), axis + 1];
  const kept = pad(wholeLine(count), 0, first, points - first - count);
  const ends: ContinuedEnds = {
    points: { dimension, line: extension(wholeLine(count)), title: `mirror ${count} reals` },
    bins: { dimension, line: kept, title: `keep ${count} bins` },
    // i = e^{−2πi·3/4}.
    roots: sines && { modulus: 4, step: 0, first: 3 },
  };
  if (scheme.by === 'halves') return continuedHalves(problem, axis, scheme.points, ends);
  if (scheme.by === 'columns') return continuedInColumns(problem, axis, scheme.lengths, ends, first + count);
  return betweenReals(
    problem,
    axis,
    target,
    { scheme: scheme.points, points },
    {
      input: ends.points,
      output: ends.bins,
      points: 'continued',
      roots: ends.roots ? { output: ends.roots } : {},
      merged: scheme.by === 'lines' ? scheme.along : undefined,
    },
  );
}

function rotated({ points, roots }: ContinuedEnds, count: number): Pick<LeafNode, 'factors'> {
  return { factors: { input: [], output: roots ? [{ kind: 'roots', ...roots, count, along: points.dimension }] : [] } };
}

function continuedHalves(problem: Problem, axis: number, scheme: ComplexScheme, ends: ContinuedEnds): LeafNode {
  const points = continuedPoints(problem, axis);
  const dimension = ends.points.dimension;
  const along: Dimension = { count: points / 2, input: { dimension, stride: 2 }, output: { dimension, stride: 1 } };
  return {
    ...lineNode(problem, axis, along, otherDimensions(problem, axis), scheme),
    ...{ lines: { input: [ends.points], output: [ends.bins] }, ...rotated(ends, hermitianLength(points)) },
    real: { side: 'both', by: 'halves', pairs: { along: dimension, on: 'input' }, points: 'continued' },
    ...{ times: 1 / 2, exponents: 'forward' },
  };
}

/**
 * The uploads of columns. Bins over the half repeat the bins below, even or odd as the points are, so only one of both is written.
 * @param half the first bin over the half
 */
function continuedInColumns(
  problem: Problem,
  axis: number,
  uploads: readonly number[],
  ends: ContinuedEnds,
  half: number,
): PlanNode {
  const { points } = ends;
  const written: LineView = { dimension: points.dimension, line: onceInRows(points.line, half, uploads[0]!) };
  const node = columnsNode(problem, axis, uploads, 'input');
  const ending = binsLeaf(node, 'input');
  return mapLeaves(node, (leaf): LeafNode => {
    if (leaf.real)
      return { ...leaf, lines: { input: [points], output: [] }, real: { ...leaf.real, points: 'continued' } };
    if (leaf !== ending) return { ...leaf, exponents: 'forward' };
    return {
      ...{ ...leaf, lines: { input: [], output: [written] }, ...rotated(ends, continuedPoints(problem, axis)) },
      ...{ exponents: 'forward', real: { side: 'output', by: 'parts', points: 'continued' } },
    };
  });
}
