/**
 * Capacity: how many numbers fit where on a device, for one precision. The plan tree and its leaves have to agree on these numbers.
 */
import type { Precision } from '../../problem/index.ts';
import type { DeviceProfile } from './profile.ts';

/** The arithmetic of kernels: 32-bit or 64-bit floating point, or double-doubles, which are pairs of 64-bit numbers (some 106 bits). */
export type Arithmetic = Precision;

/** Whether the device computes in the format that numbers are stored in; other formats are for storage only. */
export function hasArithmetic(stored: string): stored is Arithmetic {
  return stored === 'single' || stored === 'double' || stored === 'double-double';
}

/** The format of the numbers in one of the user's arrays. */
export function storedAs(type: 'f32' | 'f64'): Arithmetic {
  return type === 'f32' ? 'single' : 'double';
}

/** The number of 32-bit words of one real number, in registers and in the banks of shared memory. */
export function wordsPerReal(precision: Arithmetic): 1 | 2 | 4 {
  return precision === 'single' ? 1 : precision === 'double' ? 2 : 4;
}

/** The entry for a precision in a table of a profile, which has one for singles and one for doubles; double-doubles take the one for doubles. */
export function forPrecision<T>(by: Readonly<Record<'single' | 'double', T>>, precision: Arithmetic): T {
  return precision === 'single' ? by.single : by.double;
}

/** Whether each number is a pair of the device's numbers: an operation then takes some twenty of the device's operations. */
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

/** @param parts the number of exchanges through shared memory, where its format is `halves` */
export function capacityOf(precision: Arithmetic, profile: DeviceProfile, parts: SharedParts = 2): Capacity {
  const complexBytes = 8 * wordsPerReal(precision);
  const parted = profile.sharedFormat === 'halves';
  const sharedBytes = parted ? complexBytes / parts : complexBytes;
  const held = parted
    ? profile.maxThreads * Math.floor((4 * profile.registers) / complexBytes)
    : Number.POSITIVE_INFINITY;
  // A vector of double-doubles is two vectors, of high and of low parts, so it has as many lanes as a vector of doubles.
  const lanes = Math.max(1, (2 * profile.lockstepBytes) / (precision === 'double-double' ? 16 : complexBytes));
  return {
    complexBytes,
    lanes,
    run: Math.max(profile.lockstep === 'vector' ? lanes : 1, profile.coalescedBytes / complexBytes),
    sharedBytes,
    // Points wait in registers while other parts are exchanged, so the registers limit the room, too.
    room: Math.min(held, Math.floor(profile.sharedBytes / (sharedBytes * (profile.doubleBuffered ? 2 : 1)))),
  };
}
