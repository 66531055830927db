/**
 * Objects with named options, checked name by name: a misspelt option must not be ignored in silence.
 */
import { onOneLine, show, throwIfAny } from '../problem/errors.ts';
import { isRecord } from '../problem/fields.ts';
import { FftError, type FftProblem } from '../problem/index.ts';

/** Names an object may have, and names that belong to the interface but that this release cannot serve yet. */
export interface KnownOptions {
  readonly works: readonly string[];
  readonly planned?: readonly string[];
}

/**
 * @param what the object is, in messages: `enqueue`, `tuning` …
 * @throws FftError `invalid-argument` when it is no plain object, `unknown-field`, `unsupported-feature`
 */
export function checkOptions(options: object, { works, planned = [] }: KnownOptions, what: string): void {
  if (!isRecord(options)) {
    throw new FftError('invalid-argument', `The options of ${what} are ${show(options)}; a plain object is needed.`);
  }
  const problems: FftProblem[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || works.includes(name)) continue;
    const path = `${what}.${onOneLine(name)}`;
    const accepted = works.length > 0 ? `${what} takes ${works.join(', ')}` : `there are no options of ${what}`;
    if (planned.includes(name)) {
      problems.push({ code: 'unsupported-feature', path, message: `${path} is not supported yet; ${accepted}.` });
    } else problems.push({ code: 'unknown-field', path, message: `${path} is not known; ${accepted}.` });
  }
  throwIfAny(problems);
}
