/** The lowered form of a program: launches in order, and the buffers between them. */
import type { Kernel } from '../../../ir/index.ts';
import type { SideCallback } from '../../../plan/tree/leaf.ts';
import type { LoopProfile } from '../expressions/loop-profile.ts';
import type { LaunchDraft } from './loops.ts';

/** Facts of the device that decide how a program is lowered. */
export type ProgramTarget = LoopProfile;

/** Decisions that may go several ways without changing the meaning of a program. */
export interface Decided {
  /** The kernels that become parts of planned transforms: products between two transforms and neighbours, neighbours alone, or none. */
  readonly beside: 'products' | 'neighbours' | 'nothing';
  /** The number of operations that cost as much as storing a number and reading it again. */
  readonly storing: number;
}

/** The decisions of a program that is not tuned by timing. */
export const USUALLY: Decided = { beside: 'products', storing: 32 };

/** The decisions to be timed, the usual ones first: no more candidates than the planner's own trials have. */
export const WAYS: readonly Decided[] = [
  USUALLY,
  { ...USUALLY, beside: 'neighbours' },
  { ...USUALLY, beside: 'nothing' },
  { ...USUALLY, storing: 4 },
  { ...USUALLY, storing: 256 },
  { beside: 'neighbours', storing: 4 },
  { beside: 'neighbours', storing: 256 },
  { beside: 'nothing', storing: 256 },
];

export type PlannedOp = 'fft' | 'ifft' | 'rfft' | 'irfft';

/** A callback of a plan as plain data. Its places are along dimensions 1, the axis, and 3, the rows. */
export type BuiltCallback = SideCallback['built'];

/** The position of one side's numbers in its buffer, counted in the side's own numbers (real or complex). */
export interface Rows {
  readonly offset: number;
  /** The distance between successive numbers of a row. */
  readonly step: number;
  /** The distance between successive rows. */
  readonly apart: number;
}

/** A planned transform of rows of numbers. A side is packed unless its position is given. */
export interface PlannedTransform {
  readonly op: PlannedOp;
  /** The length of the transform in points; for a transform of reals the number of reals. */
  readonly size: number;
  readonly batches: number;
  readonly input?: Rows;
  readonly output?: Rows;
  readonly load?: BuiltCallback;
  readonly store?: BuiltCallback;
  /** Reals in each array that the callbacks read. */
  readonly arrays?: { readonly [name: string]: number };
  /** A spectrum that the transform is multiplied by before it is transformed back: one for all rows, or one for each row. */
  readonly times?: {
    readonly conjugate: 'none' | 'signal' | 'kernel';
    readonly spectra: 'one' | 'each';
    /** Set where the spectrum lies in the order in which the plan has prepared it. */
    readonly isPrepared?: true;
  };
  /** Set where the launch only prepares a spectrum, for a convolution with this description. */
  readonly prepares?: true;
}

/** Planned transforms of rows, between buffers. */
export interface TransformLaunch {
  readonly transform: PlannedTransform;
  /** The input comes first, then arrays of callbacks (`nameOfRead` says which is which), and last the spectrum, if there is one. */
  readonly reads: readonly string[];
  readonly writes: string;
  /** Kernels by the names of arrays: an array of a callback lies in the table of reals of its kernel. */
  readonly tables?: { readonly [name: string]: Kernel };
}

/** The name by which callbacks call the array at a place of a launch's `reads`. */
export function nameOfRead(place: number): string {
  return `a${place}`;
}

/** A launch: a kernel and its buffers, in the order of its globals; or a plan. */
export type Launch = LaunchDraft | TransformLaunch;

/** A program compiled for a device: launches in order, and the buffers between them. */
export interface ProgramPieces {
  readonly launches: readonly Launch[];
  /** The length of each buffer in reals. */
  readonly buffers: ReadonlyMap<string, number>;
  readonly outputLength: number;
}

/** The buffer of the program's result. Buffers are named by their contents: `input v`, `output`, `stored 1` … */
export const OUTPUT = 'output';

/** Numbers of a row on each side of a transform, and whether they are complex. */
export function rowShape({ op, size, times }: PlannedTransform, side: 'input' | 'output') {
  const isReal = op === 'rfft' || op === 'irfft';
  const hasReals = isReal && ((op === 'rfft') === (side === 'input') || times !== undefined);
  const count = isReal && !hasReals ? size / 2 + 1 : size;
  return { count, isComplex: !hasReals };
}
