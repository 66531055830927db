/** What expressions come to in double precision, for tests that look at butterflies by themselves. */
import type { Real } from '../../src/ir/index.ts';
import * as exact from '../../src/numeric/exact.ts';

type Load = Extract<Real, { op: 'load' }>;

/**
 * The value of an expression. @param load what a load finds.
 * @param known values that are known already, and afterwards all that were computed.
 */
export function numberOf(node: Real, load: (node: Load) => number, known = new Map<Real, number>()): number {
  const cached = known.get(node);
  if (cached !== undefined) return cached;
  const of = (operand: Real) => numberOf(operand, load, known);
  let result: number;
  if (node.op === 'const') result = exact.toNumber(node.value);
  else if (node.op === 'load') result = load(node);
  else if (node.op === 'neg') result = -of(node.a);
  else if (node.op === 'add') result = of(node.a) + of(node.b);
  else if (node.op === 'sub') result = of(node.a) - of(node.b);
  else if (node.op === 'mul') result = of(node.a) * of(node.b);
  else throw new RangeError(`butterflies by themselves have no '${node.op}'`);
  known.set(node, result);
  return result;
}
