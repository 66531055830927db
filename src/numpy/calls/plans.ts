/**
 * Plans that are used again: those asked for last, up to a number and an amount of device memory. What is in use stays
 * whatever happens; the others are destroyed when their time has come, the one not asked for longest first.
 */
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

/** How plans of some kind come and go. */
export interface PlanKind<Q, P> {
  readonly make: (problem: Q) => P;
  readonly destroy: (plan: P) => unknown;
  /** Device memory that a plan for the problem holds, or that stands in for host arrays. */
  readonly bytesOf: (problem: Q) => number;
}

/** `Q` is what is asked for, plain data; `P` is a plan, or the promise of one. */
export class PlanCache<Q, P> {
  private readonly leases = new Map<string, Lease<P>>();
  private readonly kind: PlanKind<Q, P>;
  private bytes = 0;
  private clock = 0;

  constructor(kind: PlanKind<Q, P>) {
    this.kind = kind;
  }

  /** @param key that is equal for equal problems and for no others */
  take(problem: Q, key = JSON.stringify(problem)): Lease<P> {
    let lease = this.leases.get(key);
    if (!lease) {
      const { make, bytesOf } = this.kind;
      lease = { key, plan: make(problem), bytes: bytesOf(problem), uses: 0, lastUse: 0 };
      this.leases.set(key, lease);
      this.bytes += lease.bytes;
    }
    lease.uses++;
    lease.lastUse = ++this.clock;
    // Before the new plan asks for memory.
    if (this.isFull) this.trim();
    return lease;
  }

  give(lease: Lease<P>): void {
    lease.uses--;
    if (this.leases.get(lease.key) === lease) {
      if (this.isFull) this.trim();
    } else if (lease.uses === 0) this.kind.destroy(lease.plan);
  }

  /** Offers a plan to nobody any more: one that has failed. It is still to be given back. */
  forget(lease: Lease<P>): void {
    if (this.leases.get(lease.key) !== lease) return;
    this.leases.delete(lease.key);
    this.bytes -= lease.bytes;
  }

  private get isFull(): boolean {
    return this.leases.size > MOST_PLANS || this.bytes > MOST_BYTES;
  }

  private trim(): void {
    const idle = [...this.leases.values()].filter(({ uses }) => uses === 0);
    for (const lease of idle.sort((a, b) => a.lastUse - b.lastUse)) {
      this.forget(lease);
      this.kind.destroy(lease.plan);
      if (!this.isFull) return;
    }
  }
}
