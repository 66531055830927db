/**
 * Results on their way into host arrays. Copies to a device read a host array when they are submitted, copies from it
 * write when they arrive: a call that reads what an earlier one will write has to wait for it.
 */
import type { RealArray } from '../devices/device.ts';

const arriving = new WeakMap<ArrayBufferLike, Promise<unknown>>();

/** Settles when nothing is on its way into the memory of these arrays; undefined where nothing is. */
export function arrivalsIn(arrays: readonly RealArray[]): Promise<unknown> | undefined {
  const found = new Set(arrays.flatMap(({ buffer }) => arriving.get(buffer) ?? []));
  return found.size === 0 ? undefined : Promise.all(found);
}

/** Says that arrays will have been written, or not, when a call has ended. */
export function announce(arrays: readonly RealArray[], call: Promise<unknown>): void {
  for (const { buffer } of arrays) {
    const until = Promise.allSettled([arriving.get(buffer), call]).then(() => {
      if (arriving.get(buffer) === until) arriving.delete(buffer);
    });
    arriving.set(buffer, until);
  }
}
