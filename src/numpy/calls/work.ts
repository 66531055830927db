/** The work of a call: steps that plans carry out, and conversions of the numbers before and after each step. */
import type { NumpyArray } from '../arrays/array.ts';
import { type Floats, floatZeros } from '../arrays/memory.ts';
import type { TransformStep } from './steps.ts';

/** Writes all numbers that a plan reads to its input. */
export type Fill = (target: Floats, data: Floats) => void;

/** The work for any data of some shape and type; it holds nothing that belongs to one call. */
export interface Work {
  /** The steps in order, at least one: each takes the result of the one before, the first one the caller's data. */
  readonly steps: readonly WorkStep[];
  /** The shape of the result. */
  readonly shape: readonly number[];
  readonly dtype: NumpyArray['dtype'];
  /** The number of entries in the caller's data. */
  readonly entries: number;
  /** Whether a step takes subarrays of the caller's data, which then has to be an ordinary array and not of a subclass. */
  readonly takesSubarrays: boolean;
}

export interface WorkStep extends Pick<TransformStep, 'direction' | 'problem' | 'axes'> {
  /** The key of the problem in the cache of plans. */
  readonly key: string;
  readonly single: boolean;
  /** The number of reals that the plan reads, or that the result has if there is no problem. */
  readonly length: number;
  /** Absent if the plan reads the data directly. */
  readonly fill: Fill | undefined;
  /** Changes the result in place; absent if nothing has to change. */
  readonly finish: ((data: Floats) => void) | undefined;
}

/** Work with its data. */
export interface TransformRequest {
  /** The device that the caller has given. */
  readonly device: unknown;
  readonly work: Work;
  /** The caller's own array, or its conversion. */
  readonly data: Floats;
}

/** A new array with the input of a step's plan. @throws FftError `out-of-memory` */
export function filled({ fill, length, single }: WorkStep, data: Floats): Floats {
  const target = floatZeros(length, single);
  if (fill) fill(target, data);
  else target.set(data);
  return target;
}

/** The result of a call, with a copy of the shape. */
export function callResult<R extends NumpyArray>({ shape, dtype }: Work, data: Floats): R {
  return { data, shape: shape.slice(), dtype } as NumpyArray as R;
}
