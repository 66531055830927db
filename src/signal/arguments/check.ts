/** Checks of arguments that are numbers or words, with messages that say in a sentence what is wrong. */

import { FftError, show } from '../../problem/errors.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { didYouMean } from '../../problem/input/meant.ts';

/** @throws FftError `invalid-argument` */
export function check(path: string, given: unknown, valid: boolean, accepted: string, hint = ''): void {
  if (valid) return;
  const shown = arrayClass(given) === undefined ? show(given) : 'an array';
  throw new FftError('invalid-argument', `${path} takes ${accepted}; ${shown} was given.${hint}`, { path });
}

/** One of several words. @throws FftError `invalid-argument` for any other */
export function checkWord<T>(path: string, given: T, words: readonly T[]): T {
  const accepted = words.map((word) => (typeof word === 'string' ? `'${word}'` : String(word))).join(', ');
  const valid = words.includes(given);
  check(path, given, valid, accepted, valid ? '' : didYouMean(given, words));
  return given;
}

/** An integer from `least` to `most`. @throws FftError `invalid-argument` */
export function checkInteger(path: string, given: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
  check(path, given, Number.isSafeInteger(given) && given >= least && given <= most, `an integer ${range}`);
  return given;
}

/** A positive, finite number. @throws FftError `invalid-argument` */
export function checkPositive(path: string, given: number): number {
  check(path, given, Number.isFinite(given) && given > 0, 'a positive number');
  return given;
}
