/**
 * Windows: a range of addresses with a slot in the memory of each GPU, one behind another, that all GPUs reach. A kernel whose output is a window
 * stores straight into the memory of its peers, and sees one array only.
 */
import type { Gpu, GpuDriver } from './driver.ts';

const READ_AND_WRITE = 3;

export interface Window {
  readonly address: bigint;
  readonly slotBytes: number;
  /** Frees the window; nothing uses it any more. */
  release(): void;
}

/** `CUmemAllocationProp` of pinned memory of a device. */
function propertiesOf(ordinal: number): Int32Array {
  return Int32Array.of(1, 0, 1, ordinal, 0, 0, 0, 0);
}

/** The unit in bytes of a slot's length. */
export function granularityOf(driver: GpuDriver, gpus: readonly Gpu[]): number {
  const each = gpus.map(({ ordinal }) =>
    Number(driver.handle('MemGetAllocationGranularity', propertiesOf(ordinal), 0)),
  );
  return Math.max(...each);
}

/** @throws FftError `out-of-memory`, `launch-failed` */
export function makeWindow(driver: GpuDriver, gpus: readonly Gpu[], slotBytes: number): Window {
  const bytes = slotBytes * gpus.length;
  driver.enter(gpus[0]!);
  const address = driver.handle('MemAddressReserve', bytes, 0, 0n, 0n);
  const slots: { readonly at: bigint; readonly handle: bigint; mapped: boolean }[] = [];
  const release = () => {
    for (const { at, handle, mapped } of slots.splice(0)) {
      driver.api.windows.delete(at);
      if (mapped) driver.call('MemUnmap', at, slotBytes);
      driver.call('MemRelease', handle);
    }
    driver.call('MemAddressFree', address, bytes);
  };
  try {
    gpus.forEach((gpu, n) => {
      const handle = driver.handle('MemCreate', slotBytes, propertiesOf(gpu.ordinal), 0n);
      const slot = { at: address + BigInt(n * slotBytes), handle, mapped: false };
      slots.push(slot);
      driver.call('MemMap', slot.at, slotBytes, 0, handle, 0n);
      slot.mapped = true;
    });
    const allowed = Int32Array.from(gpus.flatMap(({ ordinal }) => [1, ordinal, READ_AND_WRITE]));
    driver.call('MemSetAccess', address, bytes, allowed, gpus.length);
  } catch (error) {
    release();
    throw error;
  }
  // The first slot begins where the window begins.
  slots.forEach(({ at }, n) => driver.api.windows.set(at, n === 0 ? bytes : slotBytes));
  return { address, slotBytes, release };
}
