/**
 * Results on their way into host arrays. Copies to a device read a host array when they are submitted, copies from it
 * write when they arrive: a call that reads what an earlier one will write has to wait for it.
 */
import type { RealArray } from '../devices/device.ts';

/** Calls that will write to a piece of memory, and when all of them have. */
interface Arrivals {
  calls: number;
  until: Promise<unknown>;
}

const arriving = new WeakMap<ArrayBufferLike, Arrivals>();

/** Settles when nothing is on its way into the memory of these arrays; undefined where nothing is. */
export function arrivalsIn(arrays: readonly RealArray[]): Promise<unknown> | undefined {
  const found = new Set(arrays.flatMap(({ buffer }) => arriving.get(buffer)?.until ?? []));
  return found.size === 0 ? undefined : Promise.all(found);
}

/**
 * Says that arrays will have been written, or not, when a call has ended.
 * @returns the call: who has awaited it finds nothing on its way any more.
 */
export function announce<T>(arrays: readonly RealArray[], call: Promise<T>): Promise<T> {
  const buffers = new Set(arrays.map(({ buffer }) => buffer));
  if (buffers.size === 0) return call;
  const ended = call.finally(() => {
    for (const buffer of buffers) if (--arriving.get(buffer)!.calls === 0) arriving.delete(buffer);
  });
  for (const buffer of buffers) {
    const known = arriving.get(buffer);
    arriving.set(buffer, {
      calls: (known?.calls ?? 0) + 1,
      until: Promise.allSettled([known?.until, ended]),
    });
  }
  return ended;
}
