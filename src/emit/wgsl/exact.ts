/**
 * Exact operations, which compilers must not combine with others. WGSL cannot express that, and some of its compilers reorder operations.
 * So each result goes through a step on integers that changes nothing, which the compilers cannot know.
 */
import { EXACT } from '../spmd/tree/print.ts';
import { binary, call, type Expression, type MathName, mapExpressions, type Statement } from '../spmd/tree/tree.ts';

/** Sets `nothing` to 0: of two neighbouring integers one is even, so bit 0 of the product is 0. */
export const NOTHING = 'nothing = (block.x * (block.x + 1u)) & 1u;';

const KEPT = 'kept';

/**
 * Exact operations as plain operators, for compilers that do not reorder these. It saves inlining a function for each, which takes
 * them longer than all the rest. Sums and differences with a constant still go through the step, because these compilers do combine
 * constants: (C + x) − C would become x.
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

/** The functions for the exact operations that are used, and the step. @param kept whether statements also call the step directly */
export function exactWgslFunctions(used: ReadonlySet<MathName>, kept: boolean): string[] {
  const signs = Object.entries(EXACT).filter(([own]) => used.has(own as MathName));
  if (signs.length === 0 && !kept) return [];
  return [
    ...STEP,
    ...signs.map(([, [own, sign]]) => `fn ${own}(a: f32, b: f32) -> f32 { return ${KEPT}(a ${sign} b); }`),
  ];
}
