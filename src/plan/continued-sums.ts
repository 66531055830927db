/**
 * Sums of cosines and sines by continuation: N reals are continued to a sequence of L points, even or odd around both ends, whose
 * transform has the sums as its bins, but for a factor at each point and each bin (Martucci, "Symmetric convolution and the discrete
 * sine and cosine transforms", 1994). It is linear in complex numbers, too: two lines of reals are the parts of one, and come out side
 * by side. What continues to reals may be half as many numbers, whose bins are paired as those of any reals are: real.ts.
 */
import { hermitianLength, type Problem, type TransformKind } from '../problem/index.ts';
import { convolvedPrice, uploadsQuestion } from './axis.ts';
import type { Dimension, PlanNode } from './node.ts';
import type { Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { inOneLaunch, mergedLines } from './real.ts';
import { isPaddedAxis } from './scheme.ts';
import { betweenReals, complexAxis, type EndRoots, oneLaunch, othersOf } from './sum-ends.ts';
import { rankUploads } from './uploads.ts';

/** How the sums of one kind become a transform. */
interface Continuation {
  /** Points: twice as many as there are reals, and twice this many more. */
  readonly more: -1 | 1;
  /** The first real is at point 0 or 1. */
  readonly shift: 0 | 1;
  /** Reals of the second half are those at `mirror − j`, counted from L, with this sign. */
  readonly mirror: 0 | -1;
  readonly sign: 1 | -1;
  /** The bin of the first sum; sines come out imaginary, and begin where they are not all zero. */
  readonly first: 0 | 1;
  readonly sines?: true;
}

const CONTINUATIONS: Readonly<Partial<Record<TransformKind, Continuation>>> = {
  dct1: { more: -1, shift: 0, mirror: 0, sign: 1, first: 0 },
  dst1: { more: 1, shift: 1, mirror: -1, sign: -1, first: 1, sines: true },
};

/** Points of the transform that makes the sums along an axis. */
function pointsOf({ size, transform }: Problem, axis: number): number {
  return 2 * (size[axis]! + CONTINUATIONS[transform[axis]!]!.more);
}

/**
 * The price of half as many numbers, if what continues are reals (nothing turns them before the transform) and one launch has room.
 * Lines that merge are no more numbers, and need no pairs, if one launch has room for those.
 */
function inHalf(problem: Problem, axis: number, points: number, profile: DeviceProfile) {
  const merges = mergedLines(problem, axis) !== undefined;
  if (merges && inOneLaunch(complexAxis(problem, axis, points), axis, profile)) return undefined;
  return inOneLaunch(complexAxis(problem, axis, points / 2), axis, profile);
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
  const half = inHalf(problem, axis, points, profile);
  if (half) return [{ value: [points / 2], price: half.price }];
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
  const { shift, mirror, sign, first, sines } = CONTINUATIONS[kind]!;
  const [count, points, of] = [problem.size[axis]!, pointsOf(problem, axis), axis + 1];
  const input = { extended: { on: 'input', of, count, shift, mirror: points + mirror, sign } } as const;
  const output = { cropped: { of, from: first, count } };
  // i = e^{−2πi·3/4}.
  const bins: EndRoots | undefined = sines && { of: 4, step: 0, first: 3 };
  if (uploads.length === 1 && uploads[0]! === points / 2) {
    const along: Dimension = { count: points / 2, input: { of, step: 2 }, output: { of, step: 1 } };
    const turned = bins ? [{ kind: 'roots' as const, ...bins, count: hermitianLength(points), along: of }] : [];
    return {
      ...oneLaunch(problem, axis, profile, along, othersOf(problem, axis)),
      ...{ ...input, ...output, factors: { input: [], output: turned } },
      ...{ real: { side: 'both', by: 'halves', beside: { of, step: 1 } }, times: 1 / 2, forward: true },
    };
  }
  return betweenReals(
    problem,
    axis,
    profile,
    { uploads, points },
    {
      input,
      output,
      roots: bins ? { output: bins } : {},
      merged: mergedLines(problem, axis),
    },
  );
}
