/** Problems of the engine for transforms of dense arrays in C order. */
import { type Direction, hermitianLength, type ProblemInput, type TransformKind } from '../../problem/index.ts';
import { elementCount } from '../arrays/array.ts';

/** Problems of this room: interleaved, out of place, stored in the precision of the arithmetic. */
export type DenseProblem = Omit<
  ProblemInput,
  'layout' | 'placement' | 'transform' | 'precision' | 'storage' | 'edgeStorage'
> & {
  readonly transform?: TransformKind | undefined;
  readonly precision?: 'single' | 'double' | undefined;
};

/** The kinds of real-to-real transforms. */
export type R2rKind = Exclude<TransformKind, 'c2c' | 'r2c'>;

/** Bytes of both sides of a problem on the device. */
export function bytesOfSides({
  size,
  transform = 'c2c',
  leftBatches = 1,
  batches = 1,
  precision,
}: DenseProblem): number {
  const points = elementCount(size) * leftBatches * batches;
  const bins = (points / size[0]!) * hermitianLength(size[0]!);
  const reals = transform === 'c2c' ? 4 * points : transform === 'r2c' ? points + 2 * bins : 2 * points;
  return reals * (precision === 'single' ? 4 : 8);
}

/** A transform of a dense array. */
export interface DenseTransform {
  /** Lengths of the array, slowest first; for real transforms the lengths of the real side. */
  readonly shape: readonly number[];
  /** The axes to transform, each once. */
  readonly axes: readonly number[];
  /** The axis along which one side is real, if there is one. */
  readonly realAxis?: number | undefined;
  /** The kind of real-to-real transform along all axes, if it is one. */
  readonly r2r?: R2rKind | undefined;
  readonly direction: Direction;
  readonly single: boolean;
  readonly scale: number;
}

/** An axis to transform, or a run of adjacent axes that are not transformed. */
interface AxisRun {
  /** The outermost axis of the run. */
  readonly axis: number;
  readonly length: number;
  readonly omitted: boolean;
  /** The strides on each side, in elements. */
  readonly input: number;
  readonly output: number;
}

/**
 * The problem with as few dimensions as possible, so that arrays of different shapes share plans. Axes of length 1 are dropped, unless a real-to-real
 * transform scales them; adjacent axes that are not transformed are merged, and at both ends they become batches. A real axis is the problem's first
 * axis wherever it lies in memory, because strides are given.
 * @returns `axes`: the axis of the array for each axis of the problem. There is no problem if nothing is transformed.
 */
export function denseProblemOf(wanted: DenseTransform): {
  readonly problem: DenseProblem | undefined;
  readonly axes: number[];
} {
  const { realAxis, r2r, direction, single, scale } = wanted;
  const inner = axisRuns(wanted);
  if (inner.every(({ omitted }) => omitted)) return { problem: undefined, axes: [] };
  const left = inner[0]!.omitted ? inner.shift() : undefined;
  const batch = inner.at(-1)!.omitted ? inner.pop() : undefined;
  const isReal = ({ axis }: AxisRun) => axis === realAxis;
  const runs = [...inner.filter(isReal), ...inner.filter((run) => !isReal(run))];
  const along = (side: 'input' | 'output') => [left?.[side] ?? 1, ...runs.map((run) => run[side]), batch?.[side] ?? 1];
  const problem = {
    size: runs.map(({ length }) => length),
    ...(r2r ? { transform: r2r } : realAxis === undefined ? {} : { transform: 'r2c' as const }),
    omit: runs.map(({ omitted }) => omitted),
    leftBatches: left?.length ?? 1,
    batches: batch?.length ?? 1,
    // Without strides, axes are packed in order.
    ...(runs[0] === inner[0] ? {} : { strides: { input: along('input'), output: along('output') } }),
    precision: single ? ('single' as const) : ('double' as const),
    directions: direction,
    scale: { [direction]: scale },
  };
  return { problem, axes: runs.map(({ axis }) => axis) };
}

/** The axes and runs, fastest first. */
function axisRuns({ shape, axes, realAxis, r2r }: DenseTransform): AxisRun[] {
  const runs: AxisRun[] = [];
  let input = 1;
  let output = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis]!;
    const omitted = !axes.includes(axis);
    const last = runs.at(-1);
    if (omitted && last?.omitted) runs[runs.length - 1] = { ...last, length: last.length * length, axis };
    else if (length > 1 || axis === realAxis || (r2r && !omitted)) runs.push({ axis, length, omitted, input, output });
    input *= length;
    output *= axis === realAxis ? hermitianLength(length) : length;
  }
  return runs;
}
