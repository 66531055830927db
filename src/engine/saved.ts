/**
 * Plans as text: what the planner decided, to be used again without planning.
 */
import type { Backend } from '../devices/device.ts';
import type { DirectionPlan } from '../plan/planner.ts';
import type { DeviceProfile } from '../plan/profile.ts';
import { show } from '../problem/errors.ts';
import { type Direction, FftError, type Problem } from '../problem/index.ts';
import { faultOf } from './saved-check.ts';
import { tunedProfile } from './tuning.ts';
import { version } from './version.ts';

const FORMAT = 'omnifft-plan-2';

interface Saved {
  readonly format: string;
  /** Of omnifft: another one may write other kernels for the same plan. */
  readonly version: string;
  readonly profile: unknown;
  readonly problem: unknown;
  readonly plans: readonly DirectionPlan[];
  /** Of `plans`: half a plan, or one that was edited, would write wherever its strides say. */
  readonly checksum: string;
}

export function serializePlan(problem: Problem, backend: Backend, plans: readonly DirectionPlan[]): string {
  const { profile } = backend;
  const saved: Saved = { format: FORMAT, version, profile, problem, plans, checksum: checksum(plans) };
  return JSON.stringify(saved);
}

/** FNV-1a of the text, 32 bits (Fowler, Noll and Vo). */
function checksum(value: unknown): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(value) ?? '') {
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

/** @throws FftError `invalid-saved-plan` when the text is not a plan for this problem on this device. */
export function parseSavedPlan(text: string, problem: Problem, backend: Backend): Map<Direction, DirectionPlan> {
  if (typeof text !== 'string') return refuse(`The saved plan is ${show(text)}, not text`);
  try {
    return parsed(text, problem, backend);
  } catch (cause) {
    if (cause instanceof FftError) throw cause;
    // No JSON, or so deep that a stack does not hold it.
    return refuse('The saved plan is not the text that plan.serialize() gave', cause);
  }
}

function refuse(why: string, cause?: unknown): never {
  throw new FftError('invalid-saved-plan', `${why}; plan without 'from' and serialize again.`, { cause });
}

function parsed(text: string, problem: Problem, backend: Backend): Map<Direction, DirectionPlan> {
  const saved = JSON.parse(text) as Saved;
  if (saved?.format !== FORMAT) refuse(`The saved plan has format ${show(saved?.format)}, not ${FORMAT}`);
  if (saved.version !== version) refuse(`The saved plan is of omnifft ${show(saved.version)}, this is ${version}`);
  if (JSON.stringify(saved.problem) !== JSON.stringify(problem)) refuse('The saved plan is for another problem');
  if (JSON.stringify(saved.profile) !== JSON.stringify(backend.profile)) {
    refuse(`The saved plan is for another device (${differing(saved.profile, backend.profile)})`);
  }
  if (saved.checksum !== checksum(saved.plans)) refuse('The saved plan is damaged or was edited');
  const fault = faultOf(saved.plans, problem, tunedProfile(backend.profile, problem));
  if (fault) refuse(`The saved plan cannot be used: ${fault}`);
  return new Map(saved.plans.map((plan) => [plan.direction, plan]));
}

/** Which entries of two profiles are not the same. */
function differing(saved: unknown, here: DeviceProfile): string {
  const there = (typeof saved === 'object' && saved !== null ? saved : {}) as Readonly<Record<string, unknown>>;
  const names = new Set([...Object.keys(there), ...Object.keys(here)]);
  const others = [...names].filter(
    (name) => JSON.stringify(there[name]) !== JSON.stringify(here[name as keyof DeviceProfile]),
  );
  return others.length > 0 ? `its profile differs in ${others.join(', ')}` : 'its profile is written in another order';
}
