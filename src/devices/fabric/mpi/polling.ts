/** Waits for requests of MPI from the event loop: nothing blocks, and timers and other work go on. */
import type { Mpi } from './library.ts';

/** Bytes for an `MPI_Status`, more than any library takes. */
const STATUS_BYTES = 64;
/** Tests per turn of the event loop, for messages that take a few microseconds. */
const TESTS_A_TURN = 16;

export class Requests {
  private readonly mpi: Mpi;
  private readonly requests: BigUint64Array | Int32Array;
  private readonly statuses: Uint8Array;
  private readonly flag = new Int32Array(1);
  /** Counts, displacements and memory that the library may read until all requests are complete. */
  readonly kept: unknown[] = [];
  private used = 0;

  constructor(mpi: Mpi, most: number) {
    this.mpi = mpi;
    this.requests = mpi.abi.handles(Math.max(1, most));
    this.statuses = new Uint8Array(STATUS_BYTES * Math.max(1, most));
  }

  /** Starts an operation, which writes its request into the array that `begin` gets. */
  start(what: string, begin: (request: BigUint64Array | Int32Array) => number): void {
    const place = this.requests.subarray(this.used, this.used + 1);
    this.mpi.check(begin(place), what);
    this.used++;
  }

  /** Resolves when all requests are complete. @throws FftError (as a rejection) `rank-lost` */
  async done(what: string): Promise<void> {
    while (!this.test(what)) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  private test(what: string): boolean {
    const { mpi, requests, flag, statuses } = this;
    for (let n = 0; n < TESTS_A_TURN; n++) {
      mpi.check(mpi.call.Testall(this.used, requests, flag, statuses), what);
      if (flag[0] !== 0) return true;
    }
    return false;
  }
}
