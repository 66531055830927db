/** What a call comes to: steps that plans do, and what is done to the numbers before and after each. */
import type { NumpyArray } from '../arrays/array.ts';
import { type Floats, floatZeros } from '../arrays/memory.ts';
import type { TransformStep } from './steps.ts';

/** Writes numbers where a plan reads them, all of them. */
export type Fill = (target: Floats, data: Floats) => void;

/** What is to be done to any data of some shape and type: nothing of it is one call's. */
export interface Work {
  /** In order, one or more: each takes what the one before gives, the first one the caller's data. */
  readonly steps: readonly WorkStep[];
  /** Of the result. */
  readonly shape: readonly number[];
  readonly dtype: NumpyArray['dtype'];
  /** In the caller's data. */
  readonly entries: number;
  /** Whether something looks at parts of the caller's data, which has to be a plain array for that. */
  readonly readsParts: boolean;
}

export interface WorkStep extends Pick<TransformStep, 'direction' | 'problem' | 'axes'> {
  /** The problem, as plans are kept by. */
  readonly key: string;
  readonly single: boolean;
  /** Numbers that the plan reads, or that the result has where there is no problem. */
  readonly length: number;
  /** Left out where the plan reads the data as it is. */
  readonly fill: Fill | undefined;
  /** What is done to the result, where it is. */
  readonly finish: ((data: Floats) => void) | undefined;
}

/** What is to be done, and to what. */
export interface TransformRequest {
  /** Where, as the caller says. */
  readonly device: unknown;
  readonly work: Work;
  /** The caller's own, or what was made of it. */
  readonly data: Floats;
}

/** A new array of what the plan of a step reads. @throws FftError `out-of-memory` */
export function filled({ fill, length, single }: WorkStep, data: Floats): Floats {
  const target = floatZeros(length, single);
  if (fill) fill(target, data);
  else target.set(data);
  return target;
}

/** The result of a call, with a shape of its own. */
export function callResult<R extends NumpyArray>({ shape, dtype }: Work, data: Floats): R {
  return { data, shape: shape.slice(), dtype } as NumpyArray as R;
}
