/** The compiler of programs, which is loaded when the first program is compiled. */
import { loadGroups } from '../lazy/lazy-modules.ts';
import { programLoaders } from '../lazy/lazy-tables.ts';
import { compileProgram } from './compile.ts';
import type { ProgramCompiler } from './registry.ts';

/** See `Device.compile`. Where nothing has to be loaded, the arguments are read at once. */
export const loadingCompiler: ProgramCompiler = (...given) => {
  const loading = loadGroups(['programs of patterns'], programLoaders);
  return loading ? loading.then(() => compileProgram(...given)) : compileProgram(...given);
};
