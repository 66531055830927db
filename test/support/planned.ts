/** The planner's doors as tests call them: with a profile, of which the target of the problem's precision is made. */
import * as candidates from '../../src/plan/candidates.ts';
import * as convolution from '../../src/plan/convolution.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { targetOf } from '../../src/plan/device/target.ts';
import * as planner from '../../src/plan/planner.ts';
import type { Splits } from '../../src/plan/schemes/splits.ts';
import type { Direction, Problem } from '../../src/problem/index.ts';

export function planDirection(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
  splits?: Splits,
): planner.DirectionPlan {
  return planner.planDirection(problem, direction, targetOf(profile, problem.precision), throughWork, splits);
}

export function plansOf(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
  splits?: Splits,
): Generator<planner.DirectionPlan> {
  return planner.plansOf(problem, direction, targetOf(profile, problem.precision), throughWork, splits);
}

export function planConvolution(
  problem: Problem,
  profile: DeviceProfile,
  throughWork: boolean,
): convolution.ConvolutionPlan {
  return convolution.planConvolution(problem, targetOf(profile, problem.precision), throughWork);
}

export function rankSplits(problem: Problem, profile: DeviceProfile, most: number): candidates.Candidate[] {
  return candidates.rankSplits(problem, targetOf(profile, problem.precision), most);
}
