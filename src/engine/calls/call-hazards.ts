/**
 * Hazards between calls that have not ended: read after write, write after read, write after write. Results have to be the same as if
 * each call ended before the next one begins, so a call waits for every earlier call that it has a hazard with.
 *
 * A device keeps the order of submitted work, and of copies if host code sees its memory; but a result that is copied from other
 * devices arrives in its host array later. So only two kinds of calls are registered: calls on host arrays, and waiting calls, which
 * are not submitted yet, with all memory that they use.
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

/** Whether a call made now would have to wait. */
export function hasHazard(call: OrderedCall): boolean {
  return !quiet() && hazardOf(call) !== undefined;
}

/**
 * The check for calls that cannot wait.
 * @throws FftError `aliased-buffers` if the call would have to wait for an earlier one.
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
