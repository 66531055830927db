/**
 * Which radices, in which order: a shortest path over the divisors of the length.
 *
 * The cost of a pass is what the device's profile says it measured, or its arithmetic, one trip through shared memory
 * and what spills when the butterfly outgrows the registers; then come the lanes that idle or scatter when the stride
 * does not suit them.
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
  LARGEST_PAIRED_RADIX,
  largePrimesOf,
  RADICES,
  raderWay,
} from './butterflies.ts';

/** Butterflies of two factors that have so many points that twiddles are not at hand: in the first pass they are cheap, in the only one more so. */
const WIDE = new Set([10, 12, 14, 15, 16]);
/** Operations of a device in one on pairs. */
const PAIR_OPERATIONS = 16;
/** Sums of the same costs in another order differ by their rounding only. */
const TIE = 1e-9;
export interface RadixQuestion {
  readonly length: number;
  readonly lanesAlong: 'axis' | 'batch';
  readonly lanes: number;
  /** Every radix has to be a butterfly: these are the steps of a Rader pass. */
  readonly butterflies?: true;
}

/** A radix sequence and what it costs per point, in passes of radix 4; without what waiting for memory adds. */
export interface RadixChoice {
  readonly radices: readonly number[];
  readonly cost: number;
  /** Passes work in place, where the data lets them. */
  readonly inPlace?: true;
}

const choices = new Memo<RadixChoice>();

/** The cheapest radix sequence, first pass first. Length 1 is one pass that only copies. */
export function chooseRadices(question: RadixQuestion, target: Target): RadixChoice {
  const { length, lanesAlong, butterflies } = question;
  // Lanes that are no neighbours along the axis do not matter to it.
  const lanes = lanesAlong === 'axis' ? question.lanes : 1;
  return choices.of(target, `${length},${lanesAlong},${lanes}${butterflies ? ',butterflies' : ''}`, () =>
    searchRadices(question, target),
  );
}

function searchRadices(question: RadixQuestion, target: Target): RadixChoice {
  const { length, lanesAlong } = question;
  if (length === 1) return { radices: [1], cost: 1 };
  const autosort = cheapest(question, target, { least: leastCost(question, target) });
  if (!autosort) throw new RangeError(`no radices for ${length} = ${primeFactors(length).join(' · ')}`);
  // Passes in place do not wait for memory. Only some sequences suit vectors that take butterflies of one transform. (As if
  // data were interleaved and blocked: kernels/vector-form.ts knows better, and uses autosort form where they are not.)
  const inPlace = lanesAlong === 'axis' ? cheapest(question, target, { ends: question.lanes }) : undefined;
  if (inPlace && inPlace.cost <= autosort.cost) return { ...inPlace, inPlace: true };
  // One upload and several are compared without the waiting: they all go through memory as far away.
  return { radices: autosort.radices, cost: costOf(autosort.radices, question, target) };
}

/** What a search over sequences takes into account. */
interface SequenceLimits {
  /** What a pass costs at least. */
  readonly least?: number;
  /** Lanes that have to be filled in the first pass and, by both parts of what the last radix counts, behind it. */
  readonly ends?: number;
}

