/**
 * Ways to compile a program. A way fixes the decisions of lowering, and whether periodic stencils stay as they are or become Fourier transforms
 * by the rule `stencilToFft`. Ways are compared by price (ranking.ts); with `strategy: 'measure'`, the cheapest ones are timed (trials.ts).
 */
import { type Decided, USUALLY, WAYS } from '../../kernels/programs/index.ts';
import { nestingProblemIn } from '../../patterns/language/nesting.ts';
import { Program } from '../../patterns/language/program.ts';
import { throughout } from '../../patterns/rewriting/places.ts';
import { stencilToFft } from '../../patterns/rewriting/stencils.ts';

/** A way to compile a program. */
export interface Way extends Decided {
  /** Set if periodic stencils are computed by Fourier transforms. */
  readonly stencils?: 'transforms';
}

/** The program with Fourier transforms in the place of its periodic stencils; undefined where there is none that can be one. */
export function withoutStencils({ inputs, parameters, body, note }: Program): Program | undefined {
  const made = throughout(body, stencilToFft);
  return made && !nestingProblemIn(made) ? new Program(inputs, parameters, made, note) : undefined;
}

/** All ways, the usual one first. */
export function waysOf(program: Program): Way[] {
  const [usual, ...others] = WAYS as [Decided, ...Decided[]];
  return [...stencilWaysOf(program, usual), ...others];
}

/** The usual way and, if the program has periodic stencils, the usual way with Fourier transforms in their place. */
export function stencilWaysOf(program: Program, usual: Decided = USUALLY): Way[] {
  return withoutStencils(program) ? [usual, { ...usual, stencils: 'transforms' }] : [usual];
}
