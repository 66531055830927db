/** The facts of a device's profile that decide how loops are laid out. */
export interface LoopProfile {
  readonly lockstep: 'vector' | 'threads';
  /** Numbers that are computed in lockstep: lanes of a vector, or threads of a warp. */
  readonly lanes: number;
  readonly maxThreads: number;
  readonly multiprocessors: number;
  /** Bytes of shared memory of a group. */
  readonly sharedBytes: number;
  /** 4-byte banks of shared memory. */
  readonly banks: number;
  /** Whether a phase must not store into shared memory that it reads. */
  readonly doubleBuffered: boolean;
}
