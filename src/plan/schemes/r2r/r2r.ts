/**
 * Cosine and sine transforms, DCT and DST I to IV as FFTW defines them (REDFT and RODFT; VkFFT guide 2.5.5): reals on both sides.
 *
 * - II and III, and IV of odd lengths, by the real transform of as many points: dct-via-rfft.ts.
 * - IV of even lengths, by half as many complex points: dct4.ts.
 * - I, by extending the reals to a sequence about twice as long: dct1.ts.
 *
 * On vectors, a short transform is one butterfly of its reals, or of its extended points: `LONGEST_BUTTERFLY`, tiling.ts.
 */
import { type Direction, type Problem, type TransformKind, tensorShape } from '../../../problem/index.ts';
import type { Target } from '../../device/target.ts';
import type { Priced } from '../../price/priced.ts';
import { type LeafNode, leafNode, type PlanNode } from '../../tree/node.ts';
import { sameDimensions } from '../axis.ts';
import type { RealScheme } from '../axis-scheme.ts';
import { cosineSchemes, cosinesAxis } from './dct-via-rfft.ts';
import { extensionAxis, extensionSchemes } from './dct1.ts';
import { foldedAxis, foldedSchemes } from './dct4.ts';

/** The transform that undoes another, but for a factor. */
const INVERSES: Readonly<Partial<Record<TransformKind, TransformKind>>> = {
  dct2: 'dct3',
  dct3: 'dct2',
  dst2: 'dst3',
  dst3: 'dst2',
};

/** The ways to transform an axis, cheapest first. */
export function r2rSchemes(problem: Problem, axis: number, target: Target, most: number): Priced<RealScheme>[] {
  const kind = problem.transform[axis]!;
  if (kind.endsWith('1')) return extensionSchemes(problem, axis, target, most);
  const folded = kind.endsWith('4') && problem.size[axis]! % 2 === 0;
  return (folded ? foldedSchemes : cosineSchemes)(problem, axis, target, most);
}

/** The node of an axis. @param scheme one of `r2rSchemes` */
export function r2rAxis(
  problem: Problem,
  direction: Direction,
  axis: number,
  target: Target,
  scheme: RealScheme,
): PlanNode {
  const own = problem.transform[axis]!;
  const kind = direction === 'forward' ? own : (INVERSES[own] ?? own);
  if (kind.endsWith('1')) return extensionAxis(problem, axis, target, scheme, kind);
  if (scheme.by === 'folded') return foldedAxis(problem, axis, target, scheme.points, kind);
  return cosinesAxis(problem, axis, target, scheme, kind);
}

/** The node of a problem with nothing to transform: reals are copied. */
export function copiedReals(problem: Problem): LeafNode {
  const tensor = tensorShape(problem, 'input');
  const batch = sameDimensions(problem).filter(({ count }) => count > 1);
  const axis = { count: 1, input: { dimension: 1, stride: 1 }, output: { dimension: 1, stride: 1 } };
  return {
    ...leafNode({ title: 'copy', axis, batch, tensor }),
    exponents: 'forward',
    real: { side: 'both', by: 'parts' },
  };
}
