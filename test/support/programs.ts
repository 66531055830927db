/** Programs that some machines have, as independent references (optional.ts says what becomes of tests without them). */
import { spawnSync } from 'node:child_process';
import { hidden, programsCalled } from './optional.ts';

/** The first Python that has a module; `PYTHON` names another to try first. */
export function findPython(module: string): string | undefined {
  const given = process.env.PYTHON && !hidden ? [process.env.PYTHON] : [];
  return [...given, ...programsCalled(['python3'])].find(
    (python) => spawnSync(python, ['-W', 'ignore', '-c', `import ${module}`]).status === 0,
  );
}

/** @returns what the program printed. @throws Error with what it said when it failed. */
export function runProgram(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error?.message ?? stderr}`);
  return stdout;
}
