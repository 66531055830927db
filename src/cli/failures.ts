/**
 * Error messages of commands: one line on stderr, never a stack trace. With `--json` the line is
 * `{"error":{"code":…,"message":…,"problems":[{"code":…,"message":…,"path":…}]}}`.
 */

import { FftError, type FftProblem } from '../problem/index.ts';

/** Whether `--json` is among the arguments of the command line. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** Writes an error of any kind to stderr. */
export function reportError(error: unknown, json: boolean): void {
  const { code, message, problems } = failureOf(error);
  const line = json ? JSON.stringify({ error: { code, message, problems } }) : `omnifft: ${message} [${code}]`;
  process.stderr.write(`${line}\n`);
}

/** Writes warnings of a command that succeeds to stderr, one line each. */
export function warn(warnings: readonly string[]): void {
  for (const warning of warnings) process.stderr.write(`omnifft: warning: ${oneLine(inCommands(warning))}\n`);
}

function failureOf(error: unknown): Pick<FftError, 'code' | 'message' | 'problems'> {
  if (!(error instanceof FftError)) {
    const message = `Internal error: ${oneLine(error instanceof Error ? error.message : String(error))}`;
    return { code: 'internal-error', message, problems: [{ code: 'internal-error', message, path: '' }] };
  }
  const { code, message, problems } = error;
  const said = (text: string) => oneLine(inCommands(text));
  return {
    code,
    message: said(message),
    problems: problems.map(({ code, message, path }): FftProblem => ({ code, message: said(message), path })),
  };
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

// Rewrites of messages of the library, from calls to commands and options.

/** Calls, and the commands for them. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/listDevices\(\)/g, '`omnifft devices`'],
  [/openDevice\('([\w-]+)'(?:, \{[^}]*\})?\)/g, '--device $1'],
  [/openDevice\(\)/g, '--device'],
  [/\{ truncated: 'accept' \}/g, '--truncated accept'],
];

/** A message with commands and options in the place of calls. */
export function inCommands(message: string): string {
  return COMMANDS.reduce((text, [call, command]) => text.replace(call, command), message);
}

/**
 * Runs a function with the values of options, and rewrites the names of arguments in its errors to the names of the options.
 * @param names names of arguments that are options, too: `size` for `--size`
 * @throws FftError the errors of `run`, rewritten
 */
export async function withOptionNames<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    // An index is dropped, because an option with a single value is not a list.
    const name = new RegExp(`^(${names.join('|')})(\\[0\\])?(?=\\s|$)`);
    const renamed = (text: string) => text.replace(name, '--$1');
    const problems = error.problems.map(({ code, message, path }) => ({
      ...{ code, message: renamed(message), path: renamed(path) },
    }));
    throw new FftError(error.code, renamed(error.message), { problems, cause: error });
  }
}
