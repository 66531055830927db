/**
 * Profiles that users write: every number that the planner divides by or counts with has to be one.
 */

import type { DeviceProfile } from '../plan/profile.ts';
import { show, throwIfAny } from '../problem/errors.ts';
import { isRecord } from '../problem/fields.ts';
import { FftError, type FftProblem } from '../problem/index.ts';

function isShare(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) > 0 && (value as number) <= 1;
}

type Rule = readonly [accepts: (value: unknown) => boolean, accepted: string];

const whole = (least: number): Rule => [
  (value) => Number.isSafeInteger(value) && (value as number) >= least,
  `a whole number of at least ${least}`,
];
const power = (least: number): Rule => [
  (value) => Number.isSafeInteger(value) && (value as number) >= least && Number.isInteger(Math.log2(value as number)),
  `a power of two of at least ${least}`,
];
const word = (...words: readonly string[]): Rule => [
  (value) => words.some((known) => known === value),
  words.map((known) => `'${known}'`).join(' or '),
];
const isCost = (value: unknown) => Number.isFinite(value) && (value as number) >= 0;
const optional = ([accepts, accepted]: Rule): Rule => [(value) => value === undefined || accepts(value), accepted];

const clusterRule: Rule = [
  (value) =>
    isRecord(value) &&
    [value.blocks, value.sharedBytes].every(whole(1)[0]) &&
    isRecord(value.above) &&
    [value.above.single, value.above.double].every(whole(0)[0]),
  'an object with blocks, sharedBytes and above: { single, double }, whole numbers',
];

/** Every field of a `DeviceProfile` but `tuning`, which is the engine's own. */
const RULES: Readonly<Record<Exclude<keyof DeviceProfile, 'tuning'>, Rule>> = {
  name: [(value) => typeof value === 'string' && value !== '', 'a name'],
  lockstep: word('vector', 'threads'),
  lockstepBytes: power(8),
  // Room for the longest butterfly, several times over.
  sharedBytes: whole(4096),
  residentBytes: optional(whole(4096)),
  crowded: optional([isShare, 'a share of at most 1']),
  cutRuns: optional([(value) => Array.isArray(value) && value.every(isShare), 'a list of shares of at most 1']),
  cluster: optional(clusterRule),
  maxBytes: optional(whole(1)),
  coalescedBytes: power(16),
  distant: optional([
    (value) => isRecord(value) && whole(1)[0](value.above) && [value.axes, value.uploads].every(power(16)[0]),
    'an object with above, a whole number of at least 1, and axes and uploads, powers of two of at least 16',
  ]),
  reorderFirst: optional([(value) => typeof value === 'boolean', 'true or false']),
  chunks: optional([
    (value) => isRecord(value) && [value.bytes, value.most, value.ahead ?? 1].every(whole(1)[0]),
    'an object with bytes, most and perhaps ahead, whole numbers of at least 1',
  ]),
  registers: whole(1),
  registerFile: optional(whole(1)),
  maxThreads: whole(1),
  multiprocessors: whole(1),
  doubleBuffered: [(value) => typeof value === 'boolean', 'true or false'],
  sharedFormat: word('blocked', 'planes', 'pairs', 'halves'),
  banks: power(1),
  groupPoints: whole(1),
  precisions: optional([
    (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one === 'single' || one === 'double'),
    "a list of 'single' and 'double'",
  ]),
  passCost: [isCost, 'a number of at least 0'],
  radixCosts: optional([
    (value) => isRecord(value) && Object.values(value).every((cost) => Number.isFinite(cost) && (cost as number) > 0),
    'positive costs by radix',
  ]),
  firstLevel: optional([
    (value) => isRecord(value) && whole(1)[0](value.bytes) && isCost(value.beyond),
    'an object with bytes, a whole number of at least 1, and beyond, a number of at least 0',
  ]),
  shareFrom: optional(whole(1)),
};

/** @throws FftError `invalid-argument`, `unknown-field`, with everything that is wrong */
export function checkProfile(profile: DeviceProfile): DeviceProfile {
  if (typeof profile !== 'object' || profile === null) {
    throw new FftError('invalid-argument', `The profile is ${show(profile)}; it is a name or a profile object.`);
  }
  const problems: FftProblem[] = [];
  for (const [name, [accepts, accepted]] of Object.entries(RULES)) {
    const value: unknown = profile[name as keyof DeviceProfile];
    if (accepts(value)) continue;
    const message = `profile.${name} is ${JSON.stringify(value) ?? String(value)}, but must be ${accepted}.`;
    problems.push({ code: 'invalid-argument', path: `profile.${name}`, message });
  }
  for (const name of Object.keys(profile)) {
    if (Object.hasOwn(RULES, name)) continue;
    const message = `profile.${name} is not known; a profile has ${Object.keys(RULES).join(', ')}.`;
    problems.push({ code: 'unknown-field', path: `profile.${name}`, message });
  }
  if (profile.sharedFormat === 'halves' && (profile.doubleBuffered || profile.lockstep === 'vector')) {
    const message = `profile.sharedFormat is "halves", which needs threads that keep values in registers (doubleBuffered: false).`;
    problems.push({ code: 'invalid-argument', path: 'profile.sharedFormat', message });
  }
  throwIfAny(problems);
  return profile;
}
