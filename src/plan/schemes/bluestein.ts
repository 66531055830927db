/**
 * Bluestein's algorithm: a transform of any length N as a cyclic convolution of a length M ≥ 2N − 1 (for reals, of which only the bins
 * up to the half are wanted, M ≥ N + ⌊N/2⌋) that has small prime factors (Bluestein 1970; VkFFT guide 2.5.1; rocFFT Bluestein design). With n·k = (n² + k² − (k − n)²)/2,
 *
 *   X(k) = c(k) · Σ x(n)·c(n) · c*(k − n),   c(n) = e^{−πi·n²/N}.
 *
 * The sum is a convolution with the conjugated chirp c*: a transform of length M, a product with the spectrum of c*, which plan time computes, and
 * an inverse transform. In one launch, the first pass multiplies by the chirp and pads as it reads, the last pass of the first transform applies
 * the product as it writes, and the last pass of all multiplies by the chirp and crops as it writes.
 */
import { pad, wholeLine } from '../../layout/index.ts';
import { LARGEST_ORDER } from '../../numeric/nearest-roots.ts';
import { smoothBetween } from '../../numeric/primes.ts';
import { hermitianLength } from '../../problem/index.ts';
import { Memo } from '../device/memo.ts';
import type { Target } from '../device/target.ts';
import { chooseRadices, leastPassCost } from '../group/radix.ts';
import type { ChirpReach } from '../tree/leaf.ts';
import {
  type BranchNode,
  isLeaf,
  type LeafNode,
  type LineView,
  leafNode,
  leavesOf,
  type PlanNode,
} from '../tree/node.ts';
import type { Bluestein } from './axis-scheme.ts';
import type { ConvolveSteps } from './convolve-steps.ts';
import type { AxisPlace } from './four-step.ts';

/**
 * The steps of a convolution in one launch, for an axis of `count` points.
 * @param conjugated for the transform of the other sign, which has everything conjugated
 */
export function chirped(count: number, conjugated = false): ConvolveSteps {
  return chirpedSteps(count, { read: count, written: count }, conjugated);
}

/**
 * The steps for an axis of `count` points, if it reads some of them and writes some of the bins.
 * @param read the number of points that are read; `written`: the number of bins that are written
 */
function chirpedSteps(count: number, { read, written }: ChirpReach, conjugated: boolean): Required<ConvolveSteps> {
  const own = { modulus: count, ...(conjugated ? { conjugated } : {}) };
  const end = (numbers: number) => ({ count: numbers, factors: { kind: 'chirp' as const, ...own } });
  const cropped = read !== written && hasCroppedChirp(count) ? { reach: { read, written } } : {};
  const product = { factors: { kind: 'chirp-spectrum' as const, ...own, ...cropped } };
  return { product, ends: { read: end(read), write: end(written) } };
}

/**
 * The steps for `count` reals and their bins up to the half.
 * @param back from bins to reals: the transform of the other sign, which has everything conjugated
 */
export function chirpedReals(count: number, toReals: boolean): ConvolveSteps {
  const bins = hermitianLength(count);
  if (!toReals) return chirpedSteps(count, { read: count, written: bins }, toReals);
  const { product, ends } = chirpedSteps(count, { read: bins, written: count }, toReals);
  return { product, ends: { read: { ...ends.read, hermitian: true }, write: ends.write } };
}

/**
 * Whether the chirp of `length` reals is cropped at the last bin that they need. It is not symmetric then, so that plan time takes
 * several times as long for its spectrum.
 */
function hasCroppedChirp(length: number): boolean {
  return length <= LONGEST_CROPPED;
}

/** The longest chirp that is cropped: spectra of longer ones take plan time more than a tenth of a second. */
const LONGEST_CROPPED = 2 ** 15;

/** The least length of a convolution with a chirp: the chirp reaches from the last point that is read to the last one that is written. */
function leastPadded(length: number, ofReals: boolean): number {
  return length + (ofReals && hasCroppedChirp(length) ? hermitianLength(length) : length) - 1;
}

/** The largest prime factor of a convolution's length: passes of larger ones cost more than a somewhat longer convolution. */
const LARGEST_FACTOR = 7;
/** The factor over the least length beyond which a length is only taken where nothing shorter fits. */
const MOST_OVER_LEAST = 1.3;

/** The longest convolution of one thread of vectors, whose memory is all that a launch has beside the sides. */
const LONGEST_IN_ONE = 2 ** 24;

const known = new Memo<number | undefined>();

/**
 * The cheapest length of a convolution that shared memory holds. (To vectors, shared memory is memory like any other: a longer convolution only
 * takes longer.)
 * @param ofReals reals on one side, and only the bins up to the half on the other
 * @returns undefined where no length fits
 */
export function paddedLength(length: number, target: Target, ofReals = false): number | undefined {
  return known.of(target, `${length},${ofReals}`, () => {
    const { room } = target.capacity;
    const least = leastPadded(length, ofReals);
    const candidates = lengthsFor(length, least, 2 * least, target);
    const most = target.lockstep === 'vector' ? LONGEST_IN_ONE : room;
    const fit = candidates.filter((padded) => padded <= most);
    const near = fit.filter((padded) => padded <= MOST_OVER_LEAST * least);
    return cheapestLength(near.length > 0 ? near : fit.slice(0, 1), target);
  });
}

/** The lengths that an axis may be convolved with: the one that the tuning asks for, or lengths with small primes. */
function lengthsFor(length: number, least: number, most: number, { tuning }: Target): readonly number[] {
  const { maxRadix = LARGEST_FACTOR, length: all, pattern = [] } = tuning?.bluestein ?? {};
  const entry = pattern.findLast(({ from }) => from <= length);
  // An entry without a length ends the pattern.
  const requested = entry ? entry.length : all;
  // An entry of the pattern holds as long as its length has room for both ends of the chirp.
  if (requested !== undefined && requested >= 2 * length - 1) return [requested];
  return smoothBetween(least, most, maxRadix);
}

