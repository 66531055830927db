/**
 * Bluestein's algorithm: a transform of any length N as a cyclic convolution of a length M ≥ 2N − 1 that has small prime
 * factors (Bluestein 1970; VkFFT guide 2.5.1; rocFFT Bluestein design). With n·k = (n² + k² − (k − n)²)/2,
 *
 *   X(k) = c(k) · Σ x(n)·c(n) · c*(k − n),   c(n) = e^{−πi·n²/N}.
 *
 * The sum is a convolution with the conjugated chirp c*, done by a transform of length M, a product with the spectrum of c*,
 * which plan time knows, and the way back. In one launch the chirp and the padding are part of what the first pass reads, the
 * product of what the last pass of the first transform writes, chirp and crop of what the last pass of all writes.
 */
import { smoothBetween } from '../numeric/primes.ts';
import { type Arithmetic, capacityOf } from './capacity.ts';
import type { AxisPlace } from './four-step.ts';
import type { Factors, PassesStep } from './leaf.ts';
import { Memo } from './memo.ts';
import { type BranchNode, isLeaf, type LeafNode, leavesOf, type PlanNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';

/**
 * The passes of a transform of the padded length → those of both of them, for the first `count` points.
 * @param inverse the transform of the other sign: everything is conjugated.
 */
export function convolution(passes: PassesStep, count: number, inverse = false): PassesStep[] {
  const { input, output } = passes.lanesAlong;
  const factors = (kind: Factors['kind']): Factors => ({ kind, of: count, ...(inverse ? { conjugated: true } : {}) });
  const chirp = { count, factors: factors('chirp') };
  const sign = (backward: boolean) => (backward === inverse ? {} : { inverse: true as const });
  return [
    {
      ...passes,
      ...sign(false),
      lanesAlong: { input, output },
      read: chirp,
      write: { factors: factors('chirp-spectrum') },
    },
    { ...passes, ...sign(true), lanesAlong: { input: output, output }, write: chirp },
  ];
}

/** Prime factors over this make passes that cost more than a somewhat longer convolution. */
const LARGEST_FACTOR = 7;
/** Lengths over this share of the least that would do are only taken where nothing shorter fits. */
const SPARE = 1.3;

/** Longer ones would take plan time more than seconds to know the spectrum of, and much memory. */
const LONGEST = 2 ** 24;

const known = new Memo<number | undefined>();

/**
 * The length of the convolution that costs the least, of those that shared memory holds. (To vectors that is memory like any
 * other: a longer one only takes longer.)
 * @returns undefined where there is none.
 */
export function paddedLength(length: number, precision: Arithmetic, profile: DeviceProfile): number | undefined {
  return known.of(profile, `${length},${precision}`, () => {
    const { room } = capacityOf(precision, profile);
    const least = 2 * length - 1;
    const candidates = lengthsFor(length, 2 * least, profile);
    const most = profile.lockstep === 'vector' ? LONGEST : room;
    const fit = candidates.filter((padded) => padded <= most);
    const near = fit.filter((padded) => padded <= SPARE * least);
    return cheapest(near.length > 0 ? near : fit.slice(0, 1), precision, profile);
  });
}

/** Lengths that an axis may be convolved to: the one that was asked for, or those that have small primes. */
function lengthsFor(length: number, most: number, { tuning }: DeviceProfile): readonly number[] {
  const { maxRadix = LARGEST_FACTOR, length: all, pattern = [] } = tuning?.bluestein ?? {};
  const least = 2 * length - 1;
  const asked = pattern.findLast(({ from }) => from <= length)?.length ?? all;
  // An entry of the pattern serves as far as it holds both ends of the chirp.
  if (asked !== undefined && asked >= least) return [asked];
  return smoothBetween(least, most, maxRadix);
}

function cheapest(candidates: readonly number[], precision: Arithmetic, profile: DeviceProfile): number | undefined {
  const { lanes } = capacityOf(precision, profile);
  const lanesAlong = profile.lockstep === 'vector' ? 'axis' : 'batch';
  let best: number | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (const padded of candidates) {
    const cost = padded * chooseRadices({ length: padded, lanesAlong, lanes, precision }, profile).cost;
    if (cost < lowest) [best, lowest] = [padded, cost];
  }
  return best;
}

/**
 * The length of a convolution in several launches: uploads move whole runs where powers of two divide it.
 * @returns undefined where it would take too long to prepare.
 */
export function longLength(length: number, profile: DeviceProfile): number | undefined {
  const least = 2 * length - 1;
  const candidates = lengthsFor(length, Math.min(2 * least, LONGEST), profile);
  const near = candidates.filter((padded) => padded <= SPARE * least);
  const twos = (padded: number) => Math.min(WHOLE, padded & -padded);
  return (near.length > 0 ? near : candidates).reduce<number | undefined>(
    (best, padded) => (best !== undefined && twos(best) >= twos(padded) ? best : padded),
    undefined,
  );
}

/** Runs are no longer than this many points. */
const WHOLE = 4096;

/**
 * The same in several launches: the uploads of the transform, which leave their bins as they come, and those of the way back,
 * which begin there. The chirp and the padding are part of what the first one reads, the product of what the last upload of the
 * transform writes, chirp and crop of what the last one of all writes.
 * @param there the transform of the padded axis, `back` the same in reverse.
 * @param place of the axis as the problem has it.
 */
export function convolvedInSeveral(there: PlanNode, back: PlanNode, place: AxisPlace, padded: number): BranchNode {
  const { of, length, tensor, title } = place;
  const order = isLeaf(there) ? undefined : there.parts!;
  const chirp = { kind: 'chirp', of: length, count: padded, along: of } as const;
  const spectrum = {
    kind: 'chirp-spectrum',
    of: length,
    count: padded,
    along: of,
    ...(order ? { order } : {}),
  } as const;
  const outside = { of, from: length, to: padded };
  const launches = [...leavesOf(there), ...leavesOf(back).map((leaf): LeafNode => ({ ...leaf, backward: true }))];
  const middle = leavesOf(there).length - 1;
  const last = launches.length - 1;
  const children = launches.map((leaf, n): LeafNode => {
    const input = n === 0 ? chirp : undefined;
    const output = n === middle ? spectrum : n === last ? chirp : undefined;
    return {
      ...leaf,
      title: `${leaf.title}, ${n <= middle ? 'convolved' : 'back'}`,
      ...(input || output ? { factors: { input: input ? [input] : [], output: output ? [output] : [] } } : {}),
      ...(n === 0 ? { length: tensor } : {}),
      ...(n === last ? { outputLength: tensor } : {}),
      ...(n === 0 || n === last
        ? { absent: { input: n === 0 ? [outside] : [], output: n === last ? [outside] : [] } }
        : {}),
    };
  });
  return { scheme: 'convolution', title, axisOf: of - 1, length: tensor, outputLength: tensor, children };
}
