/** The ends of complex transforms that compute cosine and sine transforms: the order of points and results, and the factors on both. */
import { type Layout, negate, pad, reverse, slice, stack, wholeLine } from '../../../layout/index.ts';
import type { ScaleFactor } from '../../../numeric/scale-factor.ts';
import { type Problem, type Sides, tensorShape } from '../../../problem/index.ts';
import type { Target } from '../../device/target.ts';
import type { Factors } from '../../tree/leaf.ts';
import {
  type BranchNode,
  type Dimension,
  type ElementFactors,
  isLeaf,
  type LeafNode,
  type LineView,
  leavesOf,
  mapLeaves,
  type PlanNode,
  type RealParts,
} from '../../tree/node.ts';
import { axisPlace } from '../axis.ts';
import type { ComplexScheme } from '../axis-scheme.ts';
import { schemeNode } from '../complex-axis.ts';
import type { AxisPlace } from '../four-step.ts';
import { inColumns, otherDimensions, pointsOfRows } from '../real-columns.ts';

/** The problem with so many complex points along the axis. */
export function complexAxis(problem: Problem, axis: number, points: number): Problem {
  return {
    ...problem,
    transform: problem.size.map(() => 'c2c'),
    placement: 'out-of-place',
    size: problem.size.map((n, d) => (d === axis ? points : n)),
  };
}

/**
 * Several uploads of reals, whose columns are transformed two by two. The caller adds the ends to these leaves.
 * @param real the side of the points
 */
export function columnsNode(
  problem: Problem,
  axis: number,
  uploads: readonly number[],
  real: 'input' | 'output',
): BranchNode {
  const dimension = axis + 1;
  const shape = tensorShape(problem, 'input');
  const tensor = shape.map((count, d) => (d === dimension ? pointsOfRows(uploads) : count));
  return inColumns(
    { dimension, others: otherDimensions(problem, axis), tensor, length: shape, outputLength: shape },
    uploads,
    real,
  );
}

/** Roots that multiply points before everything else, or bins after it. */
export interface EndFactors extends Pick<Factors, 'modulus' | 'step' | 'first'> {
  /** The kind of the roots; default: roots of unity. */
  readonly kind?: 'roots' | 'hartley';
}

/**
 * The ends of a real transform that computes another transform between reals: the order of its points, and the two results that are the parts of
 * each bin after multiplication by twice a root.
 */
export interface RealDftEnds {
  /** Whether the transform goes from results to points: kind III. */
  readonly toReals: boolean;
  /** The reals of the line in the order of the points; missing: the points are the reals as they lie. */
  readonly points?: Pick<LineView, 'line' | 'title'>;
  /** The two results that are the parts of each bin. */
  readonly sums: Folding;
  readonly roots: EndFactors;
  /** A further factor on the results. */
  readonly times?: ScaleFactor;
}

/**
 * Two reals of a line of N that are the parts of a complex number, counted from both ends: number n has real `first` + n and real `last` − n,
 * as far as the line has them.
 */
export interface Folding {
  readonly first: number;
  readonly last: number;
  /** The part that is counted forwards, from real `first`. */
  readonly forwards: 're' | 'im';
  /** Whether imaginary parts have the other sign. */
  readonly negated?: true;
}

/** N complex numbers from two reals of a line each. @param imaginary masks imaginary parts that are not read or written */
export function folded(
  N: number,
  { first, last, forwards, negated }: Folding,
  imaginary: (parts: Layout) => Layout,
): Pick<LineView, 'line' | 'title'> {
  const reals = wholeLine(N);
  const [near, far] = [fromIndex(reals, first), fromIndex(reverse(reals, 0), N - 1 - last)];
  const [re, im] = forwards === 're' ? [near, far] : [far, near];
  const parts = imaginary(negated ? negate(im) : im);
  return { line: stack(1, re, parts), title: 'parts from both ends' };
}

/** As many elements as the layout has, from an index on that may be negative, with zeros outside the layout. */
function fromIndex(of: Layout, from: number): Layout {
  const length = of.shape[0]!;
  if (from <= 0) return slice(pad(of, 0, -from, 0), 0, 0, length);
  return pad(slice(of, 0, from, length - from), 0, 0, from);
}

