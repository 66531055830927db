/**
 * The algorithms for an axis: passes alone, where a large prime is a radix like any other or takes several steps; for a prime length, a cyclic
 * convolution of one point less (Rader 1968); for any length, a longer convolution (Bluestein 1970). The cheapest one is taken, unless the tuning
 * asks for another.
 */
import { FftError, type Problem } from '../../problem/index.ts';
import { Memo } from '../device/memo.ts';
import { boosted, type Target } from '../device/target.ts';
import {
  allowedAlgorithms,
  isPassPrime,
  isRadixPrime,
  largePrimesOf,
  raderPassAlgorithm,
} from '../group/butterflies.ts';
import { convolvedCost, exposure, groupCost, symmetricPrice, wholeCost } from '../price/cost.ts';
import { ifFits, type Priced } from '../price/priced.ts';
import { rankUploads, type UploadsQuestion } from '../price/uploads.ts';
import { aloneCost, cheapestBluestein, uploadsQuestion } from './axis.ts';
import type { Bluestein, ComplexScheme, Rader, Uploads } from './axis-scheme.ts';
import { paddedLength } from './bluestein.ts';
import { mayConvolve, raderCost } from './rader.ts';

const known = new Memo<Priced<ComplexScheme>>();

/** Whether an axis takes more than passes. @throws FftError `unsupported-length` where no algorithm has room for it */
export function isConvolved(problem: Problem, axis: number, target: Target): boolean {
  return convolvedScheme(problem, axis, target) !== undefined;
}

/**
 * The convolution that transforms an axis; undefined where passes alone do, or cost less.
 * @throws FftError `unsupported-length` where no algorithm has room for it
 */
export function convolvedScheme(problem: Problem, axis: number, target: Target): Priced<Rader | Bluestein> | undefined {
  if (largePrimesOf(problem.size[axis]!).length === 0) return undefined;
  const { value, price } = chosen(problem, axis, target);
  return value.by === 'uploads' ? undefined : { value, price };
}

/** The ways to transform an axis of complex numbers, cheapest first. @throws as `convolvedScheme`, and RangeError as `rankUploads` */
export function complexSchemes(problem: Problem, axis: number, target: Target, most: number): Priced<ComplexScheme>[] {
  const convolved = convolvedScheme(problem, axis, target);
  return convolved ? [convolved] : uploadSchemes(uploadsQuestion(problem, axis, target), most);
}

/** The ways to split an axis into uploads, cheapest first. @throws RangeError as `rankUploads` */
export function uploadSchemes(question: UploadsQuestion, most: number): Priced<Uploads>[] {
  return rankUploads(question, most).map(({ value, price }) => ({ value: { by: 'uploads', lengths: value }, price }));
}

/**
 * Whether an axis of reals, or of complex numbers made of reals, is convolved by Bluestein's algorithm; it never is by Rader's. That follows from
 * its length, whatever lies beside it.
 * @param symmetric the axis has reals whose passes compute bins up to the half, which is half the work of complex ones
 */
export function isPadded(length: number, target: Target, symmetric = false): boolean {
  const large = largePrimesOf(length);
  // Passes over reals have butterflies only.
  const isPass = symmetric ? isRadixPrime : isPassPrime;
  if (!large.every((prime) => isPass(prime, target))) return true;
  if (large.length === 0 || large.every((prime) => allowedAlgorithms(prime, target).requested)) return false;
  const own = boosted(target, length, false);
  const padded = paddedLength(length, own, symmetric);
  if (padded === undefined || length > own.capacity.room) return false;
  const threads = target.lockstep === 'threads';
  // The number of elements behind the prices: vectors take a line by itself, threads so many lines that no multiprocessor is idle.
  const elements = (points: number) => (threads ? Number.POSITIVE_INFINITY : points);
  const complex = wholeCost(length, elements(length), own);
  const alonePrice = symmetric ? symmetricPrice(complex) : complex.price;
  const exposed = exposure(padded, own);
  const alone = (threads ? groupCost : wholeCost)(padded, elements(padded), own);
  return convolvedCost(length, padded, alone, exposed) < alonePrice;
}

/** The same for an axis in several launches, whose factors also have to fit into uploads. */
export function isPaddedAxis(problem: Problem, axis: number, target: Target): boolean {
  const length = problem.size[axis]!;
  if (isPadded(length, target)) return true;
  return largePrimesOf(length).length > 0 && schemeOfPasses(problem, axis, target) === undefined;
}

function chosen(problem: Problem, axis: number, target: Target): Priced<ComplexScheme> {
  const { placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides } = problem;
  const shape = [axis, placement, size, batches, leftBatches, coordinates, unordered, precision, layout, strides];
  return known.of(target, JSON.stringify(shape), () => cheapestComplexScheme(problem, axis, target));
}

function cheapestComplexScheme(problem: Problem, axis: number, target: Target): Priced<ComplexScheme> {
  const offers: Priced<ComplexScheme>[] = [];
  const offer = (scheme: Priced<ComplexScheme> | undefined) => scheme && offers.push(scheme);
  offer(schemeOfPasses(problem, axis, target));
  offer(rader(problem, axis, target));
  // An algorithm that the tuning asks for is not compared with others.
  const requested = largePrimesOf(problem.size[axis]!).every((prime) => allowedAlgorithms(prime, target).requested);
  if (!requested || offers.length === 0) offer(bluestein(problem, axis, target, offers.length > 0));
  return offers.reduce((best, other) => (other.price < best.price ? other : best));
}

/** Passes alone; undefined where a prime is too large for one, or is the whole length, which `rader` transforms in a launch of its own. */
function schemeOfPasses(problem: Problem, axis: number, target: Target): Priced<Uploads> | undefined {
  const length = problem.size[axis]!;
  const primes = largePrimesOf(length);
  const isAlone = primes[0] === length && raderPassAlgorithm(length, target) === 'convolved';
  if (isAlone || !primes.every((prime) => isPassPrime(prime, target))) return undefined;
  return ifFits(() => uploadSchemes(uploadsQuestion(problem, axis, target), 1)[0]!);
}

/** Rader's convolution of one point less; undefined where it does not fit. */
function rader(problem: Problem, axis: number, target: Target): Priced<Rader> | undefined {
  const length = problem.size[axis]!;
  const own = boosted(target, length, false);
  if (!mayConvolve(length, own)) return undefined;
  const price = raderCost(length, aloneCost(problem, axis, length - 1, target), own);
  return { value: { by: 'rader' }, price };
}

/** @param spared another algorithm has been found, so that a length too long for this one is no error */
function bluestein(problem: Problem, axis: number, target: Target, spared: boolean): Priced<Bluestein> | undefined {
  try {
    return cheapestBluestein(problem, axis, target);
  } catch (cause) {
    if (spared && (cause instanceof FftError || cause instanceof RangeError)) return undefined;
    throw cause;
  }
}
