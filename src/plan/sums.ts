/**
 * Cosine and sine transforms, DCT and DST I to IV as FFTW defines them (REDFT and RODFT; VkFFT guide 2.5.5): real on both sides.
 *
 * - II and III, and IV of odd lengths, by the real transform of as many points: real-sums.ts.
 * - IV of even lengths, by half as many complex points: facing-sums.ts.
 * - I, by continuing the reals to a sequence twice as long: continued-sums.ts.
 *
 * On vectors short ones are one butterfly of their reals, or of the points that continue them: `LONGEST_BUTTERFLY`, tiling.ts.
 */
import { type Direction, type Problem, type TransformKind, tensorShape } from '../problem/index.ts';
import { dimensionsOf } from './axis.ts';
import { continuedAxis, waysContinued } from './continued-sums.ts';
import { facingAxis, waysFacing } from './facing-sums.ts';
import { type LeafNode, leafNode, type PlanNode } from './node.ts';
import type { Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { cosinesAxis, waysOfCosines } from './real-sums.ts';

/** The transform that undoes another, but for a factor. */
const INVERSES: Readonly<Partial<Record<TransformKind, TransformKind>>> = {
  dct2: 'dct3',
  dct3: 'dct2',
  dst2: 'dst3',
  dst3: 'dst2',
};

/** How sums along an axis are done. */
interface SumScheme {
  ways(problem: Problem, axis: number, profile: DeviceProfile, most: number): Priced<readonly number[]>[];
  node(
    problem: Problem,
    axis: number,
    profile: DeviceProfile,
    uploads: readonly number[],
    kind: TransformKind,
  ): PlanNode;
}

const COSINES: SumScheme = { ways: waysOfCosines, node: cosinesAxis };
const FACING: SumScheme = { ways: waysFacing, node: facingAxis };
const CONTINUED: SumScheme = { ways: waysContinued, node: continuedAxis };

function schemeOf({ transform, size }: Problem, axis: number): SumScheme {
  const kind = transform[axis]!;
  if (kind.endsWith('1')) return CONTINUED;
  return kind.endsWith('4') && size[axis]! % 2 === 0 ? FACING : COSINES;
}

/** The ways to split an axis into uploads. */
export function waysOfSums(problem: Problem, axis: number, profile: DeviceProfile, most: number) {
  return schemeOf(problem, axis).ways(problem, axis, profile, most);
}

/** The node of an axis. @param uploads one of `waysOfSums` */
export function sumsAxis(
  problem: Problem,
  direction: Direction,
  axis: number,
  profile: DeviceProfile,
  uploads: readonly number[],
): PlanNode {
  const own = problem.transform[axis]!;
  const kind = direction === 'forward' ? own : (INVERSES[own] ?? own);
  return schemeOf(problem, axis).node(problem, axis, profile, uploads, kind);
}

/** Nothing to transform: reals are copied. */
export function copiedReals(problem: Problem): LeafNode {
  const tensor = tensorShape(problem, 'input');
  const batch = dimensionsOf(problem).filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { ...leafNode({ title: 'copy', axis, batch, tensor }), forward: true, real: { side: 'both', by: 'parts' } };
}
