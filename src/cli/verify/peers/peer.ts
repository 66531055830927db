/** Another library, to hold errors beside ours: what it is asked for, and how many numbers go in and come out. */
import type { TransformKind } from '../../../problem/problem.ts';
import { pointsOfSize, type SuitePrecision } from '../suite.ts';

/** Transforms over all axes, one after another, unnormalised, as omnifft's own. */
export interface Task {
  readonly transform: TransformKind;
  readonly direction: 'forward' | 'inverse';
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: SuitePrecision;
}

/** A library whose numbers are singles or doubles, or of more digits and here in fixed point. */
export interface Peer<T extends number | bigint = number> {
  readonly name: string;
  /** Whether the library has this transform. */
  has(task: Task): boolean;
  /** Of real numbers one after another, complex ones as two; both sides have the sizes of `realsOnSide`. */
  run(task: Task, input: ArrayLike<T>): Promise<ArrayLike<T>>;
  close(): void;
}

/** A number of more digits than doubles, as one comes nearest in fixed point. */
export interface WidePeer extends Peer<bigint> {
  round(fixed: bigint): bigint;
}

/** Real numbers on one side of all transforms. */
export function realsOnSide(task: Task, side: 'read' | 'written'): number {
  return task.batches * lineOf(task, side);
}

/** And of one of them. */
export function lineOf({ transform, direction, size }: Task, side: 'read' | 'written'): number {
  const points = pointsOfSize(size);
  if (transform === 'c2c') return 2 * points;
  if (transform !== 'r2c' || (side === 'read') === (direction === 'forward')) return points;
  return 2 * (points / size[0]!) * (Math.floor(size[0]! / 2) + 1);
}

/** FFTW's and SciPy's names for what undoes a sum: types II and III are the inverse of each other. */
export function realKind({ transform, direction }: Task): TransformKind {
  if (direction === 'forward') return transform;
  return (OPPOSITES as Partial<Record<TransformKind, TransformKind>>)[transform] ?? transform;
}

const OPPOSITES = { dct2: 'dct3', dct3: 'dct2', dst2: 'dst3', dst3: 'dst2' } as const;
