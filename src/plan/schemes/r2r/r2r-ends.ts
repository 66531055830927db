/** What is done at both ends of the complex transforms that sums of cosines and sines are made of. */
import { type Layout, line, negate, pad, reverse, slice, stack } from '../../../layout/index.ts';
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

/** The problem whose axis has so many complex points. */
export function complexAxis(problem: Problem, axis: number, points: number): Problem {
  return {
    ...problem,
    transform: problem.size.map(() => 'c2c'),
    placement: 'out-of-place',
    size: problem.size.map((n, d) => (d === axis ? points : n)),
  };
}

/**
 * Several uploads of so many reals, columns of which are transformed two by two: leaves to be given their ends.
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

/** Roots by which points are multiplied before all else, or bins after it. */
export interface EndFactors extends Pick<Factors, 'modulus' | 'step' | 'first'> {
  /** Default: roots. */
  readonly kind?: 'roots' | 'hartley';
}

/**
 * How a transform between reals is done by a real one: the order of its points, and what two of its results the parts of each bin are
 * that has been multiplied by twice a root.
 */
export interface RealDftEnds {
  /** The other way around, from results to points: kind III. */
  readonly back: boolean;
  /** Points: reals of the line, in an order of their own. Missing: the reals as they lie. */
  readonly points?: Pick<LineView, 'line' | 'title'>;
  /** Results that are the parts of each bin. */
  readonly sums: Folding;
  readonly roots: EndFactors;
  /** What results are multiplied by beside that. */
  readonly times?: ScaleFactor;
}

/**
 * Two reals of a line of N that are the parts of a number, counted from both ends: of number n, one is real `first` + n and the other one
 * real `last` − n, where there is one.
 */
export interface Folding {
  readonly first: number;
  readonly last: number;
  /** The part that is counted from the first real on. */
  readonly forwards: 're' | 'im';
  /** Imaginary parts have the other sign. */
  readonly negated?: true;
}

/** N numbers, each of two reals of a line. @param imaginary what is left of the imaginary parts */
export function folded(
  N: number,
  { first, last, forwards, negated }: Folding,
  imaginary: (parts: Layout) => Layout,
): Pick<LineView, 'line' | 'title'> {
  const reals = line(N);
  const [near, far] = [fromIndex(reals, first), fromIndex(reverse(reals, 0), N - 1 - last)];
  const [re, im] = forwards === 're' ? [near, far] : [far, near];
  const parts = imaginary(negated ? negate(im) : im);
  return { line: stack(1, re, parts), title: 'parts from both ends' };
}

/** As many elements from an index on, which may lie before the first one, with zeros where there are none. */
function fromIndex(of: Layout, from: number): Layout {
  const length = of.shape[0]!;
  if (from <= 0) return slice(pad(of, 0, -from, 0), 0, 0, length);
  return pad(slice(of, 0, from, length - from), 0, 0, from);
}

/** What the first launch does as it reads, and the last one as it writes. */
export interface R2rEnds {
  readonly input: Pick<LineView, 'line' | 'title'> | undefined;
  readonly output: Pick<LineView, 'line' | 'title'> | undefined;
  /** What the last launch multiplies what it writes by. */
  readonly times?: ScaleFactor;
  /** See `RealParts`. */
  readonly points: RealParts['points'];
  readonly roots: Partial<Sides<EndFactors>>;
  /** A dimension of which two neighbours are the parts of numbers in between. */
  readonly merged?: number | undefined;
}

/** An axis in one launch or several, between reals on both sides. @param scheme of so many complex points */
export function betweenReals(
  problem: Problem,
  axis: number,
  target: Target,
  { scheme, points }: { readonly scheme: ComplexScheme; readonly points: number },
  ends: R2rEnds,
): PlanNode {
  const whole = complexAxis(problem, axis, points);
  const { merged } = ends;
  const half = (count: number, of: number) => (of === merged ? Math.ceil(count / 2) : count);
  const own = axisPlace(whole, 'forward', axis, target);
  const place: AxisPlace = {
    ...own,
    order: 'natural',
    others: own.others.map((dimension) => ({ ...dimension, count: half(dimension.count, dimension.input.dimension) })),
    tensor: own.tensor.map(half),
  };
  const node = schemeNode(whole, axis, target, place, scheme);
  const table = scheme.by === 'bluestein' ? scheme.length : points;
  const tensor = tensorShape(problem, 'input');
  const leaves = leavesOf(node);
  const all = mapLeaves(node, (leaf) =>
    endedLeaf(leaf, { first: leaf === leaves[0], last: leaf === leaves.at(-1) }, { ...ends, axis, table, tensor }),
  );
  return isLeaf(all) ? all : { ...all, length: tensor, outputLength: tensor };
}

interface PlacedR2rEnds extends R2rEnds {
  readonly axis: number;
  /** Roots at each end, those of padded points included. */
  readonly table: number;
  readonly tensor: readonly number[];
}

function endedLeaf(
  leaf: LeafNode,
  { first, last }: { readonly first: boolean; readonly last: boolean },
  { axis, table, tensor, input, output, times = 1, points, roots, merged }: PlacedR2rEnds,
): LeafNode {
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
  const exponents = leaf.exponents === 'opposite' ? 'inverse' : 'forward';
  if (!first && !last) return { ...leaf, exponents };
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