/** The cheapest sequence; undefined where none is as it has to be. */
function cheapest(
  question: RadixQuestion,
  target: Target,
  { least = 0, ends = 1 }: SequenceLimits,
): RadixChoice | undefined {
  const { length } = question;
  const best = tailsOf(question, target);
  // A Rader pass writes to other places than it reads from, and takes several steps.
  const isPass = question.butterflies || ends > 1 ? isRadixPrime : isPassPrime;
  const radices = [
    ...largePrimesOf(length).filter((prime) => isPass(prime, target)),
    ...listedRadices(question.butterflies ?? false, target),
  ];
  const from = (stride: number): RadixChoice | undefined => {
    if (stride === length) return { cost: 0, radices: [] };
    const left = length / stride;
    if (stride > 1 && best.has(left)) return best.get(left);
    let result: RadixChoice | undefined;
    for (const radix of radices) {
      if ((length / stride) % radix !== 0) continue;
      const isLast = stride * radix === length;
      // (Vectors of two leave one butterfly at the most, which costs what a vector would.)
      if ((stride === 1 && ends > 2 && radix % ends !== 0) || (isLast && (2 * radix) % ends !== 0)) continue;
      const rest = from(stride * radix);
      if (!rest) continue;
      const cost = passCost(passOf(question, radix, stride), target, least) + rest.cost;
      if (!result || cost < result.cost - TIE) result = { cost, radices: [radix, ...rest.radices] };
    }
    if (stride > 1) best.set(left, result);
    return result;
  };
  return from(1);
}

/** Primes that somebody asked to be multiplied are radices of their own. */
function listedRadices(butterflies: boolean, target: Target): readonly number[] {
  const most = isInPairs(target.precision, target) ? LARGEST_PAIRED_RADIX : Number.POSITIVE_INFINITY;
  const listed = RADICES.filter((radix) => radix <= most || radix === largestPrimeFactor(radix));
  if (butterflies || target.tuning?.rader?.multiply === undefined) return listed;
  return listed.filter(
    (radix) =>
      radix === largestPrimeFactor(radix) || !primeFactors(radix).some((prime) => isMultiplyAsked(prime, target)),
  );
}

const raderRadices = new Memo<RaderRadix | undefined>();

/** How the pass of a radix takes several steps; undefined where it is a butterfly. */
export function raderRadix(radix: number, target: Target): RaderRadix | undefined {
  if (radix <= 16 && target.tuning?.rader?.multiply === undefined) return undefined;
  return raderRadices.of(target, String(radix), () => {
    const way = radix > 2 && radix === largestPrimeFactor(radix) ? raderWay(radix, target) : undefined;
    if (way === undefined) return undefined;
    if (way === 'multiplied') return { prime: radix, by: 'multiplication' };
    const question = { length: radix - 1, lanesAlong: 'batch', lanes: 1, butterflies: true } as const;
    return { prime: radix, by: 'convolution', radices: chooseRadices(question, target).radices };
  });
}

/** The radices of the butterflies that a list of passes runs. A Rader pass counts as its steps: the radices of its transforms of p − 1 points, there and back. */
export function steppedRadices(radices: readonly number[], target: Target): readonly number[] {
  if (!radices.some((radix) => raderRadix(radix, target))) return radices;
  return radices.flatMap((radix) => {
    const rader = raderRadix(radix, target);
    if (!rader) return [radix];
    // The steps of a multiplication take pairs of points.
    return rader.by === 'convolution' ? [...rader.radices, ...rader.radices] : [2, 2];
  });
}

/** The cheapest sequences from some pass on, by what the passes before them have left of the length. */
type Tails = Map<number, RadixChoice | undefined>;

const tails = new Memo<Tails>();
/** So many are kept of each kind. */
const TAILS_KEPT = 4096;

/** Where lanes are no neighbours along the axis, what later passes cost does not depend on those before: lengths share them. */
function tailsOf({ lanesAlong, butterflies }: RadixQuestion, target: Target): Tails {
  if (lanesAlong === 'axis') return new Map();
  const known = tails.of(target, butterflies ? 'butterflies' : '', (): Tails => new Map());
  if (known.size > TAILS_KEPT) known.clear();
  return known;
}

