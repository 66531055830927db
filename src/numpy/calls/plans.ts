/**
 * A cache of plans: the most recently used ones, up to a number of plans and an amount of device memory. Plans in use stay in any case; the others
 * are destroyed when a limit is exceeded, the least recently used one first.
 */
const MOST_PLANS = 32;
/** The most device memory, in bytes, for the data of all cached plans. */
const MOST_BYTES = 2 ** 27;

/** A plan that was taken from the cache, and has to be returned by `give`. */
export interface Lease<P> {
  readonly key: string;
  readonly plan: P;
  readonly bytes: number;
  uses: number;
  lastUse: number;
}

/** How plans of one kind are made and destroyed. */
export interface PlanKind<Q, P> {
  readonly make: (problem: Q) => P;
  readonly destroy: (plan: P) => unknown;
  /** Bytes of device memory that a plan holds, or that its calls need in the place of host arrays. */
  readonly bytesOf: (problem: Q) => number;
}

/** `Q` is a problem as plain data; `P` is a plan, or the promise of one. */
export class PlanCache<Q, P> {
  private readonly leases = new Map<string, Lease<P>>();
  private readonly kind: PlanKind<Q, P>;
  private bytes = 0;
  private clock = 0;

  constructor(kind: PlanKind<Q, P>) {
    this.kind = kind;
  }

  /** Takes a plan. @param key a text that identifies the problem */
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
    // Plans are destroyed before the new plan allocates memory.
    if (this.isFull) this.trim();
    return lease;
  }

  give(lease: Lease<P>): void {
    lease.uses--;
    if (this.leases.get(lease.key) === lease) {
      if (this.isFull) this.trim();
    } else if (lease.uses === 0) this.kind.destroy(lease.plan);
  }

  /** Removes a plan that has failed from the cache. It still has to be returned. */
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
