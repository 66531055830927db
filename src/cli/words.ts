/** Messages of the library as a user of the command line understands them: with commands and options, not with calls. */

import { FftError } from '../problem/index.ts';

/** What a call is on the command line. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/listDevices\(\)/g, '`omnifft devices`'],
  [/openDevice\('([\w-]+)'(?:, \{[^}]*\})?\)/g, '--device $1'],
  [/openDevice\(\)/g, '--device'],
  [/\{ truncated: 'accept' \}/g, '--truncated accept'],
];

/** A message without calls. */
export function inCommands(message: string): string {
  return COMMANDS.reduce((text, [call, command]) => text.replace(call, command), message);
}

/**
 * Runs what is told the values of some options under the same names, and calls them as the command line does if it
 * complains of one.
 *
 * @param names `size` for `--size`
 * @throws FftError whatever `run` throws, in these words
 */
export async function withOptionNames<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    // Where an option has only one value, it is no list either.
    const name = new RegExp(`^(${names.join('|')})(\\[0\\])?(?=\\s|$)`);
    const renamed = (text: string) => text.replace(name, '--$1');
    const problems = error.problems.map(({ code, message, path }) => ({
      ...{ code, message: renamed(message), path: renamed(path) },
    }));
    throw new FftError(error.code, renamed(error.message), { problems, cause: error });
  }
}
