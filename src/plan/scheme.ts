/**
 * How an axis is transformed: by passes alone, a large prime being a radix like any other; a prime length as a cyclic convolution
 * of one point less (Rader 1968); or any length as a longer one (Bluestein 1970). The one that costs the least, unless somebody
 * asked for another.
 */
import { FftError, type Problem } from '../problem/index.ts';
import { aloneCost, cheapestBluestein, uploadsQuestion } from './axis.ts';
import type { Bluestein, ComplexScheme, Rader, Uploads } from './axis-scheme.ts';
import { paddedLength } from './bluestein.ts';
import { isRadixPrime, largePrimesOf, waysOf } from './butterflies.ts';
import { boosted, capacityOf } from './capacity.ts';
import { convolvedCost, exposure, groupCost, symmetricPrice, wholeCost } from './cost.ts';
import { Memo } from './memo.ts';
import { ifFits, type Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { mayConvolve, raderCost } from './rader.ts';
import { rankUploads, type UploadsQuestion } from './uploads.ts';

const known = new Memo<Priced<ComplexScheme>>();

/** Whether an axis is more than passes. @throws FftError `unsupported-length` where there is no way. */
export function isConvolved(problem: Problem, axis: number, profile: DeviceProfile): boolean {
  return convolvedScheme(problem, axis, profile) !== undefined;
}

/**
 * The convolution that transforms an axis; undefined where passes alone do, or cost less.
 * @throws FftError `unsupported-length` where there is no way.
 */
export function convolvedScheme(
  problem: Problem,
  axis: number,
  profile: DeviceProfile,
): Priced<Rader | Bluestein> | undefined {
  if (largePrimesOf(problem.size[axis]!).length === 0) return undefined;
  const { value, price } = chosen(problem, axis, profile);
  return value.by === 'uploads' ? undefined : { value, price };
}

/** The ways to transform an axis of complex numbers, cheapest first. @throws as `convolvedScheme`, and RangeError as `rankUploads` */
export function complexSchemes(
  problem: Problem,
  axis: number,
  profile: DeviceProfile,
  most: number,
): Priced<ComplexScheme>[] {
  const convolved = convolvedScheme(problem, axis, profile);
  return convolved ? [convolved] : uploadSchemes(uploadsQuestion(problem, axis, profile), most);
}

/** The ways to split an axis into uploads, cheapest first. @throws RangeError as `rankUploads` */
export function uploadSchemes(question: UploadsQuestion, most: number): Priced<Uploads>[] {
  return rankUploads(question, most).map(({ value, price }) => ({ value: { by: 'uploads', lengths: value }, price }));
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
  const alonePrice = symmetric ? symmetricPrice(complex) : complex.price;
  const exposed = exposure(padded, precision, own);
  const alone = (threads ? groupCost : wholeCost)(padded, elements(padded), precision, own);
  return convolvedCost(length, padded, alone, exposed) < alonePrice;
}

/** The same of an axis in several launches, whose factors have to fit into uploads. */
export function isPaddedAxis(problem: Problem, axis: number, profile: DeviceProfile): boolean {
  const length = problem.size[axis]!;
  if (isPadded(length, problem.precision, profile)) return true;
  return largePrimesOf(length).length > 0 && passes(problem, axis, profile) === undefined;
}

function chosen(problem: Problem, axis: number, profile: DeviceProfile): Priced<ComplexScheme> {
  const { placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides } = problem;
  const shape = [axis, placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides];
  return known.of(profile, JSON.stringify(shape), () => cheapest(problem, axis, profile));
}

function cheapest(problem: Problem, axis: number, profile: DeviceProfile): Priced<ComplexScheme> {
  const offers: Priced<ComplexScheme>[] = [];
  const offer = (scheme: Priced<ComplexScheme> | undefined) => scheme && offers.push(scheme);
  offer(passes(problem, axis, profile));
  offer(rader(problem, axis, profile));
  // What was asked for is not compared with what was not.
  const asked = largePrimesOf(problem.size[axis]!).every((prime) => waysOf(prime, profile).asked);
  if (!asked || offers.length === 0) offer(bluestein(problem, axis, profile, offers.length > 0));
  return offers.reduce((best, other) => (other.price < best.price ? other : best));
}

/** Passes alone; undefined where a prime is too large for one. */
function passes(problem: Problem, axis: number, profile: DeviceProfile): Priced<Uploads> | undefined {
  const precision = problem.precision;
  const radices = largePrimesOf(problem.size[axis]!).every((prime) => isRadixPrime(prime, precision, profile));
  return radices ? ifFits(() => uploadSchemes(uploadsQuestion(problem, axis, profile), 1)[0]!) : undefined;
}

/** A convolution of one point less; undefined where there is none. */
function rader(problem: Problem, axis: number, profile: DeviceProfile): Priced<Rader> | undefined {
  const length = problem.size[axis]!;
  const precision = problem.precision;
  const own = boosted(profile, precision, length, false);
  if (!mayConvolve(length, precision, own)) return undefined;
  const price = raderCost(length, aloneCost(problem, axis, length - 1, profile), precision, own);
  return { value: { by: 'rader' }, price };
}

/** @param spared there is another way: that it is too long for this one is no error. */
function bluestein(
  problem: Problem,
  axis: number,
  profile: DeviceProfile,
  spared: boolean,
): Priced<Bluestein> | undefined {
  try {
    return cheapestBluestein(problem, axis, profile);
  } catch (cause) {
    if (spared && (cause instanceof FftError || cause instanceof RangeError)) return undefined;
    throw cause;
  }
}
