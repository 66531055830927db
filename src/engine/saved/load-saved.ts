/** Loading of plans from the texts of `saved.ts`. */
import type { Backend } from '../../devices/device.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { type Target, targetOf } from '../../plan/device/target.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { show } from '../../problem/errors.ts';
import { type Direction, directionsOf, FftError, type Problem } from '../../problem/index.ts';
import { planOf, tunedProfile } from '../programs/tuning.ts';
import { version } from '../programs/version.ts';
import { checksum, FORMAT, type Saved } from './saved.ts';

/** The most characters of a saved plan, far more than any has. */
const MOST_CHARACTERS = 2 ** 20;

/** Gives the plan of a direction, with or without `work` memory. */
export type PlanOf = (direction: Direction, throughWork: boolean) => DirectionPlan;

/**
 * The plans of a saved text. All have the same splits, also plans through `work` memory, which are made when they are needed.
 * @throws FftError `invalid-saved-plan` when the text is not a plan for this problem on this device.
 */
export function loadPlans(text: string, problem: Problem, backend: Backend): PlanOf {
  try {
    return parsedPlan(text, problem, backend);
  } catch (cause) {
    if (cause instanceof FftError) throw cause;
    // The text is no JSON, or is nested too deeply for the stack.
    return refuseSaved('The saved plan is not the text that plan.serialize() gave', cause);
  }
}

function refuseSaved(why: string, cause?: unknown): never {
  throw new FftError('invalid-saved-plan', `${why}; plan without 'from' and serialize again.`, { cause });
}

function parsedPlan(text: string, problem: Problem, backend: Backend): PlanOf {
  if (typeof text !== 'string') refuseSaved(`The saved plan is ${show(text)}, no text`);
  if (text.length > MOST_CHARACTERS) refuseSaved(`The saved plan has ${text.length} characters, more than any has`);
  const saved = JSON.parse(text) as Saved;
  if (saved?.format !== FORMAT) refuseSaved(`The saved plan has format ${show(saved?.format)}, not ${FORMAT}`);
  if (saved.version !== version) refuseSaved(`The saved plan is of omnifft ${show(saved.version)}, this is ${version}`);
  if (JSON.stringify(saved.problem) !== JSON.stringify(problem)) refuseSaved('The saved plan is for another problem');
  if (JSON.stringify(saved.profile) !== JSON.stringify(backend.profile)) {
    refuseSaved(`The saved plan is for another device (${differingProfiles(saved.profile, backend.profile)})`);
  }
  if (saved.checksum !== checksum(saved.splits)) refuseSaved('The saved plan is damaged or was edited');
  return derived(saved.splits, problem, targetOf(tunedProfile(backend.profile, problem), problem.precision));
}

/** The plans that follow from splits. Splits that the planner could not have made are refused. */
function derived(splits: unknown, problem: Problem, target: Target): PlanOf {
  if (!isSplits(splits, problem)) return refuseSaved('The saved plan does not say how axes are split');
  const plans = new Map<string, DirectionPlan>();
  const known: PlanOf = (direction, throughWork) => {
    const key = `${direction}${throughWork}`;
    let plan = plans.get(key);
    if (!plan) plans.set(key, (plan = planOf(problem, direction, target, throughWork, splits)));
    return plan;
  };
  try {
    for (const direction of directionsOf(problem)) known(direction, false);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    refuseSaved(`The saved plan cannot be used: ${cause.message}`, cause);
  }
  return known;
}

/** Whether a value has the form of splits. The planner checks their contents. */
function isSplits(value: unknown, { size }: Problem): value is Splits {
  const { shared, axes, threads } = (value ?? {}) as { readonly [F in keyof Splits]: unknown };
  const isObject = (one: unknown) => typeof one === 'object' && one !== null;
  const schemes =
    Array.isArray(axes) && axes.length === size.length && axes.every((one) => one === null || isObject(one));
  return (
    schemes && (shared === undefined || isObject(shared)) && (threads === undefined || typeof threads === 'number')
  );
}

/** The differences of two profiles, in words. */
function differingProfiles(saved: unknown, here: DeviceProfile): string {
  const there = (typeof saved === 'object' && saved !== null ? saved : {}) as Readonly<Record<string, unknown>>;
  const names = new Set([...Object.keys(there), ...Object.keys(here)]);
  const others = [...names].filter(
    (name) => JSON.stringify(there[name]) !== JSON.stringify(here[name as keyof DeviceProfile]),
  );
  return others.length > 0 ? `its profile differs in ${others.join(', ')}` : 'its profile is written in another order';
}
