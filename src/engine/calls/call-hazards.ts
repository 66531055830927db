/**
 * Hazards between calls that have not ended: read after write, write after read, write after write. Calls have to give what they
 * give one after another, in the order in which they were made, so a call waits until every earlier one has ended whose hazard it is.
 *
 * A device runs what it is given in order, and so do its copies where host code sees its memory; but a result that is copied from a
 * device arrives in its host array later. Only calls on host arrays are entered here; and calls that wait, with all memory that
 * they use, because the device has yet to be given these.
 */
import type { Stretch } from '../../devices/device.ts';
import { FftError } from '../../problem/index.ts';

/** Bytes that a call reads or writes. */
export interface MemoryAccess extends Stretch {
  readonly writes: boolean;
}

/** The accesses of a call, by which calls are ordered. */
export interface OrderedCall {
  readonly device: object;
  readonly accesses: readonly MemoryAccess[];
  /** Whether the device itself orders these accesses among its own work. */
  readonly orderedByDevice?: boolean;
}

/** A call that has not ended. */
class PendingCall {
  readonly call: OrderedCall;
  readonly ended: Promise<void>;
  end!: () => void;

  constructor(call: OrderedCall) {
    this.call = call;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }
}

const pendingCalls = new Set<PendingCall>();
/** The accesses of pending calls to each memory, in the order of the calls. */
const pendingAccesses = new Map<unknown, PendingAccess[]>();

interface PendingAccess extends MemoryAccess {
  readonly by: PendingCall;
}

/** Whether no call is pending. */
export function quiet(): boolean {
  return pendingCalls.size === 0;
}

/** Whether a call that is made now would have to wait. */
export function hasHazard(call: OrderedCall): boolean {
  return !quiet() && hazardOf(call) !== undefined;
}

/**
 * For calls that cannot wait.
 * @throws FftError `aliased-buffers` where one would have to.
 */
export function refuseHazard(call: OrderedCall): void {
  if (!hasHazard(call)) return;
  throw new FftError(
    'aliased-buffers',
    'An earlier call that has not ended has yet to write memory of this one, or to read what this one would write: ' +
      'await that call first.',
  );
}

/** Runs a call that has no hazards, and registers it as pending until it has ended. */
export async function whilePending<T>(call: OrderedCall, run: () => Promise<T>): Promise<T> {
  const pending = enter(call);
  try {
    return await run();
  } finally {
    leave(pending);
  }
}

/** Registers a call as pending at once, and runs it when all earlier calls that it has a hazard with have ended. */
export async function runInOrder<T>(call: OrderedCall, run: () => Promise<T>): Promise<T> {
  const pending = enter(call);
  try {
    for (let earlier = hazardOf(call, pending); earlier; earlier = hazardOf(call, pending)) await earlier.ended;
    return await run();
  } finally {
    leave(pending);
  }
}

/** Resolves when all calls of a device that are pending now have ended or failed; undefined if there are none. */
export function pendingCallsOf(device: object): Promise<unknown> | undefined {
  const own = [...pendingCalls].filter(({ call }) => call.device === device);
  return own.length === 0 ? undefined : Promise.all(own.map(({ ended }) => ended));
}

/** The latest pending call that a call has a hazard with. @param self only calls before this one count */
function hazardOf({ device, accesses }: OrderedCall, self?: PendingCall): PendingCall | undefined {
  for (const { of, start, end, writes } of accesses) {
    const others = pendingAccesses.get(of) ?? [];
    const place = self ? others.findIndex(({ by }) => by === self) : others.length;
    for (let n = place - 1; n >= 0; n--) {
      const other = others[n]!;
      if (other.end <= start || end <= other.start || !(writes || other.writes)) continue;
      const { call } = other.by;
      if (!(call.orderedByDevice && call.device === device)) return other.by;
    }
  }
  return undefined;
}

function enter(call: OrderedCall): PendingCall {
  const by = new PendingCall(call);
  pendingCalls.add(by);
  for (const { of, start, end, writes } of call.accesses) {
    const others = pendingAccesses.get(of);
    const access = { of, start, end, writes, by };
    if (others) others.push(access);
    else pendingAccesses.set(of, [access]);
  }
  return by;
}

function leave(pending: PendingCall): void {
  pendingCalls.delete(pending);
  for (const { of } of pending.call.accesses) {
    const others = pendingAccesses.get(of)!;
    const place = others.findIndex(({ by }) => by === pending);
    others.splice(place, 1);
    if (others.length === 0) pendingAccesses.delete(of);
  }
  pending.end();
}
