/**
 * The choice of radices and their order: a shortest path over the divisors of the length.
 *
 * The cost of a pass is the time that the device's profile has measured. Without one, it is estimated from the arithmetic and one round
 * trip through shared memory. Lanes that are idle, or that scatter because the stride does not suit them, are added.
 */
import { largestPrimeFactor, primeFactors } from '../../numeric/primes.ts';
import { isInPairs, wordsPerReal } from '../device/capacity.ts';
import { Memo } from '../device/memo.ts';
import type { Target } from '../device/target.ts';
import type { RaderRadix } from '../tree/leaf.ts';
import {
  butterflyOperations,
  isMultiplyAsked,
  isPassPrime,
  isRadixPrime,
  LARGEST_LISTED_RADIX,
  LARGEST_PAIRED_RADIX,
  largePrimesOf,
  RADICES,
  raderPassAlgorithm,
} from './butterflies.ts';

/**
 * Butterflies of two factors with so many points that the twiddles of a pass do not stay in registers. In a twiddled pass they take more
 * than the measured time (`passes` of the calibration).
 */
const WIDE = new Set([10, 12, 14, 15, 16]);
/** The number of device operations for one operation on double-word numbers. */
const PAIR_OPERATIONS = 16;
/** The tolerance for equal costs, because sums in another order are rounded differently. */
const TIE = 1e-9;
export interface RadixQuestion {
  readonly length: number;
  readonly lanesAlong: 'axis' | 'batch';
  readonly lanes: number;
  /** Only radices with butterflies are allowed, because these are the steps of a Rader pass. */
  readonly butterflies?: true;
}

/** A radix sequence and its cost per point in units of a radix-4 pass, without waiting for memory. */
export interface RadixChoice {
  readonly radices: readonly number[];
  readonly cost: number;
  /** The sequence suits passes in place, which are used if the data allows them. */
  readonly inPlace?: true;
}

const choices = new Memo<RadixChoice>();

/** The cheapest radix sequence, first pass first. Length 1 is one pass that only copies. */
export function chooseRadices(question: RadixQuestion, target: Target): RadixChoice {
  const { length, lanesAlong, butterflies } = question;
  // Only lanes along the axis matter to its radices.
  const lanes = lanesAlong === 'axis' ? question.lanes : 1;
  return choices.of(target, `${length},${lanesAlong},${lanes}${butterflies ? ',butterflies' : ''}`, () =>
    searchRadices(question, target),
  );
}

function searchRadices(question: RadixQuestion, target: Target): RadixChoice {
  const { length, lanesAlong } = question;
  if (length === 1) return { radices: [1], cost: 1 };
  const autosort = cheapestSequence(question, target, { least: leastAutosortCost(question, target) });
  if (!autosort) throw new RangeError(`no radices for ${length} = ${primeFactors(length).join(' · ')}`);
  // Passes in place do not wait for memory, but only some sequences suit vectors that hold butterflies of one transform. (This assumes
  // interleaved and blocked data. kernels/passes/vector-form.ts knows the actual form, and uses autosort form for other data.)
  const inPlace = lanesAlong === 'axis' ? cheapestSequence(question, target, { ends: question.lanes }) : undefined;
  if (inPlace && inPlace.cost <= autosort.cost) return { ...inPlace, inPlace: true };
  // The returned cost leaves out waiting for memory, because plans with one upload and plans with several are compared by it, and all of
  // them access memory equally far away.
  return { radices: autosort.radices, cost: sequenceCost(autosort.radices, question, target) };
}

/** Constraints of a search for radices. */
interface SequenceLimits {
  /** The least cost of any pass. */
  readonly least?: number;
  /** The lanes that the first pass and, counting both parts of numbers, the last radix have to fill. */
  readonly ends?: number;
}

/** The cheapest radix sequence; undefined if none satisfies the constraints. */
function cheapestSequence(
  question: RadixQuestion,
  target: Target,
  { least = 0, ends = 1 }: SequenceLimits,
): RadixChoice | undefined {
  const { length } = question;
  const best = tailsOf(question, target);
  // A Rader pass is not in place and takes several steps.
  const isPass = question.butterflies || ends > 1 ? isRadixPrime : isPassPrime;
  const radices = [
    ...largePrimesOf(length).filter((prime) => isPass(prime, target)),
    ...listedRadices(length, question.butterflies ?? false, target),
  ];
  const from = (stride: number): Tail | undefined => {
    if (stride === length) return NO_PASSES;
    const left = length / stride;
    if (stride > 1 && best.has(left)) return best.get(left);
    let result: Tail | undefined;
    for (const radix of radices) {
      if (left % radix !== 0) continue;
      // (With vectors of two lanes, at most one butterfly is left over, which costs as much as a vector.)
      if ((stride === 1 && ends > 2 && radix % ends !== 0) || (left === radix && (2 * radix) % ends !== 0)) continue;
      const rest = from(stride * radix);
      if (!rest) continue;
      const cost = passCost(passOf(question, radix, stride), target, least) + rest.cost;
      if (!result || cost < result.cost - TIE) result = { cost, radix, rest };
    }
    if (stride > 1) best.set(left, result);
    return result;
  };
  const cheapest = from(1);
  if (!cheapest) return undefined;
  const chosen: number[] = [];
  for (let tail = cheapest; tail.rest; tail = tail.rest) chosen.push(tail.radix);
  return { cost: cheapest.cost, radices: chosen };
}

