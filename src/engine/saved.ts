/**
 * Plans as text: what the planner decided, to be used again without planning.
 */
import type { Backend } from '../devices/device.ts';
import type { DirectionPlan } from '../plan/planner.ts';
import { type Direction, FftError, type Problem } from '../problem/index.ts';

const FORMAT = 'omnifft-plan-1';

interface Saved {
  readonly format: string;
  readonly profile: unknown;
  readonly problem: unknown;
  readonly plans: readonly DirectionPlan[];
}

export function serializePlan(problem: Problem, backend: Backend, plans: readonly DirectionPlan[]): string {
  return JSON.stringify({ format: FORMAT, profile: backend.profile, problem, plans } satisfies Saved);
}

/** @throws FftError `invalid-saved-plan` when the text is not a plan for this problem on this device. */
export function parseSavedPlan(text: string, problem: Problem, backend: Backend): Map<Direction, DirectionPlan> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new FftError('invalid-saved-plan', `${why}; plan without 'from' and serialize again.`, { cause });
  };
  let saved: Saved;
  try {
    saved = JSON.parse(text) as Saved;
  } catch (cause) {
    return refuse('The saved plan is not the text that plan.serialize() gave', cause);
  }
  if (saved?.format !== FORMAT) refuse(`The saved plan has format ${String(saved?.format)}, not ${FORMAT}`);
  if (JSON.stringify(saved.problem) !== JSON.stringify(problem)) refuse('The saved plan is for another problem');
  if (JSON.stringify(saved.profile) !== JSON.stringify(backend.profile)) refuse('The saved plan is for another device');
  return new Map(saved.plans.map((plan) => [plan.direction, plan]));
}
