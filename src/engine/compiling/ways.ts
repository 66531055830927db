/**
 * Ways to compile a program: what is decided while it is lowered, and periodic stencils as they are written or, by the rule `stencilToFft`,
 * as Fourier transforms. They are compared by price (ranking.ts); with `strategy: 'measure'`, the cheapest ones are timed (trials.ts).
 */
import { type Decided, USUALLY, WAYS } from '../../kernels/programs/index.ts';
import { everywhere, type Program, rewrite } from '../../patterns/index.ts';
import { stencilToFft } from '../../patterns/rules.ts';
import { FftError } from '../../problem/index.ts';

/** A way to compile a program. */
export interface Way extends Decided {
  /** Periodic stencils are computed by Fourier transforms. */
  readonly stencils?: 'transforms';
}

/** The program as the way has it. */
export function rewrittenFor(program: Program, { stencils }: Way): Program {
  return stencils === undefined ? program : rewrite(program, everywhere(stencilToFft)).program;
}

/** All ways, the usual one first. */
export function waysOf(program: Program): Way[] {
  const [usual, ...others] = WAYS as [Decided, ...Decided[]];
  return [...stencilWaysOf(program, usual), ...others];
}

/** The usual way, and where the program has periodic stencils the same with Fourier transforms in their place. */
export function stencilWaysOf(program: Program, usual: Decided = USUALLY): Way[] {
  return hasStencils(program) ? [usual, { ...usual, stencils: 'transforms' }] : [usual];
}

/** Whether there are periodic stencils that may become transforms: in the functions of some patterns there can be none. */
function hasStencils(program: Program): boolean {
  try {
    return rewrite(program, everywhere(stencilToFft)).trace.length > 0;
  } catch (error) {
    if (error instanceof FftError && error.code === 'invalid-program') return false;
    throw error;
  }
}
