/**
 * Cosine and sine transforms, DCT and DST I to IV as FFTW defines them (REDFT and RODFT; VkFFT guide 2.5.5): real on both sides.
 *
 * N reals are continued to a sequence of L points, even or odd around both ends, whose transform has the sums as its bins, but for
 * a factor at each point and each bin (Martucci, "Symmetric convolution and the discrete sine and cosine transforms", 1994). It is
 * linear in complex numbers, too: two lines of reals are the parts of one, and come out side by side.
 */
import { type Direction, type Problem, type TransformKind, tensorShape } from '../problem/index.ts';
import { axisPlace, convolvedAlone, convolvedLength, convolvedPrice, dimensionsOf, uploadsQuestion } from './axis.ts';
import { convolvedPlace } from './convolved.ts';
import { type AxisPlace, axisNode } from './four-step.ts';
import type { Factors } from './leaf.ts';
import {
  type Dimension,
  type ElementFactors,
  type Extended,
  isLeaf,
  type LeafNode,
  leafNode,
  leavesOf,
  mapLeaves,
  type Place,
  type PlanNode,
} from './node.ts';
import type { Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { inOneLaunch, mergedLines, twoByTwo } from './real.ts';
import { isPadded, isPaddedAxis } from './scheme.ts';
import { rankUploads } from './uploads.ts';

/** How the sums of one kind become a transform. */
interface Continuation {
  /** Points: twice as many as there are reals, and twice this many more. */
  readonly more: -1 | 0 | 1;
  /** The first real is at point 0 or 1. */
  readonly shift: 0 | 1;
  /** Reals of the second half are those at `mirror − j`, counted from L, with this sign. */
  readonly mirror: 0 | -1;
  readonly sign: 1 | -1;
  /** Point j is multiplied by e^{−2πi·j/4N}: sums that begin half a step later. */
  readonly load?: true;
  /** Bin k is multiplied by e^{−2πi·k/4N}, or by e^{−2πi·(2k + 1)/8N}. */
  readonly store?: 'half' | 'quarter';
  /** The bin of the first sum; sines come out imaginary, and begin where they are not all zero. */
  readonly first: 0 | 1;
  readonly sines?: true;
}

const CONTINUATIONS: Readonly<Record<Exclude<TransformKind, 'c2c' | 'r2c'>, Continuation>> = {
  dct1: { more: -1, shift: 0, mirror: 0, sign: 1, first: 0 },
  dct2: { more: 0, shift: 0, mirror: -1, sign: 1, store: 'half', first: 0 },
  dct3: { more: 0, shift: 0, mirror: 0, sign: -1, load: true, first: 0 },
  dct4: { more: 0, shift: 0, mirror: -1, sign: -1, load: true, store: 'quarter', first: 0 },
  dst1: { more: 1, shift: 1, mirror: -1, sign: -1, first: 1, sines: true },
  dst2: { more: 0, shift: 0, mirror: -1, sign: -1, store: 'half', first: 1, sines: true },
  dst3: { more: 0, shift: 1, mirror: -1, sign: 1, load: true, first: 0, sines: true },
  dst4: { more: 0, shift: 0, mirror: -1, sign: 1, load: true, store: 'quarter', first: 0, sines: true },
};

/** The transform that undoes another, but for a factor. */
const INVERSES: Readonly<Partial<Record<TransformKind, TransformKind>>> = {
  dct2: 'dct3',
  dct3: 'dct2',
  dst2: 'dst3',
  dst3: 'dst2',
};

function continuationOf({ transform }: Problem, axis: number, direction: Direction): Continuation {
  const own = transform[axis]!;
  const kind = direction === 'forward' ? own : (INVERSES[own] ?? own);
  return CONTINUATIONS[kind as keyof typeof CONTINUATIONS];
}

/** Points of the transform that makes the sums along an axis. */
function pointsOf(problem: Problem, axis: number): number {
  return 2 * (problem.size[axis]! + continuationOf(problem, axis, 'forward').more);
}

/** The problem whose axis has all points, as complex numbers. */
function continued(problem: Problem, axis: number): Problem {
  return {
    ...problem,
    transform: problem.size.map(() => 'c2c'),
    placement: 'out-of-place',
    size: problem.size.map((n, d) => (d === axis ? pointsOf(problem, axis) : n)),
  };
}

/** Whether sums of a kind, and those that undo them, are pairs of the bins of as many points. */
function arePairs({ transform }: Problem, axis: number): boolean {
  return INVERSES[transform[axis]!] !== undefined;
}

/** The problem whose axis is one of complex numbers. */
function complexAxis(problem: Problem, axis: number): Problem {
  const whole = continued(problem, axis);
  return { ...whole, size: problem.size };
}

/** The ways to split an axis into uploads. */
export function waysOfSums(problem: Problem, axis: number, profile: DeviceProfile, most: number) {
  const whole = continued(problem, axis);
  const points = pointsOf(problem, axis);
  const value = [points];
  const paired = arePairs(problem, axis) && inOneLaunch(complexAxis(problem, axis), axis, profile, most);
  if (paired) return [{ value: [problem.size[axis]!], price: paired.price }];
  if (isPaddedAxis(whole, axis, profile)) return [{ value, price: 2 * convolvedPrice(whole, axis, profile) }];
  return rankUploads(uploadsQuestion(whole, axis, profile), most).map(
    (way): Priced<readonly number[]> => ({ value: way.value, price: 2 * way.price }),
  );
}

/** The node of an axis. @param uploads one of `waysOfSums` */
export function sumsAxis(
  problem: Problem,
  direction: Direction,
  axis: number,
  profile: DeviceProfile,
  uploads: readonly number[],
): PlanNode {
  const merged = mergedLines(problem, axis);
  const alone = uploads.length === 1 && uploads[0] === problem.size[axis];
  if (alone && arePairs(problem, axis)) return pairedAxis(problem, direction, axis, profile, merged);
  const whole = continued(problem, axis);
  const half = (dimension: Dimension): Dimension =>
    dimension.input.of === merged ? { ...dimension, count: Math.ceil(dimension.count / 2) } : dimension;
  const own = axisPlace(whole, 'forward', axis, profile);
  const place: AxisPlace = {
    ...own,
    order: 'natural',
    others: own.others.map(half),
    tensor: own.tensor.map((count, of) => (of === merged ? Math.ceil(count / 2) : count)),
  };
  const isLong = isPaddedAxis(whole, axis, profile);
  const node = isLong ? convolvedPlace(whole, axis, profile, place) : axisNode(place, uploads);
  const points = isLong ? convolvedLength(whole, axis, profile).length : place.length;
  return withEnds(node, problem, axis, merged, { ...continuationOf(problem, axis, direction), points });
}

/** Cosines or sines of kinds II and III in one launch: of as many points, two lines at a time. */
function pairedAxis(
  problem: Problem,
  direction: Direction,
  axis: number,
  profile: DeviceProfile,
  merged: number | undefined,
): LeafNode {
  const count = problem.size[axis]!;
  const { load, sines } = continuationOf(problem, axis, direction);
  const of = axis + 1;
  const [one, two] = [1, 2].map((step): Place => ({ of, step })) as [Place, Place];
  // Points come in steps of two, first those with even numbers, then the others backwards.
  const along = load ? { input: one, output: two } : { input: two, output: one };
  const lines = dimensionsOf(problem).filter((dimension, d) => d !== of && dimension.count > 1);
  const batch = lines.map((dimension) => (dimension.input.of === merged ? twoByTwo(dimension) : dimension));
  const tensor = tensorShape(problem, 'input');
  const node = leafNode({ title: `axis ${axis}`, axisOf: axis, axis: { count, ...along }, batch, tensor });
  const padded = isPadded(count, problem.precision, profile)
    ? { padded: convolvedAlone(complexAxis(problem, axis), axis, profile)!.value }
    : {};
  return {
    ...node,
    ...padded,
    forward: true,
    extended: { on: load ? 'output' : 'input', of, count, shift: 0, mirror: 2 * count - 1, sign: sines ? -1 : 1 },
    real: {
      ...{ side: 'both', by: 'cosines' },
      ...(sines ? { sines } : {}),
      ...(load ? { back: true } : {}),
      ...(merged === undefined ? {} : { beside: { of: merged, step: 1 } }),
    },
  };
}

/** What is done before and after a transform that goes over so many points, padded ones included. */
interface Ends extends Continuation {
  readonly points: number;
}

/** The first launch reads reals, and the last one writes them. */
function withEnds(node: PlanNode, problem: Problem, axis: number, merged: number | undefined, own: Ends): PlanNode {
  const tensor = tensorShape(problem, 'input');
  const leaves = leavesOf(node);
  const beside: Place | undefined = merged === undefined ? undefined : { of: merged, step: 1 };
  const apart = (dimension: Dimension, side: 'input' | 'output'): Dimension =>
    dimension[side].of === merged ? { ...dimension, [side]: { of: merged, step: 2 } } : dimension;
  const outer = (leaf: LeafNode): LeafNode => {
    const [first, last] = [leaf === leaves[0], leaf === leaves.at(-1)];
    let batch = leaf.batch;
    if (first) batch = batch.map((dimension) => apart(dimension, 'input'));
    if (last) batch = batch.map((dimension) => apart(dimension, 'output'));
    return {
      ...leaf,
      forward: true,
      batch,
      ...(first ? { length: tensor, extended: extendedOf(problem, axis, own) } : {}),
      ...(last ? { outputLength: tensor, cropped: { of: axis + 1, from: own.first, count: problem.size[axis]! } } : {}),
      ...(first || last ? { factors: factorsOf(leaf, problem, axis, own, first, last) } : {}),
      ...(first || last
        ? {
            real: {
              side: first && last ? 'both' : first ? 'input' : 'output',
              by: 'parts',
              ...(beside ? { beside } : {}),
            },
          }
        : {}),
    };
  };
  const all = mapLeaves(node, outer);
  return isLeaf(all) ? all : { ...all, length: tensor, outputLength: tensor };
}

function extendedOf(problem: Problem, axis: number, { shift, mirror, sign }: Continuation): Extended {
  const count = problem.size[axis]!;
  return { on: 'input', of: axis + 1, count, shift, mirror: pointsOf(problem, axis) + mirror, sign };
}

/** Factors of points before all others, factors of bins after them. */
function factorsOf(
  { factors }: LeafNode,
  problem: Problem,
  axis: number,
  { load, store, sines, points }: Ends,
  first: boolean,
  last: boolean,
): NonNullable<LeafNode['factors']> {
  const n = problem.size[axis]!;
  const roots = (own: Omit<Factors, 'kind'>): ElementFactors => ({
    kind: 'roots',
    ...own,
    count: points,
    along: axis + 1,
  });
  // i = e^{−2πi·3/4}.
  const bins: Omit<Factors, 'kind'> | undefined =
    store === 'half'
      ? { of: 4 * n, step: 1, first: sines ? 3 * n : 0 }
      : store === 'quarter'
        ? { of: 8 * n, step: 2, first: 1 + (sines ? 6 * n : 0) }
        : sines
          ? { of: 4, step: 0, first: 3 }
          : undefined;
  return {
    input: [...(first && load ? [roots({ of: 4 * n, step: 1, first: 0 })] : []), ...(factors?.input ?? [])],
    output: [...(factors?.output ?? []), ...(last && bins ? [roots(bins)] : [])],
  };
}

/** Nothing to transform: reals are copied. */
export function copiedReals(problem: Problem): LeafNode {
  const tensor = tensorShape(problem, 'input');
  const batch = dimensionsOf(problem).filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { ...leafNode({ title: 'copy', axis, batch, tensor }), forward: true, real: { side: 'both', by: 'parts' } };
}
