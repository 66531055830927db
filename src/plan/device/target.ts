/**
 * The device as one plan sees it: the numbers of its profile, and the numbers that follow from them for the precision of the plan. It is made once,
 * where planning begins, and handed down as one thing. A launch may see a variant of it, with less shared memory or other runs; equal variants of a
 * target are the same object, so answers can be remembered by it.
 */
import { type Calibration, calibrationOf } from './calibration.ts';
import { type Arithmetic, type Capacity, capacityOf, type SharedParts } from './capacity.ts';
import { Memo } from './memo.ts';
import type { DeviceProfile } from './profile.ts';

export interface Target extends DeviceProfile {
  /** The arithmetic of the kernels. */
  readonly precision: Arithmetic;
  /** The number of exchanges for shared memory in `halves`; without effect in other formats. */
  readonly parts: SharedParts;
  readonly capacity: Capacity;
  readonly calibration: Calibration;
}

const targets = new Memo<Target>();

/** The target of a plan. */
export function targetOf(profile: DeviceProfile, precision: Arithmetic): Target {
  return targets.of(profile, precision, () => completed(profile, precision, 2));
}

function completed(profile: DeviceProfile, precision: Arithmetic, parts: SharedParts): Target {
  const capacity = capacityOf(precision, profile, parts);
  return { ...profile, precision, parts, capacity, calibration: calibrationOf(profile) };
}

const variants = new Memo<Target>();

/** A variant of the target with other numbers. @param key which numbers */
function variant(target: Target, key: string, changes: Partial<DeviceProfile>, parts = target.parts): Target {
  return variants.of(target, key, () => completed({ ...target, ...changes }, target.precision, parts));
}

/**
 * The target for transforms of one length. Registers may extend shared memory (VkFFT guide 2.5.6, "register overutilization"): real and imaginary
 * parts then go through it one after the other. The tuning of a problem can ask for that, or for its opposite.
 * @param split the length is one of several uploads
 * @param passesAlone the launch has one axis and only passes, so that the tuning may ask for quarters of the points one after another.
 */
export function boosted(target: Target, length: number, split: boolean, passesAlone = false): Target {
  const { registerBoost, registerBoost4Step, registerBoostNonPow2 } = target.tuning ?? {};
  let times = split ? registerBoost4Step : registerBoost;
  if (registerBoostNonPow2 === false && !Number.isInteger(Math.log2(length))) times = 1;
  const usual = target.sharedFormat;
  const requested = times === undefined ? usual : times > 1 ? 'halves' : usual === 'halves' ? 'pairs' : usual;
  if (requested !== 'halves') return formatted(target, requested);
  // Whole numbers in shared memory are better where threads and registers are so few that halves would have less room.
  const whole = formatted(target, usual === 'halves' ? 'pairs' : usual);
  const halves = formatted(target, 'halves');
  // Quarters need an even radix in each pass but the first, so that each butterfly has points of both halves: powers of two have that.
  const quartered = passesAlone && (times ?? 1) >= 4 && Number.isInteger(Math.log2(length));
  const parted = quartered ? variant(halves, 'quarters', {}, 4) : halves;
  return parted.capacity.room < whole.capacity.room ? whole : parted;
}

/**
 * The target for one upload along memory. Where halves are the usual format, the tuning has not asked for them, and there is room to spare,
 * shared memory has whole numbers instead: they are exchanged at once, not part by part.
 */
export function roomy(target: Target, length: number): Target {
  const { groupPoints, residentBytes = target.sharedBytes, sharedFormat, tuning = {}, calibration } = target;
  if (sharedFormat !== 'halves' || length > groupPoints) return target;
  // Tuned numbers of groups or threads were measured with halves, and a register boost is about how much fits: they keep the format.
  const { registerBoost, groupedBatch, threads } = tuning;
  if ([registerBoost, groupedBatch, threads].some((knob) => knob !== undefined)) return target;
  const pairs = formatted(target, 'pairs');
  const { sharedBytes, room } = pairs.capacity;
  const roomEnough =
    calibration.occupancy.barriersCostMore * groupPoints * sharedBytes <= residentBytes && length <= room;
  return roomEnough ? pairs : target;
}

/**
 * The target for columns of a batch of so many bytes: see `DeviceProfile.distant`.
 * @param narrow some of the columns are reals, whose runs take half the bytes of as many complex numbers.
 */
export function forBatches(bytes: number, of: 'axes' | 'uploads', target: Target, narrow = false): Target {
  const { distant } = target;
  if (!distant || bytes <= distant.above) return target;
  const coalescedBytes = (narrow ? 2 : 1) * distant[of];
  return variant(target, `runs of ${coalescedBytes}`, { coalescedBytes });
}

/** The usual number of points per thread: a butterfly of radix 8. */
export const POINTS_PER_THREAD = 8;

/** The target with groups of so many threads. */
export function withThreads(target: Target, threads: number): Target {
  const tuning = { ...target.tuning, threads };
  return variant(target, `groups of ${threads}`, { groupPoints: POINTS_PER_THREAD * threads, tuning });
}

/** The target with another format of shared memory. */
function formatted(target: Target, sharedFormat: DeviceProfile['sharedFormat']): Target {
  return sharedFormat === target.sharedFormat ? target : variant(target, sharedFormat, { sharedFormat });
}

/** The target without clusters of blocks. */
export function withoutClusters(target: Target): Target {
  return target.cluster ? variant(target, 'no clusters', { cluster: undefined as never }) : target;
}

/** The target for one coordinate, where several of them share a tile. */
export function coordinatesTarget(count: number, target: Target): Target {
  if (count === 1) return target;
  const alone = withoutClusters(target);
  return variant(alone, `one of ${count}`, { sharedBytes: Math.floor(target.sharedBytes / count) });
}

/** The target for a group that keeps so many bytes of shared memory for other data, beside which whole numbers are exchanged. */
export function besideBytes(bytes: number, target: Target): Target {
  const alone = withoutClusters(formatted(target, target.sharedFormat === 'halves' ? 'pairs' : target.sharedFormat));
  return variant(alone, `beside ${bytes} bytes`, { sharedBytes: target.sharedBytes - bytes });
}

/** Whether a buffer of so many complex numbers stays in a cache from one launch to the next, so that it costs nothing. */
export function staysCached(elements: number, { capacity, chunks }: Target): boolean {
  return elements * capacity.complexBytes <= (chunks?.most ?? 0);
}

/** Whether several dimensions of a tile can be transformed in one launch. */
export function mayFuse({ lockstep, doubleBuffered }: DeviceProfile): boolean {
  return lockstep === 'threads' && !doubleBuffered;
}