/** The radices of `RADICES` that divide a length, without composites of primes that the user asked to multiply. */
function listedRadices(length: number, butterflies: boolean, target: Target): readonly number[] {
  const most = isInPairs(target.precision, target) ? LARGEST_PAIRED_RADIX : Number.POSITIVE_INFINITY;
  const dividing = RADICES.filter((radix) => length % radix === 0);
  const listed = dividing.filter((radix) => radix <= most || radix === largestPrimeFactor(radix));
  if (butterflies || target.tuning?.rader?.multiply === undefined) return listed;
  return listed.filter(
    (radix) =>
      radix === largestPrimeFactor(radix) || !primeFactors(radix).some((prime) => isMultiplyAsked(prime, target)),
  );
}

const raderRadices = new Memo<RaderRadix | undefined>();

/** The steps of a prime radix without a butterfly; undefined for a radix with one. */
export function raderRadix(radix: number, target: Target): RaderRadix | undefined {
  if (radix <= LARGEST_LISTED_RADIX && target.tuning?.rader?.multiply === undefined) return undefined;
  return raderRadices.of(target, String(radix), () => {
    const way = radix > 2 && radix === largestPrimeFactor(radix) ? raderPassAlgorithm(radix, target) : undefined;
    if (way === undefined) return undefined;
    if (way === 'multiplied') return { prime: radix, by: 'multiplication' };
    const question = { length: radix - 1, lanesAlong: 'batch', lanes: 1, butterflies: true } as const;
    return { prime: radix, by: 'convolution', radices: chooseRadices(question, target).radices };
  });
}

/**
 * The radices of all butterflies in a list of passes. A Rader pass counts as its steps: the radices of its transforms of p − 1 points,
 * forward and back.
 */
export function steppedRadices(radices: readonly number[], target: Target): readonly number[] {
  if (!radices.some((radix) => raderRadix(radix, target))) return radices;
  return radices.flatMap((radix) => {
    const rader = raderRadix(radix, target);
    if (!rader) return [radix];
    // The steps of a multiplication are butterflies of two points.
    return rader.by === 'convolution' ? [...rader.radices, ...rader.radices] : [2, 2];
  });
}

/** The cheapest sequence for the remaining passes: its first radix and the sequence behind it, which is missing after the last pass. */
interface Tail {
  readonly cost: number;
  readonly radix: number;
  readonly rest: Tail | undefined;
}

const NO_PASSES: Tail = { cost: 0, radix: 1, rest: undefined };

/** The cheapest sequences for the remaining passes, by the remaining length. */
type Tails = Map<number, Tail | undefined>;

const tails = new Memo<Tails>();
/** The limit of remembered sequences for each kind of search. */
const TAILS_KEPT = 4096;

/**
 * The table of cheapest tails. If lanes are not along the axis, the cost of later passes does not depend on earlier ones, so all lengths
 * share the table.
 */
function tailsOf({ lanesAlong, butterflies }: RadixQuestion, target: Target): Tails {
  if (lanesAlong === 'axis') return new Map();
  const known = tails.of(target, butterflies ? 'butterflies' : '', (): Tails => new Map());
  if (known.size > TAILS_KEPT) known.clear();
  return known;
}

function sequenceCost(radices: readonly number[], question: RadixQuestion, target: Target): number {
  let cost = 0;
  let stride = question.length;
  for (const radix of [...radices].reverse()) {
    stride /= radix;
    cost += passCost(passOf(question, radix, stride), target);
  }
  return cost;
}

function passOf(question: RadixQuestion, radix: number, stride: number): PassQuestion {
  const { length, lanes, lanesAlong, butterflies } = question;
  const own = { radix, stride, length, lanesAlong, lanes: lanesAlong === 'axis' ? lanes : 1 };
  return butterflies ? { ...own, butterflies } : own;
}

/** The least cost of an autosort pass, if the data does not stay in the first-level cache. */
function leastAutosortCost({ length, lanesAlong }: RadixQuestion, { firstLevel, precision }: Target): number {
  if (!firstLevel || lanesAlong === 'batch') return 0;
  const bytes = 2 * length * 8 * wordsPerReal(precision);
  return bytes > firstLevel.bytes ? firstLevel.beyond : 0;
}

