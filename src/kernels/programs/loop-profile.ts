/** What of a device's profile decides about loops. */
export interface LoopProfile {
  readonly lockstep: 'vector' | 'threads';
  /** Numbers in lockstep. */
  readonly lanes: number;
  readonly maxThreads: number;
  readonly multiprocessors: number;
}
