/** Memory to work in, between the host and a plan. */
import type { Device, DeviceMemory } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/array.ts';
import { type Floats, isFloats } from '../arguments/floats.ts';

export interface WorkMemory {
  /** As it is now: memory of a CPU device, which needs no copies, may move. */
  readonly array: () => Floats;
  /** What plans are given for all of it: the same object at each call, so that they stay bound to it. */
  readonly data: Floats | DeviceMemory;
  readonly free: () => void;
}

/**
 * Memory of a CPU device itself, which plans read and write without a copy, a host array for any other. It holds anything.
 * @throws FftError `out-of-memory`, `device-closed`
 */
export function unfilledOn(device: Device, entries: number, precision: 'single' | 'double'): WorkMemory {
  if (device.kind !== 'cpu') {
    const array = floatZeros(entries, precision === 'single');
    return { array: () => array, data: array, free: () => undefined };
  }
  const memory = device.alloc(entries * (precision === 'single' ? 4 : 8), precision);
  return { array: () => memory.array as Floats, data: memory, free: () => memory.free() };
}

/** The same of zeros. */
export function workOn(device: Device, entries: number, precision: 'single' | 'double'): WorkMemory {
  const work = unfilledOn(device, entries, precision);
  work.array().fill(0);
  return work;
}

/** What a plan is given that reaches so many numbers: host arrays are exactly as long. */
export function reaching({ data }: WorkMemory, numbers: number): WorkMemory['data'] {
  return isFloats(data) && data.length !== numbers ? data.subarray(0, numbers) : data;
}

/**
 * Several of them, by name.
 * @param lengths entries of each
 * @throws what `make` throws; nothing is left then
 */
export function placesFor<L extends Readonly<Record<string, number>>>(
  lengths: L,
  make: (length: number) => WorkMemory,
): Record<keyof L, WorkMemory> {
  const places: Record<string, WorkMemory> = {};
  try {
    for (const [name, length] of Object.entries(lengths)) places[name] = make(length);
  } catch (error) {
    for (const work of Object.values(places)) work.free();
    throw error;
  }
  return places as Record<keyof L, WorkMemory>;
}
