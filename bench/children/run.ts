/** Runs a child of this folder in plain Node, without the loader this process runs under, and parses what it prints. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

type Environment = Readonly<Record<string, string>>;

export async function runChild<Printed>(
  file: string,
  args: readonly string[],
  environment?: Environment,
): Promise<Printed> {
  return JSON.parse(await run(['--expose-gc', file, ...args], environment)) as Printed;
}

/** Milliseconds of a whole process of Node, from its start to its end. */
export async function timeProcess(args: readonly string[], environment?: Environment): Promise<number> {
  const start = performance.now();
  await run(args, environment);
  return performance.now() - start;
}

async function run(args: readonly string[], environment: Environment = {}): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...env, ...environment }, cwd });
  return stdout;
}
