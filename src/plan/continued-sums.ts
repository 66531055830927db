/**
 * Sums of cosines and sines by continuation: N reals are continued to a sequence of L points, even or odd around both ends, whose
 * transform has the sums as its bins, but for a factor at each point and each bin (Martucci, "Symmetric convolution and the discrete
 * sine and cosine transforms", 1994). It is linear in complex numbers, too: two lines of reals are the parts of one, and come out side
 * by side.
 */
import type { Problem, TransformKind } from '../problem/index.ts';
import { convolvedPrice, uploadsQuestion } from './axis.ts';
import type { PlanNode } from './node.ts';
import type { Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { mergedLines } from './real.ts';
import { isPaddedAxis } from './scheme.ts';
import { betweenReals, complexAxis, type EndRoots } from './sum-ends.ts';
import { rankUploads } from './uploads.ts';

/** How the sums of one kind become a transform. */
interface Continuation {
  /** Points: twice as many as there are reals, and twice this many more. */
  readonly more: -1 | 0 | 1;
  /** The first real is at point 0 or 1. */
  readonly shift: 0 | 1;
  /** Reals of the second half are those at `mirror − j`, counted from L, with this sign. */
  readonly mirror: 0 | -1;
  readonly sign: 1 | -1;
  /** Kind IV: its sums begin half a step later, on both sides. */
  readonly late?: true;
  /** The bin of the first sum; sines come out imaginary, and begin where they are not all zero. */
  readonly first: 0 | 1;
  readonly sines?: true;
}

const CONTINUATIONS: Readonly<Partial<Record<TransformKind, Continuation>>> = {
  dct1: { more: -1, shift: 0, mirror: 0, sign: 1, first: 0 },
  dct4: { more: 0, shift: 0, mirror: -1, sign: -1, late: true, first: 0 },
  dst1: { more: 1, shift: 1, mirror: -1, sign: -1, first: 1, sines: true },
  dst4: { more: 0, shift: 0, mirror: -1, sign: 1, late: true, first: 0, sines: true },
};

/** Points of the transform that makes the sums along an axis. */
function pointsOf({ size, transform }: Problem, axis: number): number {
  return 2 * (size[axis]! + CONTINUATIONS[transform[axis]!]!.more);
}

/** The ways to split an axis into uploads. */
export function waysContinued(
  problem: Problem,
  axis: number,
  profile: DeviceProfile,
  most: number,
): Priced<readonly number[]>[] {
  const points = pointsOf(problem, axis);
  const whole = complexAxis(problem, axis, points);
  if (isPaddedAxis(whole, axis, profile)) return [{ value: [points], price: 2 * convolvedPrice(whole, axis, profile) }];
  return rankUploads(uploadsQuestion(whole, axis, profile), most).map(({ value, price }) => ({
    value,
    price: 2 * price,
  }));
}

/** @param uploads one of `waysContinued` */
export function continuedAxis(
  problem: Problem,
  axis: number,
  profile: DeviceProfile,
  uploads: readonly number[],
  kind: TransformKind,
): PlanNode {
  const { shift, mirror, sign, late, first, sines } = CONTINUATIONS[kind]!;
  const [count, points, of] = [problem.size[axis]!, pointsOf(problem, axis), axis + 1];
  // i = e^{−2πi·3/4}.
  const bins: EndRoots | undefined = late
    ? { of: 8 * count, step: 2, first: 1 + (sines ? 6 * count : 0) }
    : sines && { of: 4, step: 0, first: 3 };
  return betweenReals(
    problem,
    axis,
    profile,
    { uploads, points },
    {
      input: { extended: { on: 'input', of, count, shift, mirror: points + mirror, sign } },
      output: { cropped: { of, from: first, count } },
      roots: {
        ...(late ? { input: { of: 4 * count, step: 1, first: 0 } } : {}),
        ...(bins ? { output: bins } : {}),
      },
      merged: mergedLines(problem, axis),
    },
  );
}
