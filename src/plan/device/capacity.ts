/**
 * What fits where on a device, for one precision: the numbers that tree and leaves have to agree on.
 */
import type { Precision } from '../../problem/index.ts';
import type { DeviceProfile } from './profile.ts';

/** What kernels compute in: 32-bit or 64-bit floating point, or double-doubles, which are two of the latter (some 106 bits). */
export type Arithmetic = Precision;

/** Whether there is arithmetic in what numbers are stored as; all else is only stored. */
export function hasArithmetic(stored: string): stored is Arithmetic {
  return stored === 'single' || stored === 'double' || stored === 'double-double';
}

/** What the numbers of an array of the user's are stored as. */
export function storedAs(type: 'f32' | 'f64'): Arithmetic {
  return type === 'f32' ? 'single' : 'double';
}

/** How many 32-bit words one real number takes, in registers and in the banks of shared memory. */
export function wordsPerReal(precision: Arithmetic): 1 | 2 | 4 {
  return precision === 'single' ? 1 : precision === 'double' ? 2 : 4;
}

/** The entry for a precision of a table that a device's profile has for singles and doubles; double-doubles take that for doubles. */
export function forPrecision<T>(by: Readonly<Record<'single' | 'double', T>>, precision: Arithmetic): T {
  return precision === 'single' ? by.single : by.double;
}

/** Whether numbers are pairs of those that the device computes in: each operation is some twenty of the device's. */
export function isInPairs(precision: Arithmetic, { precisions }: Pick<DeviceProfile, 'precisions'>): boolean {
  return precision === 'double-double' || (precision === 'double' && precisions?.includes('double') === false);
}

/**
 * The number of exchanges, one after the other, by which complex numbers pass through shared memory. 2: all real parts, then all imaginary
 * parts. 4: real parts of the first half of the points, real parts of the second half, imaginary parts of the first half, imaginary parts
 * of the second half.
 */
export type SharedParts = 2 | 4;

export interface Capacity {
  /** Bytes of one complex number. */
  readonly complexBytes: number;
  /** Values of one variable that run in lockstep. */
  readonly lanes: number;
  /** Neighbouring complex numbers that make a whole run of memory. */
  readonly run: number;
  /** Bytes of shared memory that one complex number takes. */
  readonly sharedBytes: number;
  /** Complex numbers that one shared buffer holds. */
  readonly room: number;
}

/** @param parts in which numbers go through shared memory one after the other, where its format is `halves`. */
export function capacityOf(precision: Arithmetic, profile: DeviceProfile, parts: SharedParts = 2): Capacity {
  const complexBytes = 8 * wordsPerReal(precision);
  const parted = profile.sharedFormat === 'halves';
  const sharedBytes = parted ? complexBytes / parts : complexBytes;
  const held = parted
    ? profile.maxThreads * Math.floor((4 * profile.registers) / complexBytes)
    : Number.POSITIVE_INFINITY;
  // A vector holds as many pairs as it does parts of them.
  const lanes = Math.max(1, (2 * profile.lockstepBytes) / (precision === 'double-double' ? 16 : complexBytes));
  return {
    complexBytes,
    lanes,
    run: Math.max(profile.lockstep === 'vector' ? lanes : 1, profile.coalescedBytes / complexBytes),
    sharedBytes,
    // What waits while other parts are exchanged has to find its place in registers.
    room: Math.min(held, Math.floor(profile.sharedBytes / (sharedBytes * (profile.doubleBuffered ? 2 : 1)))),
  };
}