export interface PassQuestion {
  readonly radix: number;
  /** The product of the radices of the passes before. */
  readonly stride: number;
  readonly length: number;
  readonly lanesAlong: 'axis' | 'batch';
  /** Neighbouring butterflies of one transform that run in lockstep. */
  readonly lanes: number;
  /** The pass is a step of a Rader pass. */
  readonly butterflies?: true;
}

/** The cost per point of one pass in units of a radix-4 pass. @param least the least cost, however little there is to compute */
export function passCost(question: PassQuestion, target: Target, least = 0): number {
  const { radix, stride, length, lanesAlong, lanes, butterflies } = question;
  const rader = butterflies ? undefined : raderRadix(radix, target);
  if (rader) return raderPassCost(rader, question, target, least);
  const {
    passes,
    columns: { rows },
  } = target.calibration;
  const measured = measuredCost(radix, target);
  const own = ownCost(radix, target);
  const alone = radix === length;
  const factor = measured !== undefined && stride > 1 && WIDE.has(radix) ? passes.wideTwiddled : 1;
  const idle = idleLanes(question);
  const scattered = stride === 1 && lanes > 1 ? (passes.scatter * (radix % lanes)) / radix : 0;
  const unaligned = stride % lanes === 0 || stride === 1 ? 0 : passes.unaligned;
  const columns = lanesAlong === 'batch' && target.lockstep === 'vector' && !alone;
  const each = stride === 1 || stride * radix === length ? rows.memory : rows.cached;
  return Math.max(own * factor, least) * idle + scattered + unaligned + (columns ? each * Math.max(0, radix - 4) : 0);
}

/**
 * The factor by which idle lanes lengthen a pass. Lanes take neighbouring butterflies: of one block of the stride or, in the first pass, of
 * neighbouring blocks.
 */
function idleLanes({ radix, stride, length, lanes }: PassQuestion): number {
  const items = stride === 1 ? length / radix : stride;
  const used = items < lanes ? 1 : items / Math.ceil(items / lanes);
  return lanes / used;
}

/** The cost per point of a pass of full lanes over cached data, before anything that its place in a sequence adds. */
function ownCost(radix: number, target: Target): number {
  return measuredCost(radix, target) ?? estimatedCost(radix, target) / estimatedCost(4, target);
}

const shares = new Memo<ReadonlyMap<number, number>>();

/**
 * For each prime of `RADICES` a cost of one factor: no radix costs less than its prime factors together. A prime's share is what its radices leave
 * for it beside the shares of smaller primes.
 */
function primeShares(target: Target): ReadonlyMap<number, number> {
  return shares.of(target, '', () => {
    const own = new Map<number, number>();
    const factor = Math.min(1, target.calibration.passes.wideTwiddled);
    for (const radix of [...RADICES].sort((a, b) => largestPrimeFactor(a) - largestPrimeFactor(b))) {
      const prime = largestPrimeFactor(radix);
      const factors = primeFactors(radix);
      const others = factors.reduce((sum, other) => sum + (other === prime ? 0 : own.get(other)!), 0);
      const left = factor * ownCost(radix, target) - others;
      const share = left / factors.filter((other) => other === prime).length;
      own.set(prime, Math.max(0, Math.min(share, own.get(prime) ?? share)));
    }
    return own;
  });
}

/** A cost that no radix sequence falls below: searches leave out lengths that cannot be the cheapest. 0 where nothing is known. */
export function leastPassCost(length: number, target: Target): number {
  // Rader passes have costs of their own.
  if (largePrimesOf(length).length > 0 || target.tuning?.rader?.multiply !== undefined) return 0;
  const own = primeShares(target);
  // A little less, because sums in another order are rounded differently.
  return (1 - TIE) * primeFactors(length).reduce((sum, prime) => sum + own.get(prime)!, 0);
}

function measuredCost(radix: number, target: Target): number | undefined {
  return isInPairs(target.precision, target) ? undefined : target.radixCosts?.[radix];
}

/** The cost of all steps of a Rader pass: their butterflies, and reading and writing points in the order of powers. */
function raderPassCost(rader: RaderRadix, question: PassQuestion, target: Target, least: number): number {
  const { stride, lanes } = question;
  const { passes, rader: measured } = target.calibration;
  const steps =
    rader.by === 'convolution'
      ? 2 * rader.radices.reduce((sum, radix) => sum + Math.max(ownCost(radix, target), least), 0)
      : (3 * rader.prime + 2 * target.passCost) / estimatedCost(4, target);
  const scattered = stride === 1 && lanes > 1 ? passes.scatter : 0;
  return steps * idleLanes(question) + scattered + measured.pass;
}

/** The estimated cost per point of a twiddled pass, in additions: arithmetic, and a round trip through shared memory. */
function estimatedCost(radix: number, target: Target): number {
  const operations = (butterflyOperations(radix, target) + 6 * (radix - 1)) / radix;
  // Arithmetic on double-words outweighs memory.
  return operations + (isInPairs(target.precision, target) ? target.passCost / PAIR_OPERATIONS : target.passCost);
}
