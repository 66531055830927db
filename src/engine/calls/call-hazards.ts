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

/** What has to be known of a call to order it. */
export interface OrderedCall {
  readonly device: object;
  readonly accesses: readonly MemoryAccess[];
  /** The device itself keeps these accesses in order with others of its own. */
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
/** For each memory what pending calls do to it, in the order of the calls. */
const pendingAccesses = new Map<unknown, PendingAccess[]>();

interface PendingAccess extends MemoryAccess {
  readonly by: PendingCall;
}

/** True where no call is pending that others might have to wait for. */
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

/** Runs a call that has not to wait for any; until it has ended, later calls find it here. */
export async function whilePending<T>(call: OrderedCall, run: () => Promise<T>): Promise<T> {
  const pending = enter(call);
  try {
    return await run();
  } finally {
    leave(pending);
  }
}

/** Runs a call when every earlier one has ended that is a hazard to it; later calls find it here from now on. */
export async function runInOrder<T>(call: OrderedCall, run: () => Promise<T>): Promise<T> {
  const pending = enter(call);
  try {
    for (let earlier = hazardOf(call, pending); earlier; earlier = hazardOf(call, pending)) await earlier.ended;
    return await run();
  } finally {
    leave(pending);
  }
}

/** Resolves when all calls of a device have ended that are pending now, failed ones too; undefined where there are none. */
export function pendingCallsOf(device: object): Promise<unknown> | undefined {
  const own = [...pendingCalls].filter(({ call }) => call.device === device);
  return own.length === 0 ? undefined : Promise.all(own.map(({ ended }) => ended));
}

/** The latest of the calls that one has to wait for in one of the memories that it uses. @param self only calls before it count. */
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
