/** Programs that some machines have, as independent references. A test that needs one is skipped without it, and says so. */
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';

/** The first Python that has a module; `PYTHON` names another to try first. */
export function findPython(module: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [process.env.PYTHON, ...folders.map((folder) => join(folder, 'python3'))];
  const found = candidates.find(
    (python) => python && spawnSync(python, ['-W', 'ignore', '-c', `import ${module}`]).status === 0,
  );
  if (!found) console.warn(`no python3 on the path has ${module}: install it to have results compared with it`);
  return found;
}

/** Whether a program is on the path. */
export function hasProgram(name: string): boolean {
  const found = spawnSync(name, ['--version']).status === 0;
  if (!found) console.warn(`there is no ${name} on the path: install it to have results compared with it`);
  return found;
}

/** @returns what the program printed. @throws Error with what it said when it failed. */
export function runProgram(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error?.message ?? stderr}`);
  return stdout;
}
