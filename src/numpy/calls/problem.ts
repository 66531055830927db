/** Problems of the engine for transforms of dense arrays in C order. */
import { type Direction, hermitianLength, type ProblemInput, type TransformKind } from '../../problem/index.ts';
import { elementCount } from '../arrays/array.ts';

/** Problems of this room: interleaved, out of place, stored as they are computed. */
export type DenseProblem = Omit<
  ProblemInput,
  'layout' | 'placement' | 'transform' | 'precision' | 'storage' | 'edgeStorage'
> & {
  readonly transform?: TransformKind | undefined;
  readonly precision?: 'single' | 'double' | undefined;
};

/** Cosine and sine transforms: reals on both sides. */
export type SumKind = Exclude<TransformKind, 'c2c' | 'r2c'>;

/** Both sides of the problem: what stands in for host arrays on the device. */
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

/** What is asked of a problem. */
export interface Wanted {
  /** Slowest first; of a real transform, that of the reals. */
  readonly shape: readonly number[];
  /** Which axes are transformed, each once. */
  readonly axes: readonly number[];
  /** The one of them along which there are reals on one side. */
  readonly realAxis?: number | undefined;
  /** Of reals on both sides, along all of them. */
  readonly sums?: SumKind | undefined;
  readonly direction: Direction;
  readonly single: boolean;
  readonly scale: number;
}

/** One axis, or neighbouring ones that are not transformed. */
interface AxisRun {
  /** The outermost axis. */
  readonly axis: number;
  readonly length: number;
  readonly omitted: boolean;
  /** Elements between neighbours on each side. */
  readonly input: number;
  readonly output: number;
}

/**
 * The problem in as few dimensions as it has, so that arrays of different shapes share plans: axes of length 1 vanish
 * unless cosines and sines multiply them, neighbours that are not transformed become one, and those at the ends become batches. A real axis is the first one of the
 * problem wherever it is in memory: strides say where.
 *
 * @returns `axes`: which axis of the array each one of the problem is; no problem where nothing is transformed.
 */
export function denseProblemOf(wanted: Wanted): {
  readonly problem: DenseProblem | undefined;
  readonly axes: number[];
} {
  const { realAxis, sums, direction, single, scale } = wanted;
  const inner = axisRuns(wanted);
  if (inner.every(({ omitted }) => omitted)) return { problem: undefined, axes: [] };
  const left = inner[0]!.omitted ? inner.shift() : undefined;
  const batch = inner.at(-1)!.omitted ? inner.pop() : undefined;
  const isReal = ({ axis }: AxisRun) => axis === realAxis;
  const runs = [...inner.filter(isReal), ...inner.filter((run) => !isReal(run))];
  const along = (side: 'input' | 'output') => [left?.[side] ?? 1, ...runs.map((run) => run[side]), batch?.[side] ?? 1];
  const problem = {
    size: runs.map(({ length }) => length),
    ...(sums ? { transform: sums } : realAxis === undefined ? {} : { transform: 'r2c' as const }),
    omit: runs.map(({ omitted }) => omitted),
    leftBatches: left?.length ?? 1,
    batches: batch?.length ?? 1,
    // Without strides data is packed in the order of the axes.
    ...(runs[0] === inner[0] ? {} : { strides: { input: along('input'), output: along('output') } }),
    precision: single ? ('single' as const) : ('double' as const),
    directions: direction,
    scale: { [direction]: scale },
  };
  return { problem, axes: runs.map(({ axis }) => axis) };
}

/** Fastest first. */
function axisRuns({ shape, axes, realAxis, sums }: Wanted): AxisRun[] {
  const runs: AxisRun[] = [];
  let input = 1;
  let output = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis]!;
    const omitted = !axes.includes(axis);
    const last = runs.at(-1);
    if (omitted && last?.omitted) runs[runs.length - 1] = { ...last, length: last.length * length, axis };
    else if (length > 1 || axis === realAxis || (sums && !omitted)) runs.push({ axis, length, omitted, input, output });
    input *= length;
    output *= axis === realAxis ? hermitianLength(length) : length;
  }
  return runs;
}
