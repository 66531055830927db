/** What of a device's profile decides about loops. */
export interface LoopProfile {
  readonly lockstep: 'vector' | 'threads';
  /** Numbers in lockstep. */
  readonly lanes: number;
  readonly maxThreads: number;
  readonly multiprocessors: number;
  /** Of a group. */
  readonly sharedBytes: number;
  /** 4-byte banks of shared memory. */
  readonly banks: number;
  /** A phase cannot store into shared memory that it reads. */
  readonly doubleBuffered: boolean;
}
