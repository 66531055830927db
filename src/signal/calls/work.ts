/** Working memory between the host and a plan. */
import type { Device, DeviceMemory } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { type Floats, isFloats } from '../arguments/floats.ts';

export interface WorkMemory {
  /** The array at present: memory of a CPU device, which needs no copies, may move. */
  readonly array: () => Floats;
  /** The memory as plans take it: the same object at each call, so that plans stay bound to it. */
  readonly data: Floats | DeviceMemory;
  readonly free: () => void;
}

/**
 * Uninitialised memory: memory of a CPU device itself, which plans read and write without a copy, or a host array for any other device.
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

/** Memory filled with zeros, otherwise like `unfilledOn`. */
export function workOn(device: Device, entries: number, precision: 'single' | 'double'): WorkMemory {
  const work = unfilledOn(device, entries, precision);
  work.array().fill(0);
  return work;
}

/** The memory's first `numbers` numbers as plans take them: a host array has to have exactly that length. */
export function reaching({ data }: WorkMemory, numbers: number): WorkMemory['data'] {
  return isFloats(data) && data.length !== numbers ? data.subarray(0, numbers) : data;
}

/**
 * Several memories, by name.
 * @param lengths numbers in each memory
 * @throws errors that `make` throws; the memories made before are freed then
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
