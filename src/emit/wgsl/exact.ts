/**
 * Operations that are not to become part of others. WGSL has no word for that, and some of its compilers reorder what they
 * can: each result goes through a step on integers whose outcome they do not know to be no change.
 */
import { EXACT } from '../spmd/print.ts';
import type { MathName } from '../spmd/tree.ts';

/** One of two neighbouring numbers is even. */
export const NOTHING = 'nothing = (block.x * (block.x + 1u)) & 1u;';

/** The functions for those that are used, and the variable that they share. @param unguarded nothing is done against compilers. */
export function exactFunctions(used: ReadonlySet<MathName>, unguarded: boolean): string[] {
  const signs = Object.entries(EXACT).filter(([own]) => used.has(own as MathName));
  if (signs.length === 0) return [];
  if (unguarded) return signs.map(([, [own, sign]]) => `fn ${own}(a: f32, b: f32) -> f32 { return a ${sign} b; }`);
  return [
    'var<private> nothing: u32;',
    'fn kept(value: f32) -> f32 { return bitcast<f32>(bitcast<u32>(value) ^ nothing); }',
    ...signs.map(([, [own, sign]]) => `fn ${own}(a: f32, b: f32) -> f32 { return kept(a ${sign} b); }`),
  ];
}
