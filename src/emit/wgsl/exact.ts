/**
 * Operations that are not to become part of others. WGSL has no word for that, and some of its compilers reorder what they
 * can: each result goes through a step on integers whose outcome they do not know to be no change.
 */
import { EXACT } from '../spmd/print.ts';
import { call, type Expression, type MathName, mapExpressions, type Statement } from '../spmd/tree.ts';

/** One of two neighbouring numbers is even. */
export const NOTHING = 'nothing = (block.x * (block.x + 1u)) & 1u;';

const KEPT = 'kept';

/**
 * Sums and differences with a constant, each behind such a step: (C + x) − C becomes x in compilers that leave everything else
 * alone, because they see two constants that can be one.
 */
export function keptConstants(statements: readonly Statement[]): { statements: readonly Statement[]; kept: boolean } {
  let kept = false;
  const changed = mapExpressions(statements, (e): Expression => {
    if (e.op !== 'math' || (e.name !== 'exactAdd' && e.name !== 'exactSub')) return e;
    if (!e.of.some(({ op }) => op === 'real')) return e;
    kept = true;
    return call(KEPT, e);
  });
  return { statements: changed, kept };
}

/** What the functions for exact operations need beside them. */
export interface ExactForm {
  /** Each operation goes through the step. */
  readonly guarded: boolean;
  /** Something calls the step by itself. */
  readonly kept: boolean;
}

/** The functions for those that are used, and the variable that they share. */
export function exactFunctions(used: ReadonlySet<MathName>, { guarded, kept }: ExactForm): string[] {
  const signs = Object.entries(EXACT).filter(([own]) => used.has(own as MathName));
  if (signs.length === 0) return [];
  const step = [
    'var<private> nothing: u32;',
    `fn ${KEPT}(value: f32) -> f32 { return bitcast<f32>(bitcast<u32>(value) ^ nothing); }`,
  ];
  const result = (sum: string) => (guarded ? `${KEPT}(${sum})` : sum);
  return [
    ...(guarded || kept ? step : []),
    ...signs.map(([, [own, sign]]) => `fn ${own}(a: f32, b: f32) -> f32 { return ${result(`a ${sign} b`)}; }`),
  ];
}
