/** What a function of NumPy's amounts to: transforms one after the other, each with every axis at most once. */
import { excerpt, FftError } from '../../problem/errors.ts';
import { type Direction, hermitianLength } from '../../problem/index.ts';
import { elementCount } from '../arrays/array.ts';
import type { Arguments, Norm } from './arguments.ts';
import { type DenseProblem, denseProblemOf } from './problem.ts';

/** How a function transforms. */
export interface TransformWay {
  readonly direction: Direction;
  /** `r2c`: along the last of its axes there are reals on one side, and the bins that are not known from others on the other. */
  readonly transform: 'c2c' | 'r2c';
  /** Whether the bins are those of the conjugate signal, which exchanges the directions: `norm` speaks of the other one. */
  readonly conjugate: boolean;
}

/** One transform of the engine. */
export interface TransformStep {
  readonly direction: Direction;
  /** Undefined where there is nothing to compute. */
  readonly problem: DenseProblem | undefined;
  /** Which axis of the array each axis of the problem is. */
  readonly axes: readonly number[];
  /** What it takes: the shape that an array is cropped or filled to, and whether of complex numbers. */
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

/** Runs of axes that differ, the last axis first: NumPy's order of application but in `irfftn`, which has the opposite one. */
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

/** @param asked the shape that the caller knows. @throws FftError `invalid-size` for more numbers than can be counted */
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

/** An error about the lengths of a problem in the words of the array: which of its axes they are of. */
export function inAxes(error: unknown, { axes }: Pick<TransformStep, 'axes'>): unknown {
  if (!(error instanceof FftError) || !error.problems.some(({ path }) => path.startsWith('size['))) return error;
  const worded = (text: string) =>
    text.replace(/size\[(\d+)\](?: = (\d+) has)?/g, (_, n, length) =>
      length ? `axis ${axes[n]} has length ${length}, which has` : `the length of axis ${axes[n]}`,
    );
  const problems = error.problems.map((problem) => ({ ...problem, message: worded(problem.message) }));
  return new FftError(error.code, worded(error.message), { problems, cause: error });
}
