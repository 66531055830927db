/**
 * Objects with named options, checked name by name: a misspelt option must not be ignored in silence.
 */
import { excerpt, FftError, type FftProblem, show, throwIfAny } from '../problem/errors.ts';
import { isRecord, snapshot } from '../problem/snapshot.ts';

/** Names an object may have, and names that belong to the interface but that this release cannot serve yet. */
export interface KnownOptions {
  readonly works: readonly string[];
  readonly planned?: readonly string[];
}

/** Options reported one by one that nobody knows. */
const UNKNOWN_REPORTED = 16;

/**
 * The options as they are now: fields of the object's own, each read once. What is in them (arrays, memory, devices) stays
 * as it is.
 * @param what the object is, in messages: `enqueue`, `tuning` …
 * @param depth levels that are read: 2 where there are lists.
 * @throws FftError `invalid-argument` when it is no plain object or cannot be read, `unknown-field`, `unsupported-feature`
 */
export function readOptions<T extends object>(
  options: T,
  { works, planned = [] }: KnownOptions,
  what: string,
  depth = 1,
): T {
  const own = snapshot(options, `The object of options of ${what}`, { code: 'invalid-argument', depth, keep: true });
  if (!isRecord(own)) {
    throw new FftError('invalid-argument', `The options of ${what} are ${show(own)}; a plain object is needed.`);
  }
  const unknown = Object.keys(own).filter((name) => own[name] !== undefined && !works.includes(name));
  const accepted = works.length > 0 ? `${what} takes ${works.join(', ')}` : `there are no options of ${what}`;
  throwIfAny(
    unknown.slice(0, UNKNOWN_REPORTED).map((name): FftProblem => {
      const path = `${what}.${excerpt(name)}`;
      if (!planned.includes(name)) {
        return { code: 'unknown-field', path, message: `${path} is not known; ${accepted}.` };
      }
      return { code: 'unsupported-feature', path, message: `${path} is not supported yet; ${accepted}.` };
    }),
  );
  return own as T;
}
