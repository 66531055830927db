/**
 * Plans that are used again: those asked for last, up to a number and an amount of device memory. What is in use stays
 * whatever happens; the others are destroyed when their time has come, the one not asked for longest first.
 */
import type { DenseProblem } from './request.ts';

const MOST_PLANS = 32;
/** Device memory for the data of all plans that are kept. */
const MOST_BYTES = 2 ** 27;

/** A plan that was taken; `give` it back. */
export interface Lease<P> {
  readonly key: string;
  readonly plan: P;
  readonly bytes: number;
  uses: number;
  lastUse: number;
}

/** `P` is a plan, or the promise of one. */
export class PlanCache<P> {
  private readonly leases = new Map<string, Lease<P>>();
  private readonly make: (problem: DenseProblem) => P;
  private readonly destroy: (plan: P) => void;
  private bytes = 0;
  private clock = 0;

  constructor(make: (problem: DenseProblem) => P, destroy: (plan: P) => void) {
    this.make = make;
    this.destroy = destroy;
  }

  take(problem: DenseProblem): Lease<P> {
    const key = JSON.stringify(problem);
    let lease = this.leases.get(key);
    if (!lease) {
      lease = { key, plan: this.make(problem), bytes: bytesOf(problem), uses: 0, lastUse: 0 };
      this.leases.set(key, lease);
      this.bytes += lease.bytes;
    }
    lease.uses++;
    lease.lastUse = ++this.clock;
    // Before the new plan asks for memory.
    this.trim();
    return lease;
  }

  give(lease: Lease<P>): void {
    lease.uses--;
    if (this.leases.get(lease.key) === lease) this.trim();
    else if (lease.uses === 0) this.destroy(lease.plan);
  }

  /** Offers a plan to nobody any more: one that has failed. It is still to be given back. */
  forget(lease: Lease<P>): void {
    if (this.leases.get(lease.key) !== lease) return;
    this.leases.delete(lease.key);
    this.bytes -= lease.bytes;
  }

  private trim(): void {
    const isFull = () => this.leases.size > MOST_PLANS || this.bytes > MOST_BYTES;
    if (!isFull()) return;
    const idle = [...this.leases.values()].filter(({ uses }) => uses === 0);
    for (const lease of idle.sort((a, b) => a.lastUse - b.lastUse)) {
      this.forget(lease);
      this.destroy(lease.plan);
      if (!isFull()) return;
    }
  }
}

/** Both sides of the problem: what stands in for host arrays on the device. */
function bytesOf({ size, leftBatches = 1, batches = 1, precision }: DenseProblem): number {
  const points = size.reduce((total, length) => total * length, leftBatches * batches);
  return points * (precision === 'single' ? 16 : 32);
}
