/**
 * What fits where on a device, for one precision: the numbers that tree and leaves have to agree on.
 */
import type { Precision } from '../problem/index.ts';
import { calibrationOf } from './calibration.ts';
import { Memo } from './memo.ts';
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

export function capacityOf(precision: Arithmetic, profile: DeviceProfile): Capacity {
  const complexBytes = 8 * wordsPerReal(precision);
  const halves = profile.sharedFormat === 'halves';
  const sharedBytes = halves ? complexBytes / 2 : complexBytes;
  const held = halves
    ? profile.maxThreads * Math.floor((4 * profile.registers) / complexBytes)
    : Number.POSITIVE_INFINITY;
  // A vector holds as many pairs as it does parts of them.
  const lanes = Math.max(1, (2 * profile.lockstepBytes) / (precision === 'double-double' ? 16 : complexBytes));
  return {
    complexBytes,
    lanes,
    run: Math.max(profile.lockstep === 'vector' ? lanes : 1, profile.coalescedBytes / complexBytes),
    sharedBytes,
    // What waits while the other half is exchanged has to find its place in registers.
    room: Math.min(held, Math.floor(profile.sharedBytes / (sharedBytes * (profile.doubleBuffered ? 2 : 1)))),
  };
}

/**
 * The profile for transforms of one length. Registers may stand in for half of shared memory (VkFFT guide 2.5.6, "register
 * overutilization"): real and imaginary parts then follow one another in it. A problem can ask for that, or for its opposite.
 */
export function boosted(profile: DeviceProfile, precision: Arithmetic, length: number, split: boolean): DeviceProfile {
  const { registerBoost, registerBoost4Step, registerBoostNonPow2 } = profile.tuning ?? {};
  let times = split ? registerBoost4Step : registerBoost;
  if (registerBoostNonPow2 === false && !Number.isInteger(Math.log2(length))) times = 1;
  const usual = profile.sharedFormat;
  const asked = times === undefined ? usual : times > 1 ? 'halves' : usual === 'halves' ? 'pairs' : usual;
  const other = (format: DeviceProfile['sharedFormat']) => (format === usual ? profile : formatted(profile, format));
  if (asked !== 'halves') return other(asked);
  // Few threads or registers hold less than shared memory would.
  const whole = other(usual === 'halves' ? 'pairs' : usual);
  const halves = other('halves');
  return capacityOf(precision, halves).room < capacityOf(precision, whole).room ? whole : halves;
}

/**
 * The profile for one upload along memory: whole numbers in shared memory where halves are usual, but nobody asked for
 * them, and there is room to spare: they are exchanged at once then, not part by part.
 */
export function roomy(profile: DeviceProfile, precision: Arithmetic, length: number): DeviceProfile {
  const { groupPoints, residentBytes = profile.sharedBytes, sharedFormat, tuning = {} } = profile;
  if (sharedFormat !== 'halves' || length > groupPoints) return profile;
  // What somebody asked for was measured with halves, or is about how much fits.
  const { registerBoost, groupedBatch, threads } = tuning;
  if ([registerBoost, groupedBatch, threads].some((knob) => knob !== undefined)) return profile;
  const pairs = formatted(profile, 'pairs');
  const capacity = capacityOf(precision, pairs);
  const roomEnough =
    calibrationOf(profile).occupancy.roomy * groupPoints * capacity.sharedBytes <= residentBytes &&
    length <= capacity.room;
  return roomEnough ? pairs : profile;
}

/**
 * The profile for columns of a batch of so many bytes: see `DeviceProfile.distant`.
 * @param narrow some of what they move is reals, whose runs are half as long as those of as many complex numbers.
 */
export function forBatches(
  bytes: number,
  of: 'axes' | 'uploads',
  profile: DeviceProfile,
  narrow = false,
): DeviceProfile {
  const { distant } = profile;
  if (!distant || bytes <= distant.above) return profile;
  return { ...profile, coalescedBytes: (narrow ? 2 : 1) * distant[of] };
}

/** Profiles made of others: always the same objects, by which answers are remembered. */
const variants = new Memo<DeviceProfile>();

/** The profile with another format. */
function formatted(profile: DeviceProfile, sharedFormat: DeviceProfile['sharedFormat']): DeviceProfile {
  return variants.of(profile, sharedFormat, () => ({ ...profile, sharedFormat }));
}

/** The profile without clusters of blocks. */
export function withoutClusters(profile: DeviceProfile): DeviceProfile {
  const { cluster, ...others } = profile;
  return cluster ? variants.of(profile, 'alone', () => others) : profile;
}

/** The profile to one of several coordinates that share a tile. */
export function coordinatesProfile(count: number, profile: DeviceProfile): DeviceProfile {
  if (count === 1) return profile;
  return { ...withoutClusters(profile), sharedBytes: Math.floor(profile.sharedBytes / count) };
}

/** Whether so many complex numbers stay in a cache from one launch to the next: a temp buffer for them costs nothing. */
export function staysCached(elements: number, precision: Arithmetic, profile: DeviceProfile): boolean {
  return elements * capacityOf(precision, profile).complexBytes <= (profile.chunks?.most ?? 0);
}

/** Whether several dimensions of a tile can be transformed in one launch. */
export function mayFuse({ lockstep, doubleBuffered }: DeviceProfile): boolean {
  return lockstep === 'threads' && !doubleBuffered;
}
