/** A planned transform as plain data, for code that launches its kernels without omnifft. */
import type { RootRun } from '../../numeric/nearest-roots.ts';

/** A type of typed arrays, as `globalThis` names it. */
export type ArrayName = 'Float32Array' | 'Float64Array' | 'Uint16Array' | 'Uint32Array';

/** The memory of a side: the length of each of its one or two arrays. */
export interface SideData {
  readonly length: number;
  readonly planar?: true;
  /** Whether some numbers do not belong to the transform and keep their values. */
  readonly gaps?: true;
}

/** A {@link RootRun} as p, step, q, count, re, im, stride, block, skip. */
export type RootRunData = readonly [number, number, number, number, number, number, number, number, number];

/** A table of constants: roots of unity, which the module computes, or bytes as text. */
export interface TableData {
  readonly array: ArrayName;
  readonly length: number;
  readonly runs?: readonly RootRunData[];
  readonly bytes?: string;
}

/** One launch: the name of the kernel, its groups in each chunk, its direction if the kernel has both, and its arguments. */
export interface StepData {
  readonly kernel: string;
  readonly groups: number;
  readonly reverse?: 0 | 1;
  /** Slot and offset in bytes of each array; slots are numbered as {@link SLOT_COUNT} says. */
  readonly arrays: readonly (readonly [slot: number, byteOffset: number])[];
  /** The numbers of the tables, which follow the arrays. */
  readonly tables: readonly number[];
}

export interface DirectionData {
  readonly chunks: number;
  readonly steps: readonly StepData[];
}

/** The number of slots: two arrays of the input, two of the output, and the memory between launches. */
export const SLOT_COUNT = 5;

export interface TransformData {
  readonly array: ArrayName;
  readonly input: SideData;
  /** Missing for transforms in place. */
  readonly output?: SideData;
  /** Bytes of the memory between launches, and bytes of a group's shared memory. */
  readonly temp: number;
  readonly shared: number;
  readonly tables: readonly TableData[];
  readonly forward?: DirectionData;
  readonly inverse?: DirectionData;
}
