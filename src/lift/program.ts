/** Programs with their compiler, which `device.compile` asks for. */
import { loadingCompiler } from '../engine/compiling/loading.ts';
import { noteProgram } from '../engine/compiling/registry.ts';
import { type Inputs, type Program, programOf, type ValuesOf } from '../patterns/program.ts';
import type { Result } from '../patterns/static-types.ts';

/**
 * A program: what is computed from which inputs.
 * @param inputs types by name: `{ v: real(n) }`
 * @param f is called once, with the inputs' values, and gives the result: a number or arrays of numbers
 * @throws FftError `invalid-program` where anything in it is wrong, with the pattern as `problems[0].path`
 */
export function program<I extends Inputs>(inputs: I, f: (values: ValuesOf<I>) => Result): Program<I> {
  return programOf(inputs, f, note);
}

function note(made: Program): void {
  noteProgram(made, loadingCompiler);
}
