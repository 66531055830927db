/**
 * The device as the planner sees it: numbers only (design decision 5). The planner decides by these numbers, never by the name of a device.
 */
import type { Calibration } from './calibration.ts';

export interface DeviceProfile {
  /** The device's name, for people; the planner never reads it. */
  readonly name: string;
  /**
   * The kind of parallelism: `vector`, the elements of a vector, which walk along one loop together; or `threads`, the threads of a group,
   * each of which may take any item of a phase.
   */
  readonly lockstep: 'vector' | 'threads';
  /** Bytes of one variable in all lanes: 16 for a `v128`, 128 for a warp of 32 singles. */
  readonly lockstepBytes: number;
  /** Bytes of memory shared by a group. On a CPU: the part of the second-level cache that a core can count on. */
  readonly sharedBytes: number;
  /** Bytes of shared memory for all groups that run side by side on a multiprocessor; default: `sharedBytes`. */
  readonly residentBytes?: number;
  /** The share of the bandwidth of groups that take more than three tenths of `residentBytes`; missing: it is estimated (share.ts). */
  readonly crowded?: number;
  /** Clusters: groups of several blocks that write into one another's shared memory; missing where the device has none. */
  readonly cluster?: ClusterProfile;
  /** Bytes of memory that the device can address: the limit for a problem's buffers. */
  readonly maxBytes?: number;
  /** Bytes that memory moves at once: shorter runs waste bandwidth. */
  readonly coalescedBytes: number;
  /**
   * Other values of `coalescedBytes`, for columns of batches of more than `above` bytes: they come from memory instead of a cache, and each element
   * from a page of its own. `axes` is for axes in one upload, `uploads` for a last upload that works in place. Missing: `coalescedBytes` holds
   * everywhere.
   */
  readonly distant?: { readonly above: number; readonly axes: number; readonly uploads: number };
  /** Shares of the bandwidth for runs of half, a quarter, … of `coalescedBytes`; shorter runs are not used. */
  readonly cutRuns?: readonly number[];
  /**
   * True where the first of two uploads of an axis had better do the reordering. The second upload then works in place, along columns on both
   * sides. That pays where the number of buffers in a cache matters and tiles are transposed. A problem that is itself in place is planned so only
   * if it stays in a cache, by `chunks`.
   */
  readonly reorderFirst?: boolean;
  /**
   * Chunks of batches that stay in a cache from one launch to the next. `bytes`: the best size of one side of a chunk for each multiprocessor.
   * `most`: the size of a transform beyond which no cache is counted on. `ahead`: on a device that runs two launches as one with interleaved
   * groups, the bytes by which the first launch is ahead of the second. Missing where chunks do not pay.
   */
  readonly chunks?: { readonly bytes: number; readonly most: number; readonly ahead?: number };
  /** Registers that a butterfly may use: vector registers, or 32-bit registers of one of many threads. */
  readonly registers: number;
  /** 32-bit registers for all groups that run side by side on a multiprocessor; missing where the number is not known. */
  readonly registerFile?: number;
  /** The most threads in a group. */
  readonly maxThreads: number;
  /** The number of multiprocessors, or of cores: groups on different ones run at the same time. */
  readonly multiprocessors: number;
  /**
   * True where the values of a thread cannot stay in registers over an exchange. A pass then reads one shared buffer and writes another, unless it
   * works in place (kernels/vectors/orders.ts).
   */
  readonly doubleBuffered: boolean;
  /**
   * The format of complex numbers in shared memory: in blocks of one lockstep width, as two planes, or as pairs one after another; or
   * 'halves': first all real parts, then all imaginary ones, in half the memory, while registers hold the rest.
   */
  readonly sharedFormat: 'blocked' | 'planes' | 'pairs' | 'halves';
  /** The number of 4-byte banks of shared memory; 1 where every access costs the same. */
  readonly banks: number;
  /** Points that make a group worth its start, and keep the machine busy. */
  readonly groupPoints: number;
  /** The precisions of the device's arithmetic; missing where it has both. */
  readonly precisions?: readonly ('single' | 'double')[];
  /** The cost of a pass over shared memory, in additions per point: the radix search weighs arithmetic against it. */
  readonly passCost: number;
  /**
   * Measured costs per point of twiddled passes of some radices, in passes of radix 4. The planner estimates a missing one from operation
   * counts and registers.
   */
  readonly radixCosts?: Readonly<Record<number, number>>;
  /**
   * The first-level cache. Where both buffers of a transform along the axis together take more than `bytes`, a pass from one to the other costs at
   * least `beyond`, in passes of radix 4, however little it computes.
   */
  readonly firstLevel?: { readonly bytes: number; readonly beyond: number };
  /**
   * Slow steps through temp buffers: multiples of `multiple` bytes, taken at least `count` times in a row. The planner makes such a step `by` bytes
   * longer. Missing where that gains nothing.
   */
  readonly padding?: { readonly multiple: number; readonly count: number; readonly by: number };
  /** Measured numbers of this device, where they differ from the usual ones, group by group (calibration.ts). */
  readonly calibration?: Partial<Calibration>;
  /** Decisions that a problem takes out of the planner's hands (docs/tuning.md). */
  readonly tuning?: PlannerTuning;
}

export interface ClusterProfile {
  /** The most blocks in a cluster. */
  readonly blocks: number;
  /** The best size of each block's shared memory, in bytes. */
  readonly sharedBytes: number;
  /**
   * The size in bytes, by precision, above which a tile of one axis is shared out even where one block could hold all or half of it. (Tiles of two
   * axes are shared out wherever the blocks can exchange their parts at once: see `plan/group/cuts.ts`.)
   */
  readonly above: Readonly<Record<'single' | 'double', number>>;
}

/** Decisions that are otherwise the planner's. Each is a wish: the planner follows it as far as it fits. */
export interface PlannerTuning {
  /** Threads of a group. */
  readonly threads?: number;
  /** Half the threads in the uploads of an axis that has several. */
  readonly halfThreads?: boolean;
  /** Transforms per group, for each axis; 0: the planner's choice. */
  readonly groupedBatch?: readonly number[];
  /** The lengths from which on an axis has at least two, or at least three, uploads. */
  readonly uploadSwitch?: { readonly two?: number; readonly three?: number };
  /** The number of parts that a run of memory may be cut into for a longer upload; −1: any number. */
  readonly performBandwidthBoost?: number;
  /** The factor by which registers extend shared memory: for an axis in one upload, and for each of several uploads. */
  readonly registerBoost?: number;
  readonly registerBoost4Step?: number;
  /** Whether registers extend shared memory for lengths that are not powers of two, too. */
  readonly registerBoostNonPow2?: boolean;
  /**
   * The length of Bluestein's convolution: the largest prime in it, or the length itself, for all axes or by `pattern`; and which launches are
   * fused. Rader's algorithm: the ranges of primes that are multiplied directly, and that are convolved.
   */
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
  /** Whether the innermost axis is planned like the others. */
  readonly considerAllAxesStrided?: boolean;
}
