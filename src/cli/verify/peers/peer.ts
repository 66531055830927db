/** The interface of other libraries whose errors are compared. */
import type { TransformKind } from '../../../problem/problem.ts';
import { pointsOfSize, type SuitePrecision } from '../suite.ts';

/** A transform over all axes, for several batches one after another, unnormalised like omnifft's own. */
export interface Task {
  readonly transform: TransformKind;
  readonly direction: 'forward' | 'inverse';
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: SuitePrecision;
}

/** A library. Its numbers are singles or doubles, or wider numbers in fixed point. */
export interface Peer<T extends number | bigint = number> {
  readonly name: string;
  /** Whether the library has this transform. */
  has(task: Task): boolean;
  /** Transforms real numbers, or complex ones as two reals each; both sides have the sizes of `realsOnSide`. */
  run(task: Task, input: ArrayLike<T>): Promise<ArrayLike<T>>;
  close(): void;
}

/** A library whose numbers are wider than doubles, and are given in fixed point. */
export interface WidePeer extends Peer<bigint> {
  round(fixed: bigint): bigint;
}

/** The number of reals on one side of all batches. */
export function realsOnSide(task: Task, side: 'read' | 'written'): number {
  return task.batches * lineOf(task, side);
}

/** The number of reals on one side of one batch. */
export function lineOf({ transform, direction, size }: Task, side: 'read' | 'written'): number {
  const points = pointsOfSize(size);
  if (transform === 'c2c') return 2 * points;
  if (transform !== 'r2c' || (side === 'read') === (direction === 'forward')) return points;
  return 2 * (points / size[0]!) * (Math.floor(size[0]! / 2) + 1);
}

/** The kind of transform under FFTW's and SciPy's name for the direction: DCT-II and DCT-III, like DST-II and DST-III, are inverses of each other. */
export function realKind({ transform, direction }: Task): TransformKind {
  if (direction === 'forward') return transform;
  return (OPPOSITES as Partial<Record<TransformKind, TransformKind>>)[transform] ?? transform;
}

const OPPOSITES = { dct2: 'dct3', dct3: 'dct2', dst2: 'dst3', dst3: 'dst2' } as const;
