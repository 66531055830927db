/** The steps of a function of NumPy's: transforms one after another, in each of which an axis occurs once at most. */
import { excerpt, FftError } from '../../problem/errors.ts';
import { type Direction, hermitianLength } from '../../problem/index.ts';
import { elementCount } from '../arrays/array.ts';
import type { Arguments, Norm } from './arguments.ts';
import { type DenseProblem, denseProblemOf } from './problem.ts';

/** How a function transforms. */
export interface TransformWay {
  readonly direction: Direction;
  /** For `r2c`, one side is real along the last axis, and the other has the ⌊n/2⌋ + 1 bins that determine the rest. */
  readonly transform: 'c2c' | 'r2c';
  /** Whether the signal is conjugated, which exchanges the directions: `norm` then refers to the opposite direction. */
  readonly conjugate: boolean;
}

/** One transform of the engine. */
export interface TransformStep {
  readonly direction: Direction;
  /** The problem; undefined if there is nothing to compute. */
  readonly problem: DenseProblem | undefined;
  /** The axis of the array for each axis of the problem. */
  readonly axes: readonly number[];
  /** The shape that the array is cropped or padded to, and whether it is complex. */
  readonly from: OperandShape;
  readonly to: OperandShape;
}

export interface OperandShape {
  readonly shape: readonly number[];
  readonly complex: boolean;
}

export interface AxisLine {
  readonly axis: number;
  readonly length: number;
}

/**
 * The steps of a transform.
 * @param shape of the array
 * @throws FftError `invalid-size`
 */
export function fftSteps(
  shape: readonly number[],
  { axes, lengths, norm }: Arguments,
  kind: TransformWay,
  single: boolean,
): TransformStep[] {
  const groups = axisGroups(axes.map((axis, k) => ({ axis, length: lengths[k]! })));
  const isReal = (group: readonly AxisLine[]) => kind.transform === 'r2c' && group === groups[0];
  const order = kind.transform === 'r2c' && kind.direction === 'inverse' ? groups.toReversed() : groups;
  let current = shape;
  return order.map((group) => {
    const step = fftStep(current, group, { ...kind, real: isReal(group), norm, single });
    current = step.to.shape;
    return step;
  });
}

/** Groups of distinct axes, the last axis first: the order in which NumPy transforms, except in `irfftn`, which has the opposite order. */
function axisGroups(lines: readonly AxisLine[]): AxisLine[][] {
  const groups: AxisLine[][] = [];
  for (const line of lines.toReversed()) {
    const group = groups.at(-1);
    if (group && !group.some(({ axis }) => axis === line.axis)) group.push(line);
    else groups.push([line]);
  }
  return groups;
}

interface FunctionFacts extends TransformWay {
  readonly real: boolean;
  readonly norm: Norm;
  readonly single: boolean;
}

function fftStep(
  before: readonly number[],
  group: readonly AxisLine[],
  { direction, conjugate, real, norm, single }: FunctionFacts,
): TransformStep {
  const axes = group.map(({ axis }) => axis);
  const points = group.map(({ length }) => length);
  const spatial = resized(before, group);
  const realAxis = real ? axes[0]! : undefined;
  const bins = real ? resized(spatial, [{ axis: axes[0]!, length: hermitianLength(points[0]!) }]) : spatial;
  for (const shape of [spatial, bins]) checkShapeFits(shape, spatial);
  const sides = [
    { shape: spatial, complex: !real },
    { shape: bins, complex: true },
  ] as const;
  const [from, to] = direction === 'forward' ? sides : [sides[1], sides[0]];
  if (elementCount(spatial) === 0) return { direction, problem: undefined, axes: [], from, to };
  const scale = fftScale(norm, (direction === 'forward') !== conjugate, elementCount(points));
  return { direction, ...denseProblemOf({ shape: spatial, axes, realAxis, direction, single, scale }), from, to };
}

/** Checks that a shape's numbers can be counted. @param requested the shape as the caller knows it. @throws FftError `invalid-size` */
export function checkShapeFits(shape: readonly number[], requested = shape): void {
  if (Number.isSafeInteger(16 * elementCount(shape))) return;
  const message = `Shape [${excerpt(requested.join(', '))}] has more numbers than any memory; crop to less.`;
  throw new FftError('invalid-size', message);
}

export function resized(shape: readonly number[], lines: readonly AxisLine[]): number[] {
  const changed = [...shape];
  for (const { axis, length } of lines) changed[axis] = length;
  return changed;
}

/** The factor of one direction. */
function fftScale(norm: Norm, forward: boolean, points: number): number {
  if (norm === 'ortho') return 1 / Math.sqrt(points);
  return forward === (norm === 'forward') ? 1 / points : 1;
}

/** Rewrites an error about lengths of a problem to the axes of the array. */
export function inAxes(error: unknown, { axes }: Pick<TransformStep, 'axes'>): unknown {
  if (!(error instanceof FftError) || !error.problems.some(({ path }) => path.startsWith('size['))) return error;
  const worded = (text: string) =>
    text.replace(/size\[(\d+)\](?: = (\d+) has)?/g, (_, n, length) =>
      length ? `axis ${axes[n]} has length ${length}, which has` : `the length of axis ${axes[n]}`,
    );
  const problems = error.problems.map((problem) => ({ ...problem, message: worded(problem.message) }));
  return new FftError(error.code, worded(error.message), { problems, cause: error });
}
