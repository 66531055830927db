/** What a program is lowered to: launches in order, and buffers between them. */
import type { Kernel } from '../../ir/index.ts';
import type { SideCallback } from '../../plan/tree/leaf.ts';
import type { LoopProfile } from './loop-profile.ts';
import type { LaunchDraft } from './loops.ts';

/** Facts of the device that decide how a program is lowered. */
export type ProgramTarget = LoopProfile;

/** What can be decided in several ways, none of which changes what a program means. */
export interface Decided {
  /** What becomes a part of planned transforms: products between two of them and their neighbours, the neighbours alone, or nothing. */
  readonly beside: 'products' | 'neighbours' | 'nothing';
  /** Operations that storing a number and reading it again is worth. */
  readonly storing: number;
}

/** The decisions where nothing is timed. */
export const USUALLY: Decided = { beside: 'products', storing: 32 };

/** Decisions to be timed, the usual ones first: no more than the planner's own trials have candidates. */
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

/** Where the numbers of a side lie in its buffer, in numbers of that side's own kind. */
export interface Rows {
  readonly offset: number;
  /** From one number of a row to the next one. */
  readonly step: number;
  /** From one row to the next one. */
  readonly apart: number;
}

/** What a plan does to rows of numbers. Sides are packed where nothing else is said. */
export interface PlannedTransform {
  readonly op: PlannedOp;
  /** Points of the transform: of reals, the reals. */
  readonly size: number;
  readonly batches: number;
  readonly input?: Rows;
  readonly output?: Rows;
  readonly load?: BuiltCallback;
  readonly store?: BuiltCallback;
  /** Reals in each array that the callbacks read. */
  readonly arrays?: { readonly [name: string]: number };
  /** The transform is multiplied by a spectrum, and transformed back: one of all rows, or one of each. */
  readonly times?: {
    readonly conjugate: 'none' | 'signal' | 'kernel';
    readonly spectra: 'one' | 'each';
    /** The spectrum lies as the plan has prepared it. */
    readonly isPrepared?: true;
  };
  /** Only this is done: a spectrum is prepared for a convolution that is like this one. */
  readonly prepares?: true;
}

/** Planned transforms of rows, between buffers. */
export interface TransformLaunch {
  readonly transform: PlannedTransform;
  /** The input comes first, then arrays of callbacks (`arrayName` says which is which), and last the spectrum, if there is one. */
  readonly reads: readonly string[];
  readonly writes: string;
  /** Kernels in whose table of reals arrays of callbacks lie, by the names of the arrays. */
  readonly tables?: { readonly [name: string]: Kernel };
}

/** What callbacks call the array of a launch's `reads` at a place. */
export function arrayName(place: number): string {
  return `a${place}`;
}

/** A kernel and the buffers that it takes, in the order of its globals; or a plan. */
export type Launch = LaunchDraft | TransformLaunch;

/** What a program is for a device: launches in order, and buffers between them. */
export interface ProgramPieces {
  readonly launches: readonly Launch[];
  /** Reals in each. */
  readonly buffers: ReadonlyMap<string, number>;
  readonly outputLength: number;
}

/** Buffers are named by what they hold: `input v`, `output`, `stored 1` … */
export const OUTPUT = 'output';

/** Numbers of a row on each side of a transform, and whether they are complex. */
export function rowOf({ op, size, times }: PlannedTransform, side: 'input' | 'output') {
  const isReal = op === 'rfft' || op === 'irfft';
  const hasReals = isReal && ((op === 'rfft') === (side === 'input') || times !== undefined);
  const count = isReal && !hasReals ? size / 2 + 1 : size;
  return { count, isComplex: !hasReals };
}
