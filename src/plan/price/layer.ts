/**
 * Whether a spectral layer, along its last axis, is cheaper in one launch than in three. One launch reads and writes no bins and starts once; but
 * it has one group for each batch and bin of the other axes, and each group reads all matrices at that bin.
 */
import type { Target } from '../device/target.ts';
import { chooseRadices } from '../group/radix.ts';
import { shareOfGroup } from '../group/share.ts';
import { equivalentPasses } from './cost.ts';

/** The lines of all channels of one batch, as complex numbers. */
interface Lines {
  readonly points: number;
  readonly count: number;
}

export interface LayerSizes {
  readonly forward: Lines;
  readonly inverse: Lines;
  /** Bins that are kept of each line. */
  readonly bins: number;
  /** Bins of the other axes, and left batches: a group has one of them, and its matrices. */
  readonly positions: number;
  readonly batches: number;
  /** Channels. */
  readonly in: number;
  readonly out: number;
}

/**
 * On vectors, one launch saves what bins cost in a cache: 4 to 6 % of single batches. Of several, three launches multiply two at a time, which
 * saves as much. Groups that leave multiprocessors idle take longer than three launches of all of them, unless there is little to do. Both prices
 * are in bytes of the full bandwidth.
 */
export function paysInOneLaunch(sizes: LayerSizes, target: Target): boolean {
  if (target.lockstep === 'vector' && sizes.positions > 1) return paysOnVectors(sizes);
  if (target.lockstep === 'vector' && sizes.batches > 1) return false;
  const { multiprocessors, calibration, capacity, groupPoints } = target;
  const { batches, positions, in: from, out } = sizes;
  const bins = positions * sizes.bins;
  const points =
    positions * batches * (sizes.forward.points * sizes.forward.count + sizes.inverse.points * sizes.inverse.count);
  const idleFor = (groups: number) => Math.min(multiprocessors, Math.max(1, multiprocessors / groups));
  const start = (multiprocessors - 1) * calibration.launch.bytes;
  const passes = (equivalentPasses(sizes.forward.points, target) + equivalentPasses(sizes.inverse.points, target)) / 2;
  const transforms = (idle: number, lines: number) => {
    const share = Math.min(
      ...[sizes.forward, sizes.inverse].map((one) =>
        shareOfLayer({ ...one, count: Math.min(lines, one.count) }, target),
      ),
    );
    const trip = Math.max(1, idle / calibration.launch.reach) / share;
    return capacity.complexBytes * points * (trip + (idle * passes) / calibration.trip.passes);
  };
  const { again, product, ofSeveralAxes } = calibration.layers;
  const products = bins * from * out * batches;
  const numbers = bins * from * out * capacity.complexBytes;
  const between = 2 * bins * (from + out) * batches * capacity.complexBytes;
  const [one, several] = [idleFor(positions * batches), idleFor(points / groupPoints)];
  const reached = Math.max(1, one / calibration.launch.reach);
  const inOne =
    start +
    transforms(one, Number.POSITIVE_INFINITY) * (positions > 1 ? ofSeveralAxes : 1) +
    numbers * (1 + (batches - 1) * again) * reached +
    products * product.inside * one;
  const inThree = 3 * start + transforms(several, 1) + between + numbers + products * product.alone * several;
  return inOne <= inThree;
}

/**
 * Whether a group has many bins, and more numbers of matrices than points of its lines: matrices are read in one piece then. Layers of 64 × 64 and
 * 128 × 128 points with 8 to 32 channels take 0.43 to 1.0 of three launches where it says so, 0.77 in the mean; others, of up to 256 × 256 and
 * 32 × 32 × 32 points, 0.94 to 1.3.
 */
function paysOnVectors({ forward, inverse, bins, in: from, out }: LayerSizes): boolean {
  return bins >= 32 && bins * from * out >= 2 * (forward.points * forward.count + inverse.points * inverse.count);
}

/** The share of the bandwidth that a group reaches which transforms all lines at once; 1 on vectors, which take them tile by tile. */
function shareOfLayer({ points, count }: Lines, target: Target): number {
  if (target.lockstep === 'vector') return 1;
  const { lanes } = target.capacity;
  const { radices } = chooseRadices({ length: points, lanesAlong: 'batch', lanes }, target);
  return shareOfGroup({ points: points * count, radices, fused: false }, target);
}