function costOf(radices: readonly number[], question: RadixQuestion, target: Target): number {
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

/** What a pass of autosort form costs at least, where the data does not stay in the first-level cache. */
function leastCost({ length, lanesAlong }: RadixQuestion, { firstLevel, precision }: Target): number {
  if (!firstLevel || lanesAlong === 'batch') return 0;
  const bytes = 2 * length * 8 * wordsPerReal(precision);
  return bytes > firstLevel.bytes ? firstLevel.beyond : 0;
}

export interface PassQuestion {
  readonly radix: number;
  /** Product of the radices before it. */
  readonly stride: number;
  readonly length: number;
  readonly lanesAlong: 'axis' | 'batch';
  /** Neighbouring butterflies of one transform that run in lockstep. */
  readonly lanes: number;
  /** It is a step of a Rader pass. */
  readonly butterflies?: true;
}

/** Cost per point of one pass, in passes of radix 4. @param least what it takes however little there is to compute. */
export function passCost(question: PassQuestion, target: Target, least = 0): number {
  const { radix, stride, length, lanesAlong, lanes, butterflies } = question;
  const rader = butterflies ? undefined : raderRadix(radix, target);
  if (rader) return raderPassCost(rader, question, target, least);
  const {
    passes,
    columns: { rows },
  } = target.calibration;
  const measured = measuredCost(radix, target);
  const own = measured ?? estimate(radix, target) / estimate(4, target);
  const alone = radix === length;
  const wide = alone ? passes.wideAlone : stride > 1 ? passes.wideTwiddled : 1;
  const factor = measured !== undefined && WIDE.has(radix) ? wide : 1;
  const idle = idleLanes(question);
  const scattered = stride === 1 && lanes > 1 ? (passes.scatter * (radix % lanes)) / radix : 0;
  const unaligned = stride % lanes === 0 || stride === 1 ? 0 : passes.unaligned;
  const columns = lanesAlong === 'batch' && target.lockstep === 'vector' && !alone;
  const each = stride === 1 || stride * radix === length ? rows.memory : rows.cached;
  return Math.max(own * factor, least) * idle + scattered + unaligned + (columns ? each * Math.max(0, radix - 4) : 0);
}

/** By what lanes without work multiply a pass. They take neighbouring butterflies: of the same stride block, or, in the first pass, of neighbouring blocks. */
function idleLanes({ radix, stride, length, lanes }: PassQuestion): number {
  const items = stride === 1 ? length / radix : stride;
  const used = items < lanes ? 1 : items / Math.ceil(items / lanes);
  return lanes / used;
}

function measuredCost(radix: number, target: Target): number | undefined {
  return isInPairs(target.precision, target) ? undefined : target.radixCosts?.[radix];
}

/** All steps of a Rader pass: their butterflies, and the order of powers in which points are read and written. */
function raderPassCost(rader: RaderRadix, question: PassQuestion, target: Target, least: number): number {
  const { stride, lanes } = question;
  const { passes, rader: measured } = target.calibration;
  const each = (radix: number) => measuredCost(radix, target) ?? estimate(radix, target) / estimate(4, target);
  const steps =
    rader.by === 'convolution'
      ? 2 * rader.radices.reduce((sum, radix) => sum + Math.max(each(radix), least), 0)
      : (3 * rader.prime + 2 * target.passCost) / estimate(4, target);
  const scattered = stride === 1 && lanes > 1 ? passes.scatter : 0;
  return steps * idleLanes(question) + scattered + measured.pass;
}

/** Additions per point of a twiddled pass: arithmetic, a trip through shared memory, and what spills. */
function estimate(radix: number, target: Target): number {
  const { working, spill } = target.calibration.registers;
  // Beside so much arithmetic neither memory nor what spills counts for much.
  if (isInPairs(target.precision, target))
    return (butterflyOperations(radix, target) + 6 * (radix - 1)) / radix + target.passCost / PAIR_OPERATIONS;
  // A vector register holds fewer doubles; a thread's double takes two of its registers.
  const each = target.lockstep === 'threads' ? wordsPerReal(target.precision) : 1;
  const spilled = Math.max(0, 2 * radix + working - target.registers / each);
  return (butterflyOperations(radix, target) + 6 * (radix - 1) + spill * spilled) / radix + target.passCost;
}
