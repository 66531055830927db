/** Programs together with their compiler, so that `device.compile` need not know it. */

import { compileProgram } from '../engine/compiling/compile.ts';
import { noteProgram, type ProgramCompiler } from '../engine/compiling/registry.ts';
import { loadGroups } from '../engine/lazy/lazy-modules.ts';
import { programLoaders } from '../engine/lazy/lazy-tables.ts';
import { type Inputs, type Program, programOf, type ValuesOf } from '../patterns/language/program.ts';
import type { Result } from '../patterns/language/static-types.ts';

/**
 * Makes a program.
 * @param inputs types by name: `{ v: real(n) }`
 * @param f is called once with the inputs' values and returns the result: a number or arrays of numbers
 * @throws FftError `invalid-program` if anything in it is wrong, with the pattern as `problems[0].path`
 */
export function program<I extends Inputs>(inputs: I, f: (values: ValuesOf<I>) => Result): Program<I> {
  return programOf(inputs, f, note);
}

function note(made: Program): void {
  noteProgram(made, loadingCompiler);
}

/** The compiler of `Device.compile`. If no module has to be loaded, the arguments are read before the call returns. */
export const loadingCompiler: ProgramCompiler = (...given) => {
  const loading = loadGroups(['programs of patterns'], programLoaders);
  return loading ? loading.then(() => compileProgram(...given)) : compileProgram(...given);
};