/** The views and factors of the first launch, which reads, and of the last one, which writes. */
export interface R2rEnds {
  readonly input: Pick<LineView, 'line' | 'title'> | undefined;
  readonly output: Pick<LineView, 'line' | 'title'> | undefined;
  /** The factor on all that the last launch writes. */
  readonly times?: ScaleFactor;
  /** See `RealParts`. */
  readonly points: RealParts['points'];
  readonly roots: Partial<Sides<EndFactors>>;
  /** The dimension along which two neighbouring lines are the parts of complex numbers between the ends. */
  readonly merged?: number | undefined;
}

/** The node of an axis in one launch or several, with reals on both sides. @param scheme the scheme of `points` complex points */
export function betweenReals(
  problem: Problem,
  axis: number,
  target: Target,
  { scheme, points }: { readonly scheme: ComplexScheme; readonly points: number },
  ends: R2rEnds,
): PlanNode {
  const whole = complexAxis(problem, axis, points);
  const { merged } = ends;
  const own = axisPlace(whole, 'forward', axis, target);
  const place = merged === undefined ? { ...own, order: 'natural' as const } : inPairsAlong(own, merged);
  const node = schemeNode(whole, axis, target, place, scheme);
  const table = scheme.by === 'bluestein' ? scheme.length : points;
  const tensor = tensorShape(problem, 'input');
  const leaves = leavesOf(node);
  const placed = { ...ends, axis, table, tensor };
  const all = mapLeaves(node, (leaf) =>
    endedLeaf(leaf, { first: leaf === leaves[0], last: leaf === leaves.at(-1) }, placed),
  );
  return isLeaf(all) ? all : { ...all, length: tensor, outputLength: tensor };
}

/** The place of an axis whose lines are taken two by two along another dimension. */
function inPairsAlong(own: AxisPlace, merged: number): AxisPlace {
  const half = (count: number, of: number) => (of === merged ? Math.ceil(count / 2) : count);
  const others = own.others.map((other) => ({ ...other, count: half(other.count, other.input.dimension) }));
  return { ...own, order: 'natural', others, tensor: own.tensor.map(half) };
}

interface PlacedR2rEnds extends R2rEnds {
  readonly axis: number;
  /** The number of roots at each end, including roots for padded points. */
  readonly table: number;
  readonly tensor: readonly number[];
}

function endedLeaf(
  leaf: LeafNode,
  { first, last }: { readonly first: boolean; readonly last: boolean },
  { axis, table, tensor, input, output, times = 1, points, roots, merged }: PlacedR2rEnds,
): LeafNode {
  const exponents = leaf.exponents === 'opposite' ? 'inverse' : 'forward';
  if (!first && !last) return { ...leaf, exponents };
  const apart = (dimension: Dimension, side: 'input' | 'output'): Dimension =>
    dimension[side].dimension === merged ? { ...dimension, [side]: { dimension: merged, stride: 2 } } : dimension;
  let batch = leaf.batch;
  if (first) batch = batch.map((dimension) => apart(dimension, 'input'));
  if (last) batch = batch.map((dimension) => apart(dimension, 'output'));
  const factors = (own: EndFactors | undefined): ElementFactors[] =>
    own ? [{ kind: 'roots', ...own, count: table, along: axis + 1 }] : [];
  const side = first && last ? 'both' : first ? 'input' : 'output';
  const real: RealParts = {
    ...{ side, by: 'parts' },
    ...(points ? { points } : {}),
    ...(merged === undefined ? {} : { pairs: { along: merged, on: side } }),
  };
  const dimension = axis + 1;
  const lines = {
    input: first && input ? [{ dimension, ...input }] : leaf.lines.input,
    output: last && output ? [{ dimension, ...output }] : leaf.lines.output,
  };
  return {
    ...leaf,
    exponents,
    batch,
    lines,
    ...(first ? { length: tensor } : {}),
    ...(last ? { outputLength: tensor, times } : {}),
    factors: {
      input: [...(first ? factors(roots.input) : []), ...leaf.factors.input],
      output: [...leaf.factors.output, ...(last ? factors(roots.output) : [])],
    },
    real,
  };
}
