/**
 * The launch of a device function: one line, which all threads of the function transform. Threads keep the line in registers, so all of them
 * should hold equally many elements, and the same elements before and after, where radices allow it.
 */
import { divisors } from '../numeric/primes.ts';
import type { Direction, Problem } from '../problem/index.ts';
import { rankSplits } from './candidates.ts';
import { wordsPerReal } from './device/capacity.ts';
import { type Target, withoutClusters } from './device/target.ts';
import { RADICES } from './group/butterflies.ts';
import { passCost, raderRadix } from './group/radix.ts';
import { planDirection } from './planner.ts';
import { type Leaf, type LeafStep, type PassesStep, passesOf } from './tree/leaf.ts';

export interface LineLeaf {
  /** One launch of one group, for one line. */
  readonly leaf: Leaf;
  /** Lines that the planner would give to a group. */
  readonly lines: number;
}

/** The number of candidates among which one with a single launch is looked for. */
const MOST_CANDIDATES = 32;

/**
 * The cheapest launch that transforms whole lines of a problem with one axis; undefined where lines take several launches.
 * @throws RangeError where nothing fits the profile
 */
export function lineLeaf(problem: Problem, direction: Direction, clustered: Target): LineLeaf | undefined {
  const target = withoutClusters(clustered);
  for (const { value } of rankSplits(problem, target, MOST_CANDIDATES)) {
    const { launches } = planDirection(problem, direction, target, false, value);
    const [only] = launches;
    const suits = launches.length === 1 && only!.leaf.lengths.length === 1 && !only!.leaf.shared.quarters;
    if (suits) return ofOneLine(only!.leaf, target);
  }
  return undefined;
}

function ofOneLine(leaf: Leaf, target: Target): LineLeaf {
  const { residentGroups: _, ...kept } = leaf;
  const even = evenPasses(leaf, target);
  const threads = even?.threads ?? Math.ceil(leaf.threads / leaf.tile);
  const steps = leaf.steps.flatMap((step): LeafStep[] => {
    // The caller's own loads walk along memory, so nothing is copied between registers and shared memory.
    if (step.do === 'copy') return [];
    return [step.do === 'passes' && even ? { ...step, radices: even.radices } : step];
  });
  return {
    leaf: {
      ...kept,
      ...{ steps, tile: 1, batch: leaf.batch.map(() => 1) },
      threads: nearestByRatio(threadCounts(leaf, target), threads),
      shared: { ...leaf.shared, arrays: 1 },
    },
    lines: leaf.tile,
  };
}

/**
 * Threads that may share a line, in ascending order. Where bins k and N − k are paired, they divide N/2, so that bin N/2, which is its own
 * partner, always falls to thread 0.
 */
function threadCounts({ steps, lengths, threads, tile }: Leaf, { maxThreads }: Target): number[] {
  const points = lengths[0]!;
  const paired = points % 2 === 0 && steps.some((step) => step.do === 'hermitian-split');
  const counts = paired ? divisors(points / 2) : [...divisors(points), Math.ceil(threads / tile)];
  return counts.filter((count) => count <= maxThreads).sort((a, b) => a - b);
}

/** The entry of a list that is nearest by ratio. */
function nearestByRatio(counts: readonly number[], wanted: number): number {
  const apart = (count: number) => Math.abs(Math.log(count / wanted));
  return counts.reduce((best, count) => (apart(count) < apart(best) ? count : best));
}

interface EvenPasses {
  readonly radices: readonly number[];
  readonly threads: number;
}

/** The most passes beyond the planner's sequence that radices may have so that every thread holds equally many points. */
const MORE_PASSES = 1;

/**
 * The cheapest passes in which T threads hold N/T points each, the same points before the first pass and after the last one. The radices of both
 * passes then divide N/T. Undefined where no such passes exist, or passes are not plain butterflies.
 */
function evenPasses(leaf: Leaf, target: Target): EvenPasses | undefined {
  const [passes] = passesOf(leaf) as [PassesStep];
  const points = leaf.lengths[0]!;
  if (passes.symmetry || passes.radices.some((radix) => raderRadix(radix, target))) return undefined;
  const known = [...new Set([...RADICES, ...passes.radices])].filter((radix) => points % radix === 0);
  const held = Math.max(target.registers / (3 * wordsPerReal(leaf.precision)), ...passes.radices);
  const threads = threadCounts(leaf, target).filter((count) => points % count === 0 && points / count <= held);
  let best: (EvenPasses & { readonly cost: number }) | undefined;
  const visit = (radices: readonly number[], stride: number): void => {
    if (stride === points && radices.length > 0) {
      for (const count of threads) {
        if ((points / count) % radices[0]! !== 0 || (points / count) % radices.at(-1)! !== 0) continue;
        const cost = costOfPasses(radices, points, count, target);
        if (!best || cost < best.cost - 1e-9 || (cost < best.cost + 1e-9 && count > best.threads))
          best = { radices, threads: count, cost };
      }
      return;
    }
    if (radices.length > passes.radices.length + MORE_PASSES - 1) return;
    for (const radix of known) if ((points / stride) % radix === 0) visit([...radices, radix], stride * radix);
  };
  if (points === 1) return { radices: passes.radices, threads: 1 };
  visit([], 1);
  return best;
}

/** The cost of passes, with idle threads counted. */
function costOfPasses(radices: readonly number[], length: number, threads: number, target: Target): number {
  let stride = 1;
  return radices.reduce((sum, radix) => {
    const butterflies = length / radix;
    const own = passCost({ radix, stride, length, lanesAlong: 'batch', lanes: 1 }, target);
    stride *= radix;
    return sum + (own * Math.ceil(butterflies / threads) * threads) / butterflies;
  }, 0);
}