function cheapestLength(candidates: readonly number[], target: Target): number | undefined {
  const { lanes } = target.capacity;
  const lanesAlong = target.lockstep === 'vector' ? 'axis' : 'batch';
  const bounds = candidates.map((padded) => ({ padded, least: padded * leastPassCost(padded, target) }));
  let best: number | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  // The most promising lengths come first, so that most others need no search for radices.
  for (const { padded, least } of bounds.sort((a, b) => a.least - b.least || a.padded - b.padded)) {
    if (least > lowest) break;
    const cost = padded * chooseRadices({ length: padded, lanesAlong, lanes }, target).cost;
    if (cost < lowest || (cost === lowest && padded < best!)) [best, lowest] = [padded, cost];
  }
  return best;
}

/**
 * Lengths of a convolution in several launches, or in one launch of a cluster. Uploads move whole runs where powers of two divide the length, so
 * for each power of two the shortest such length is enough; clusters are best at powers of two, however long. No length exceeds the longest with
 * roots of unity.
 */
export function longLengths(length: number, target: Target): number[] {
  const least = leastPadded(length, false);
  const candidates = lengthsFor(length, least, Math.min(2 * least, LARGEST_ORDER), target);
  const near = candidates.filter((padded) => padded <= MOST_OVER_LEAST * least);
  const shortest = new Map<number, number>();
  for (const padded of near.length > 0 ? near : candidates.slice(0, 1)) {
    const twos = Math.min(LONGEST_RUN, padded & -padded);
    if (!shortest.has(twos)) shortest.set(twos, padded);
  }
  const powers = candidates.filter((padded) => (padded & -padded) === padded).slice(0, 1);
  return [...new Set([...shortest.values(), ...powers])];
}

/** The longest run, in points. */
const LONGEST_RUN = 4096;

/**
 * The launches of a convolution in several launches: the uploads of the transform, which leave their bins in any order, and the uploads of its
 * inverse, which begin with that order. The first launch multiplies by the chirp and pads as it reads; the last one multiplies by the chirp and
 * crops as it writes. The last upload of the transform, the product and the first upload of the inverse are one launch. With `transforms` apart
 * they are two, and the first one applies the product as it writes. With all `steps` apart, chirp and padding, the product, and chirp and crop have
 * launches of their own, as in rocFFT's default form, but plan time computes the chirp.
 * @param inverse the transform of the padded axis, `forward`, with its uploads in reverse
 * @param place the axis, with the length that the problem gives it
 */
export function convolvedInSeveral(
  [forward, inverse]: readonly [PlanNode, PlanNode],
  place: AxisPlace,
  padded: number,
  apart: Bluestein['apart'],
): BranchNode {
  const { dimension, length, tensor, title } = place;
  const order = isLeaf(forward) ? undefined : forward.parts!;
  const known = { modulus: length, count: padded, along: dimension };
  const chirp = { ...known, kind: 'chirp' } as const;
  const spectrum = { ...known, kind: 'chirp-spectrum', ...(order ? { order } : {}) } as const;
  const view: LineView = { dimension, line: pad(wholeLine(length), 0, 0, padded - length) };
  const [uploads, returns] = [leavesOf(forward), leavesOf(inverse)];
  const named = (leaf: LeafNode, way: string): LeafNode => ({ ...leaf, title: `${leaf.title}, ${way}` });
  const last = uploads.at(-1)!;
  const copied = (step: string) => movingNode(place, forward.length, step);
  const first: LeafNode = { ...named(returns[0]!, 'back'), exponents: 'opposite' };
  const times = { input: [], output: [spectrum] };
  const middle: LeafNode[] =
    apart === 'steps'
      ? [named(last, 'there'), { ...copied('product'), factors: times }, first]
      : apart === 'transforms'
        ? [{ ...named(last, 'there'), factors: times }, first]
        : [{ ...named(last, 'there and back'), product: spectrum }];
  const launches = [
    ...(apart === 'steps' ? [copied('chirp and zeros')] : []),
    ...uploads.slice(0, -1).map((leaf) => named(leaf, 'there')),
    ...middle,
    ...returns.slice(1).map((leaf): LeafNode => ({ ...named(leaf, 'back'), exponents: 'opposite' })),
    ...(apart === 'steps' ? [copied('chirp and crop')] : []),
  ];
  const children = launches.map((leaf, n): LeafNode => {
    const ends = { input: n === 0, output: n === launches.length - 1 };
    if (!ends.input && !ends.output) return leaf;
    const { input, output } = leaf.factors;
    return {
      ...leaf,
      factors: { input: ends.input ? [chirp] : input, output: ends.output ? [chirp] : output },
      lines: {
        input: ends.input ? [view] : [],
        output: ends.output ? [{ ...view, title: `keep ${length} bins` }] : [],
      },
      ...(ends.input ? { length: tensor } : {}),
      ...(ends.output ? { outputLength: tensor } : {}),
    };
  });
  return { scheme: 'convolution', title, axisOf: dimension - 1, length: tensor, outputLength: tensor, children };
}

/** A launch that moves the points of an axis, for steps at its ends. @param tensor the tensor with the length of the axis in that launch */
function movingNode({ dimension, others, title }: AxisPlace, tensor: readonly number[], step: string): LeafNode {
  const whole = { dimension, stride: 1 };
  return leafNode({
    title: `${title}, ${step}`,
    axisOf: dimension - 1,
    axis: { count: 1, input: whole, output: whole },
    batch: [{ count: tensor[dimension]!, input: whole, output: whole }, ...others],
    tensor,
  });
}
