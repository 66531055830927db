/**
 * How an axis is transformed: by passes alone, a large prime being a radix like any other; a prime length as a cyclic convolution
 * of one point less (Rader 1968); or any length as a longer one (Bluestein 1970). The one that costs the least, unless somebody
 * asked for another.
 */
import { FftError, type Problem } from '../problem/index.ts';
import { aloneCost, convolvedPrice, uploadsQuestion } from './axis.ts';
import { paddedLength } from './bluestein.ts';
import { isRadixPrime, largePrimesOf, waysOf } from './butterflies.ts';
import { boosted, capacityOf } from './capacity.ts';
import { convolvedCost, exposure, groupCost, symmetricPrice, wholeCost } from './cost.ts';
import { Memo } from './memo.ts';
import { ifFits, type Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { mayConvolve, raderCost } from './rader.ts';
import { rankUploads } from './uploads.ts';

export type Scheme = 'passes' | 'rader' | 'bluestein';

const known = new Memo<Priced<Scheme>>();

/** @throws FftError `unsupported-length` where there is none. */
export function schemeOf(problem: Problem, axis: number, profile: DeviceProfile): Scheme {
  return largePrimesOf(problem.size[axis]!).length === 0 ? 'passes' : chosen(problem, axis, profile).value;
}

/** Whether an axis is more than passes. */
export function isConvolved(problem: Problem, axis: number, profile: DeviceProfile): boolean {
  return schemeOf(problem, axis, profile) !== 'passes';
}

/**
 * Whether an axis of real numbers, or one packed of them, is convolved with more points: it is never with one less. Known from its
 * length, whatever lies beside it.
 * @param symmetric it is one of reals whose passes compute bins up to the half, which is half the work of complex ones.
 */
export function isPadded(
  length: number,
  precision: Problem['precision'],
  profile: DeviceProfile,
  symmetric = false,
): boolean {
  const large = largePrimesOf(length);
  if (!large.every((prime) => isRadixPrime(prime, precision, profile))) return true;
  if (large.length === 0 || large.every((prime) => waysOf(prime, profile).asked)) return false;
  const own = boosted(profile, precision, length, false);
  const padded = paddedLength(length, precision, own, symmetric);
  if (padded === undefined || length > capacityOf(precision, own).room) return false;
  const threads = profile.lockstep === 'threads';
  // Vectors take a line by itself, threads so many that no multiprocessor is idle.
  const elements = (points: number) => (threads ? Number.POSITIVE_INFINITY : points);
  const complex = wholeCost(length, elements(length), precision, own);
  const passes = symmetric ? symmetricPrice(complex) : complex.price;
  const exposed = exposure(padded, precision, own);
  const alone = (threads ? groupCost : wholeCost)(padded, elements(padded), precision, own);
  return convolvedCost(length, padded, alone, exposed) < passes;
}

/** The same of an axis in several launches, whose factors have to fit into uploads. */
export function isPaddedAxis(problem: Problem, axis: number, profile: DeviceProfile): boolean {
  const length = problem.size[axis]!;
  if (isPadded(length, problem.precision, profile)) return true;
  return largePrimesOf(length).length > 0 && passesPrice(problem, axis, profile) === undefined;
}

/** What an axis costs that is convolved. */
export function wholePrice(problem: Problem, axis: number, profile: DeviceProfile): number {
  return chosen(problem, axis, profile).price;
}

function chosen(problem: Problem, axis: number, profile: DeviceProfile): Priced<Scheme> {
  const { placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides } = problem;
  const shape = [axis, placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides];
  return known.of(profile, JSON.stringify(shape), () => cheapest(problem, axis, profile));
}

function cheapest(problem: Problem, axis: number, profile: DeviceProfile): Priced<Scheme> {
  const offers: Priced<Scheme>[] = [];
  const offer = (value: Scheme, price: number | undefined) => price !== undefined && offers.push({ value, price });
  offer('passes', passesPrice(problem, axis, profile));
  offer('rader', raderPrice(problem, axis, profile));
  // What was asked for is not compared with what was not.
  const asked = largePrimesOf(problem.size[axis]!).every((prime) => waysOf(prime, profile).asked);
  if (!asked || offers.length === 0) {
    offer('bluestein', bluesteinPrice(problem, axis, profile, offers.length > 0));
  }
  return offers.reduce((best, other) => (other.price < best.price ? other : best));
}

/** Passes alone; undefined where a prime is too large for one. */
function passesPrice(problem: Problem, axis: number, profile: DeviceProfile): number | undefined {
  const precision = problem.precision;
  const radices = largePrimesOf(problem.size[axis]!).every((prime) => isRadixPrime(prime, precision, profile));
  if (!radices) return undefined;
  return ifFits(() => rankUploads(uploadsQuestion(problem, axis, profile), 1)[0]!.price);
}

/** A convolution of one point less; undefined where there is none. */
function raderPrice(problem: Problem, axis: number, profile: DeviceProfile): number | undefined {
  const length = problem.size[axis]!;
  const precision = problem.precision;
  const own = boosted(profile, precision, length, false);
  if (!mayConvolve(length, precision, own)) return undefined;
  return raderCost(length, aloneCost(problem, axis, length - 1, profile), precision, own);
}

/** @param spared there is another way: that it is too long for this one is no error. */
function bluesteinPrice(problem: Problem, axis: number, profile: DeviceProfile, spared: boolean): number | undefined {
  try {
    return convolvedPrice(problem, axis, profile);
  } catch (cause) {
    if (spared && (cause instanceof FftError || cause instanceof RangeError)) return undefined;
    throw cause;
  }
}
