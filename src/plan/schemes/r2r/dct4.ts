/**
 * DCT and DST IV of an even number N of reals, by N/2 complex points (VkFFT guide 2.5.5). With z(j) = x(2j) + i·x(N−1−2j),
 *
 *   e^{−2πi·(4k+1)/8N} · Σ z(j) · e^{−2πi·j/2N} · e^{−2πi·j·k/(N/2)} = (X(2k) − i·X(N−1−2k)) / 2.
 *
 * Sines are cosines of the reals in reverse, every second one with the other sign.
 */
import { negate, reverse, stack, stride, wholeLine } from '../../../layout/index.ts';
import type { Problem, TransformKind } from '../../../problem/index.ts';
import type { Target } from '../../device/target.ts';
import type { Priced } from '../../price/priced.ts';
import type { PlanNode } from '../../tree/node.ts';
import { cheapestBluestein, uploadsQuestion } from '../axis.ts';
import { type ComplexScheme, inOneUpload, type RealScheme } from '../axis-scheme.ts';
import { isPaddedAxis, uploadSchemes } from '../complex-schemes.ts';
import { betweenReals, complexAxis } from './r2r-ends.ts';

/** The ways to transform an axis by N/2 complex points, cheapest first. */
export function foldedSchemes(problem: Problem, axis: number, target: Target, most: number): Priced<RealScheme>[] {
  const points = problem.size[axis]! / 2;
  const half = complexAxis(problem, axis, points);
  const schemes = (): Priced<ComplexScheme>[] => {
    if (isPaddedAxis(half, axis, target)) return [cheapestBluestein(half, axis, target)];
    if (points === 1) return [{ value: inOneUpload(1), price: 1 }];
    return uploadSchemes(uploadsQuestion(half, axis, target), most);
  };
  return schemes().map(({ value, price }) => ({ value: { by: 'folded', points: value }, price }));
}

/** The node of an axis. @param scheme the scheme of N/2 complex points */
export function foldedAxis(
  problem: Problem,
  axis: number,
  target: Target,
  scheme: ComplexScheme,
  kind: TransformKind,
): PlanNode {
  const count = problem.size[axis]!;
  const reals = wholeLine(count);
  const [even, oddBackwards] = [stride(reals, 0, 2), stride(reverse(reals, 0), 0, 2)];
  const sines = kind === 'dst4';
  const input = sines ? stack(1, oddBackwards, even) : stack(1, even, oddBackwards);
  const output = stack(1, even, sines ? oddBackwards : negate(oddBackwards));
  const title = 'parts from both ends';
  return betweenReals(
    problem,
    axis,
    target,
    { scheme, points: count / 2 },
    {
      input: { line: input, title },
      output: { line: output, title },
      times: 2,
      points: 'facing',
      roots: { input: { modulus: 2 * count, step: 1, first: 0 }, output: { modulus: 8 * count, step: 4, first: 1 } },
    },
  );
}
