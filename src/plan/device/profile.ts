/**
 * A device as the planner sees it: numbers only (design decision 5). Nothing in plan/ asks what kind of device it is.
 */
import type { Calibration } from './calibration.ts';

export interface DeviceProfile {
  /** For people; the planner never reads it. */
  readonly name: string;
  /**
   * What runs in lockstep: the elements of a vector, which walk along one loop together, or threads of a group, each of
   * which may take any item of a phase.
   */
  readonly lockstep: 'vector' | 'threads';
  /** Bytes that the threads in lockstep hold of one variable: 16 for a `v128`, 128 for a warp of 32 singles. */
  readonly lockstepBytes: number;
  /** Bytes of memory shared by a group. On a CPU: the share of the second-level cache that a core can count on. */
  readonly sharedBytes: number;
  /** Bytes of shared memory for all groups that run side by side on a multiprocessor; default: those of one group. */
  readonly residentBytes?: number;
  /** Share of the bandwidth that is left where a group takes more than three tenths of those; missing: reckoned (share.ts). */
  readonly crowded?: number;
  /** Groups of several blocks that write into one another's shared memory. Missing where there are none. */
  readonly cluster?: ClusterProfile;
  /** Bytes of memory that addresses on the device reach: what a problem's buffers have to fit into. */
  readonly maxBytes?: number;
  /** Bytes that memory moves at once; runs shorter than this waste bandwidth. */
  readonly coalescedBytes: number;
  /**
   * What `coalescedBytes` is for columns in batches of more bytes than `above`: those come from memory and not from a cache, a
   * page for each element. Of axes in one upload, and of a last upload that works in place. Missing: the same as elsewhere.
   */
  readonly distant?: { readonly above: number; readonly axes: number; readonly uploads: number };
  /** Share of the bandwidth that runs of half, a quarter, … of those bytes reach; shorter ones are not used. */
  readonly cutRuns?: readonly number[];
  /**
   * True where the first of two uploads of an axis had best do the reordering, so that the second can work in place and
   * walks along columns on both sides: where it matters how many buffers share a cache, and that tiles are transposed. In
   * place only as far as `chunks` counts on a cache.
   */
  readonly reorderFirst?: boolean;
  /**
   * Chunks of batches that stay in a cache from one launch to the next: bytes of one side that a multiprocessor had best
   * have of them, and the most that a single batch may have; no cache is counted on for a transform of more. Missing where
   * chunks do not pay. Where a device runs two launches as one whose groups are interleaved, `ahead`: bytes by which the first
   * one is ahead of the second.
   */
  readonly chunks?: { readonly bytes: number; readonly most: number; readonly ahead?: number };
  /** What a butterfly may keep alive: vector registers, or 32-bit registers of one of many threads. */
  readonly registers: number;
  /** 32-bit registers for all groups that run side by side on a multiprocessor; missing where that is not known. */
  readonly registerFile?: number;
  /** Threads in a group at most. */
  readonly maxThreads: number;
  /** Groups that run at the same time. */
  readonly multiprocessors: number;
  /**
   * True where a thread's values cannot stay in registers over an exchange, so that a pass has to read one shared
   * buffer and write another, unless it works in place (kernels/orders.ts).
   */
  readonly doubleBuffered: boolean;
  /**
   * How complex numbers lie in shared memory: in blocks of one lockstep width, as two planes, or one after another; or
   * 'halves': first all real parts, then all imaginary ones, in half the memory, while registers hold the rest.
   */
  readonly sharedFormat: 'blocked' | 'planes' | 'pairs' | 'halves';
  /** 4-byte banks of shared memory that threads in lockstep share; 1 where every access costs the same. */
  readonly banks: number;
  /** Points that make a group worth its start, and keep the machine busy. */
  readonly groupPoints: number;
  /** What it can compute in; missing where it is both. */
  readonly precisions?: readonly ('single' | 'double')[];
  /** Cost of a pass over shared memory in additions per point: what the radix search weighs arithmetic against. */
  readonly passCost: number;
  /**
   * Measured cost per point of a twiddled pass of some radices, in passes of radix 4. Where it is missing the planner
   * estimates it from operation counts and registers.
   */
  readonly radixCosts?: Readonly<Record<number, number>>;
  /**
   * The first-level cache: where both buffers of a transform along the axis take more than these bytes together, a pass
   * from one to the other costs no less than `beyond`, in passes of radix 4, however little there is to compute.
   */
  readonly firstLevel?: { readonly bytes: number; readonly beyond: number };
  /**
   * Steps through temp buffers that are slow: multiples of so many bytes, taken at least `count` times in a row. They are made
   * `by` bytes longer. Missing where that gains nothing.
   */
  readonly padding?: { readonly multiple: number; readonly count: number; readonly by: number };
  /** What was measured on the device where it differs from others, group by group (calibration.ts). */
  readonly calibration?: Partial<Calibration>;
  /** What a problem asks for instead of the planner's own choice (docs/tuning.md). */
  readonly tuning?: PlannerTuning;
}

export interface ClusterProfile {
  /** Blocks at most. */
  readonly blocks: number;
  /** Bytes that each block had best take of its shared memory. */
  readonly sharedBytes: number;
  /**
   * Bytes above which a tile of one axis is shared out even where one block could hold all or half of it, by precision.
   * (Two axes are, wherever the blocks can exchange their shares at once: see `plan/group/cuts.ts`.)
   */
  readonly above: Readonly<Record<'single' | 'double', number>>;
}

/** Decisions that are otherwise the planner's. Each is a wish: what does not fit is met as far as it does. */
export interface PlannerTuning {
  /** Threads of a group. */
  readonly threads?: number;
  /** Half the threads in the uploads of an axis that has several. */
  readonly halfThreads?: boolean;
  /** Transforms per group, for each axis; 0: the planner's choice. */
  readonly groupedBatch?: readonly number[];
  /** Lengths from which on an axis has at least two or three uploads. */
  readonly uploadSwitch?: { readonly two?: number; readonly three?: number };
  /** Into how many parts a run of memory may be cut for a longer upload; −1: any number. */
  readonly performBandwidthBoost?: number;
  /** How many times over registers stand in for shared memory, in the one upload of an axis and in each of several. */
  readonly registerBoost?: number;
  readonly registerBoost4Step?: number;
  /** Whether they do for lengths that are no powers of two. */
  readonly registerBoostNonPow2?: boolean;
  /** What is convolved to which length, by primes up to which, and what by Rader's algorithm. */
  readonly bluestein?: {
    readonly maxRadix?: number;
    readonly length?: number;
    readonly pattern?: readonly { readonly from: number; readonly length?: number }[];
    readonly launches?: 'fused' | 'separate' | 'six';
  };
  readonly rader?: {
    readonly multiply?: readonly [least: number, most: number];
    readonly convolve?: readonly [least: number, most: number];
  };
  /** The innermost axis is planned like the others. */
  readonly considerAllAxesStrided?: boolean;
}
