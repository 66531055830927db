/**
 * A device as the planner sees it: numbers only (design decision 5). Nothing in plan/ asks what kind of device it is.
 */
export interface DeviceProfile {
  /** For people; the planner never reads it. */
  readonly name: string;
  /** Bytes that the threads in lockstep hold of one variable: 16 for a `v128`, 128 for a warp of 32 singles. */
  readonly lockstepBytes: number;
  /** Bytes of memory shared by a group. On a CPU: the share of the second-level cache that a core can count on. */
  readonly sharedBytes: number;
  /** Bytes of memory that addresses on the device reach: what a problem's buffers have to fit into. */
  readonly maxBytes?: number;
  /** Bytes that memory moves at once; runs shorter than this waste bandwidth. */
  readonly coalescedBytes: number;
  /** Vector registers of a thread: what a butterfly may keep alive. */
  readonly registers: number;
  /** Threads in a group at most. */
  readonly maxThreads: number;
  /** Groups that run at the same time. */
  readonly multiprocessors: number;
  /**
   * True where a thread's values cannot stay in registers over an exchange, so that a pass has to read one shared
   * buffer and write another.
   */
  readonly doubleBuffered: boolean;
  /** How neighbouring complex numbers lie in shared memory: in blocks of one lockstep width, or as two planes. */
  readonly sharedFormat: 'blocked' | 'planes';
  /** Cost of a pass over shared memory in additions per point: what the radix search weighs arithmetic against. */
  readonly passCost: number;
  /**
   * Measured cost per point of a twiddled pass of some radices, in passes of radix 4. Where it is missing the planner
   * estimates it from operation counts and registers.
   */
  readonly radixCosts?: Readonly<Record<number, number>>;
}
