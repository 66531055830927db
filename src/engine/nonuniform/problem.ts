/** Problems of non-uniform transforms, and the fine grids that follow from them. */
import { type FineGrid, fineGridOf, type NonuniformTarget } from '../../kernels/nonuniform/index.ts';
import type { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';

export type TransformType = 1 | 2 | 3;

export interface NonuniformProblem {
  /** 1: from points to modes, 2: from modes to points, 3: from points to frequencies. */
  readonly type: TransformType;
  readonly dimensions: number;
  /** Modes of each axis; empty for type 3. */
  readonly modes: readonly number[];
  /** The sign of the exponent. */
  readonly sign: 1 | -1;
  /** The number of transforms at the same points. */
  readonly transforms: number;
  readonly tolerance: number;
  readonly upsampling: number;
  readonly precision: 'single' | 'double';
  /** The order of modes: from −⌊N/2⌋ up, or from 0 up with the negative modes last. */
  readonly order: 'centred' | 'transform';
}

export function targetFor(
  { lockstep, lockstepBytes, maxThreads }: DeviceProfile,
  type: 'f32' | 'f64',
): NonuniformTarget {
  const vectors = lockstep === 'vector';
  const lanes = vectors ? Math.max(2, lockstepBytes / (type === 'f32' ? 4 : 8)) : 2;
  return { vectors, lanes, maxThreads };
}

export function gridFor(points: readonly number[], spreading: SemicircleKernel, target: NonuniformTarget): FineGrid {
  return fineGridOf(points, spreading.width, target.lanes);
}

/** Points of the fine grid along an axis with `modes` modes: an even product of 2, 3 and 5. */
export function fineLength(modes: number, { upsampling, width }: SemicircleKernel): number {
  return smoothLength(Math.max(Math.ceil(upsampling * modes - 1e-9), 2 * width));
}

/** The least even number of at least `least` that has no prime factor above 5. */
export function smoothLength(least: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let fives = 1; 2 * fives < best; fives *= 5) {
    for (let odd = fives; 2 * odd < best; odd *= 3) {
      let length = 2 * odd;
      while (length < least) length *= 2;
      best = Math.min(best, length);
    }
    if (fives > 2 * least) break;
  }
  return best;
}

/** The scaling of an axis of type 3: x = gamma · x′ + center, |x′| < π, and s = frequency − center of the frequencies. */
export interface ScaledAxis {
  readonly center: number;
  readonly frequencyCenter: number;
  readonly points: number;
  readonly gamma: number;
}

export function scaledAxis(x: ArrayLike<number>, s: ArrayLike<number>, spreading: SemicircleKernel): ScaledAxis {
  const { width, upsampling } = spreading;
  const [center, extent] = centerAndExtent(x);
  const [frequencyCenter, band] = centerAndExtent(s);
  // A single point, or a single frequency, has no extent: it is raised so that the product of both is at least 1.
  const safeBand = band === 0 ? (extent === 0 ? 1 : 1 / extent) : Math.max(band, extent === 0 ? 0 : 1 / extent);
  const safeExtent = extent === 0 ? 1 / safeBand : Math.max(extent, 1 / safeBand);
  const least = Math.ceil((2 * upsampling * safeBand * safeExtent) / Math.PI + width + 1);
  const points = smoothLength(Math.max(least, 2 * (width + 1)));
  return { center, frequencyCenter, points, gamma: points / (2 * upsampling * safeBand) };
}

/** The centre and half the extent of numbers; the centre is taken as 0 if that makes the extent little larger. */
function centerAndExtent(values: ArrayLike<number>): [center: number, extent: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let n = 0; n < values.length; n++) {
    low = Math.min(low, values[n]!);
    high = Math.max(high, values[n]!);
  }
  if (values.length === 0) return [0, 0];
  const [center, extent] = [(low + high) / 2, (high - low) / 2];
  return Math.abs(center) < 0.1 * extent ? [0, extent + Math.abs(center)] : [center, extent];
}
