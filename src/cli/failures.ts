/**
 * How a command says that it failed: one line on stderr, never a stack trace. With `--json` it is the line
 * `{"error":{"code":…,"message":…,"problems":[{"code":…,"message":…,"path":…}]}}`.
 */

import { FftError, type FftProblem } from '../problem/index.ts';
import { inCommands } from './words.ts';

/** Whether `--json` is among what was written on the command line. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** Writes an error of any kind to stderr. */
export function complain(error: unknown, json: boolean): void {
  const { code, message, problems } = failureOf(error);
  const line = json ? JSON.stringify({ error: { code, message, problems } }) : `omnifft: ${message} [${code}]`;
  process.stderr.write(`${line}\n`);
}

/** Says on stderr what the user should know of a command that works nevertheless, a line each. */
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
