/** Runs a child of this folder in plain Node, without the loader this process runs under, and parses what it prints. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export async function runChild<Printed>(file: string, args: readonly string[]): Promise<Printed> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, ...args], { env });
  return JSON.parse(stdout) as Printed;
}
