/**
 * Ways to compile a program. A way fixes the decisions of lowering, and whether periodic stencils stay as they are or become Fourier transforms
 * by the rule `stencilToFft`. Ways are compared by price (ranking.ts); with `strategy: 'measure'`, the cheapest ones are timed (trials.ts).
 */
import { type Decided, USUALLY, WAYS } from '../../kernels/programs/index.ts';
import { everywhere, type Program, rewrite } from '../../patterns/index.ts';
import { stencilToFft } from '../../patterns/rules.ts';
import { FftError } from '../../problem/index.ts';

/** A way to compile a program. */
export interface Way extends Decided {
  /** Set if periodic stencils are computed by Fourier transforms. */
  readonly stencils?: 'transforms';
}

/** The program as it is compiled in a way: with its stencils rewritten, if the way does that. */
export function rewrittenFor(program: Program, { stencils }: Way): Program {
  return stencils === undefined ? program : rewrite(program, everywhere(stencilToFft)).program;
}

/** All ways, the usual one first. */
export function waysOf(program: Program): Way[] {
  const [usual, ...others] = WAYS as [Decided, ...Decided[]];
  return [...stencilWaysOf(program, usual), ...others];
}

/** The usual way and, if the program has periodic stencils, the usual way with Fourier transforms in their place. */
export function stencilWaysOf(program: Program, usual: Decided = USUALLY): Way[] {
  return hasStencils(program) ? [usual, { ...usual, stencils: 'transforms' }] : [usual];
}

/** Whether the program has periodic stencils that can become transforms. The functions of some patterns cannot hold transforms. */
function hasStencils(program: Program): boolean {
  try {
    return rewrite(program, everywhere(stencilToFft)).trace.length > 0;
  } catch (error) {
    if (error instanceof FftError && error.code === 'invalid-program') return false;
    throw error;
  }
}
