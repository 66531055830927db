/** Memory to work in, between the host and a plan. */
import type { Device } from '../engine/index.ts';
import { floatZeros } from '../numpy/array.ts';
import type { Floats } from './floats.ts';

export interface WorkMemory {
  /** As it is now: memory of a CPU device, which needs no copies, may move. */
  readonly array: () => Floats;
  readonly free: () => void;
}

/**
 * Memory of a CPU device itself, which plans read and write without a copy, a host array for any other. It holds anything.
 * @throws FftError `out-of-memory`, `device-closed`
 */
export function unfilledOn(device: Device, entries: number, precision: 'single' | 'double'): WorkMemory {
  if (device.kind !== 'cpu') {
    const array = floatZeros(entries, precision === 'single');
    return { array: () => array, free: () => undefined };
  }
  const memory = device.alloc(entries * (precision === 'single' ? 4 : 8), precision);
  return { array: () => memory.array as Floats, free: () => memory.free() };
}

/** The same of zeros. */
export function workOn(device: Device, entries: number, precision: 'single' | 'double'): WorkMemory {
  const work = unfilledOn(device, entries, precision);
  work.array().fill(0);
  return work;
}
