/**
 * Checks of profiles that users write: every number that the planner divides by or counts with has to be valid.
 */

import { isCalibration } from '../plan/device/calibration.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { excerpt, show, throwIfAny } from '../problem/errors.ts';
import { FftError, type FftProblem } from '../problem/index.ts';
import { isRecord, snapshot } from '../problem/input/snapshot.ts';

function isShare(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) > 0 && (value as number) <= 1;
}

type Rule = readonly [accepts: (value: unknown) => boolean, accepted: string];

const isIntegerWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
/** The range of a number in words. Numbers that the planner only compares with have no upper bound; loop bounds have one far above any device. */
const span = (least: number, most: number) =>
  most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): Rule => [
  (value) => isIntegerWithin(value, least, most),
  `a whole number ${span(least, most)}`,
];
const powerOfTwo = (least: number, most: number): Rule => [
  (value) => isIntegerWithin(value, least, most) && Number.isInteger(Math.log2(value)),
  `a power of two ${span(least, most)}`,
];
/** The most entries of `cutRuns`, one for each halving of a run: more entries would stand for runs of single bytes. */
const MOST_RUNS = 16;
const MOST_CHARACTERS = 200;
const MOST_SHARED = 2 ** 24;
const oneOfWords = (...words: readonly string[]): Rule => [
  (value) => words.some((known) => known === value),
  words.map((known) => `'${known}'`).join(' or '),
];
const isCost = (value: unknown) => Number.isFinite(value) && (value as number) >= 0;
const orAbsent = ([accepts, accepted]: Rule): Rule => [(value) => value === undefined || accepts(value), accepted];

const clusterRule: Rule = [
  (value) =>
    isRecord(value) &&
    wholeNumber(1, 1024)[0](value.blocks) &&
    wholeNumber(1, MOST_SHARED)[0](value.sharedBytes) &&
    isRecord(value.above) &&
    [value.above.single, value.above.double].every(wholeNumber(0)[0]),
  `an object with blocks (1 to 1024), sharedBytes (1 to ${MOST_SHARED}) and above: { single, double }, whole numbers`,
];

/** Every field of a `DeviceProfile` but `tuning`, which is the engine's own. */
const RULES: Readonly<Record<Exclude<keyof DeviceProfile, 'tuning'>, Rule>> = {
  name: [
    (value) => typeof value === 'string' && value !== '' && excerpt(value, MOST_CHARACTERS) === value,
    `a name of at most ${MOST_CHARACTERS} characters on one line`,
  ],
  lockstep: oneOfWords('vector', 'threads'),
  lockstepBytes: powerOfTwo(8, 4096),
  // The least size holds the longest butterfly several times over.
  sharedBytes: wholeNumber(4096, MOST_SHARED),
  residentBytes: orAbsent(wholeNumber(4096)),
  crowded: orAbsent([isShare, 'a share of at most 1']),
  cutRuns: orAbsent([
    (value) => Array.isArray(value) && value.length <= MOST_RUNS && value.every(isShare),
    `a list of at most ${MOST_RUNS} shares of at most 1`,
  ]),
  cluster: orAbsent(clusterRule),
  maxBytes: orAbsent(wholeNumber(1)),
  coalescedBytes: powerOfTwo(16, 65536),
  distant: orAbsent([
    (value) =>
      isRecord(value) && wholeNumber(1)[0](value.above) && [value.axes, value.uploads].every(powerOfTwo(16, 65536)[0]),
    'an object with above, a whole number of at least 1, and axes and uploads, powers of two from 16 to 65536',
  ]),
  reorderFirst: orAbsent([(value) => typeof value === 'boolean', 'true or false']),
  chunks: orAbsent([
    (value) => isRecord(value) && [value.bytes, value.most, value.ahead ?? 1].every(wholeNumber(1)[0]),
    'an object with bytes, most and perhaps ahead, whole numbers of at least 1',
  ]),
  padding: orAbsent([
    (value) =>
      isRecord(value) &&
      [value.multiple, value.by].every(powerOfTwo(16, 2 ** 40)[0]) &&
      wholeNumber(2, 2 ** 40)[0](value.count),
    'an object with multiple and by, powers of two of at least 16, and count, a whole number of at least 2',
  ]),
  registers: wholeNumber(1, 65536),
  registerFile: orAbsent(wholeNumber(1)),
  maxThreads: wholeNumber(1, 65536),
  multiprocessors: wholeNumber(1, 2 ** 20),
  doubleBuffered: [(value) => typeof value === 'boolean', 'true or false'],
  sharedFormat: oneOfWords('blocked', 'planes', 'pairs', 'halves'),
  banks: powerOfTwo(1, 1024),
  groupPoints: wholeNumber(1, 65536),
  precisions: orAbsent([
    (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one === 'single' || one === 'double'),
    "a list of 'single' and 'double'",
  ]),
  passCost: [isCost, 'a number of at least 0'],
  radixCosts: orAbsent([
    (value) => isRecord(value) && Object.values(value).every((cost) => Number.isFinite(cost) && (cost as number) > 0),
    'positive costs by radix',
  ]),
  firstLevel: orAbsent([
    (value) => isRecord(value) && wholeNumber(1)[0](value.bytes) && isCost(value.beyond),
    'an object with bytes, a whole number of at least 1, and beyond, a number of at least 0',
  ]),
  calibration: orAbsent([
    isCalibration,
    'an object with some of the groups of src/plan/device/calibration.ts, each with all its numbers, from 0 up',
  ]),
};

/** Levels of nesting that are read: the profile, its `calibration`, a group of it, a part of a group, and numbers by precision. */
const LEVELS = 5;
/** The most fields and entries of a profile. */
const MOST_VALUES = 512;

/**
 * A checked copy of a profile, which the caller can no longer change.
 * @throws FftError `invalid-argument`, `unknown-field`, with every fault of the profile
 */
export function readProfile(given: DeviceProfile): DeviceProfile {
  const profile = snapshot(given, 'The profile', { code: 'invalid-argument', depth: LEVELS, most: MOST_VALUES });
  if (!isRecord(profile)) {
    throw new FftError('invalid-argument', `The profile is ${show(profile)}; it is a name or a profile object.`);
  }
  const problems: FftProblem[] = [];
  for (const [name, [accepts, accepted]] of Object.entries(RULES)) {
    const value = profile[name];
    if (accepts(value)) continue;
    const message = `profile.${name} is ${show(value)}, but must be ${accepted}.`;
    problems.push({ code: 'invalid-argument', path: `profile.${name}`, message });
  }
  for (const name of Object.keys(profile)) {
    if (Object.hasOwn(RULES, name)) continue;
    const path = `profile.${excerpt(name)}`;
    const message = `${path} is not known; a profile has ${Object.keys(RULES).join(', ')}.`;
    problems.push({ code: 'unknown-field', path, message });
  }
  if (profile.sharedFormat === 'halves' && (profile.doubleBuffered || profile.lockstep === 'vector')) {
    const message = `profile.sharedFormat is 'halves', which needs threads that keep values in registers (doubleBuffered: false).`;
    problems.push({ code: 'invalid-argument', path: 'profile.sharedFormat', message });
  }
  throwIfAny(problems);
  return profile as unknown as DeviceProfile;
}
