/** A planned transform as plain data, for code that launches its kernels without omnifft. */
import type { RootRun } from '../../numeric/nearest-roots.ts';

/** A type of typed arrays, as `globalThis` names it. */
export type ArrayName = 'Float32Array' | 'Float64Array' | 'Uint16Array' | 'Uint32Array';

/** Memory of a side: numbers of each of its one or two arrays. */
export interface SideData {
  readonly length: number;
  readonly planar?: true;
  /** Not all of them belong to the transform: the others keep what they hold. */
  readonly gaps?: true;
}

/** A {@link RootRun} as p, step, q, count, re, im, stride, block, skip. */
export type RootRunData = readonly [number, number, number, number, number, number, number, number, number];

/** Constants of a kernel: roots of unity, which the module computes, or bytes as a text. */
export interface TableData {
  readonly array: ArrayName;
  readonly length: number;
  readonly runs?: readonly RootRunData[];
  readonly bytes?: string;
}

/** One launch: a kernel's export, its groups in each chunk, its direction if it has both, and pointers. */
export interface StepData {
  readonly kernel: string;
  readonly groups: number;
  readonly reverse?: 0 | 1;
  /** Slot and offset in bytes of each array; slots are numbered as {@link SLOT_COUNT} says. */
  readonly arrays: readonly (readonly [slot: number, byteOffset: number])[];
  /** Numbers of the tables that follow them. */
  readonly tables: readonly number[];
}

export interface DirectionData {
  readonly chunks: number;
  readonly steps: readonly StepData[];
}

/** Slots: the two arrays of the input, the two of the output, and memory between launches. */
export const SLOT_COUNT = 5;

export interface TransformData {
  readonly array: ArrayName;
  readonly input: SideData;
  /** Missing in place. */
  readonly output?: SideData;
  /** Bytes between launches, and bytes that a group of items shares. */
  readonly temp: number;
  readonly shared: number;
  readonly tables: readonly TableData[];
  readonly forward?: DirectionData;
  readonly inverse?: DirectionData;
}
