/**
 * What fits where on a device, for one precision: the numbers that tree and leaves have to agree on.
 */
import type { DeviceProfile } from './profile.ts';

export interface Capacity {
  /** Bytes of one complex number. */
  readonly complexBytes: number;
  /** Values of one variable that run in lockstep. */
  readonly lanes: number;
  /** Neighbouring complex numbers that make a whole run of memory. */
  readonly run: number;
  /** Complex numbers that one shared buffer holds. */
  readonly room: number;
}

export function capacityOf(precision: 'single' | 'double', profile: DeviceProfile): Capacity {
  const complexBytes = precision === 'single' ? 8 : 16;
  const lanes = (2 * profile.lockstepBytes) / complexBytes;
  return {
    complexBytes,
    lanes,
    run: Math.max(profile.lockstep === 'vector' ? lanes : 1, profile.coalescedBytes / complexBytes),
    room: Math.floor(profile.sharedBytes / (complexBytes * (profile.doubleBuffered ? 2 : 1))),
  };
}

/** The arithmetic that kernels are built for. */
export function kernelPrecision(precision: string): 'single' | 'double' {
  return precision === 'double' ? 'double' : 'single';
}
