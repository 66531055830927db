/**
 * Operations that are not to become part of others. WGSL has no word for that, and some of its compilers reorder what they
 * can: each result goes through a step on integers whose outcome they do not know to be no change.
 */
import { EXACT } from '../spmd/print.ts';
import { binary, call, type Expression, type MathName, mapExpressions, type Statement } from '../spmd/tree.ts';

/** One of two neighbouring numbers is even. */
export const NOTHING = 'nothing = (block.x * (block.x + 1u)) & 1u;';

const KEPT = 'kept';

/**
 * Exact operations as operators, for compilers that leave those alone: each call of a function would have to be inlined, which takes
 * them longer than all the rest. Sums and differences with a constant go through the step all the same: (C + x) − C becomes x,
 * because two constants can be one.
 */
export function asOperators(statements: readonly Statement[]): { statements: readonly Statement[]; kept: boolean } {
  let kept = false;
  const changed = mapExpressions(statements, (e): Expression => {
    if (e.op !== 'math' || !(e.name in EXACT)) return e;
    const [, sign] = EXACT[e.name as keyof typeof EXACT];
    const [a, b] = e.of as [Expression, Expression];
    const plain = binary(sign, a, b);
    if (sign === '*' || ![a, b].some(({ op }) => op === 'real')) return plain;
    kept = true;
    return call(KEPT, plain);
  });
  return { statements: changed, kept };
}

const STEP = [
  'var<private> nothing: u32;',
  `fn ${KEPT}(value: f32) -> f32 { return bitcast<f32>(bitcast<u32>(value) ^ nothing); }`,
];

/** The functions for exact operations that are used, and the step. @param kept something calls the step by itself. */
export function exactWgslFunctions(used: ReadonlySet<MathName>, kept: boolean): string[] {
  const signs = Object.entries(EXACT).filter(([own]) => used.has(own as MathName));
  if (signs.length === 0 && !kept) return [];
  return [
    ...STEP,
    ...signs.map(([, [own, sign]]) => `fn ${own}(a: f32, b: f32) -> f32 { return ${KEPT}(a ${sign} b); }`),
  ];
}
