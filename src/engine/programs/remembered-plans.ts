/** Recent plans of a device, by their problems: they are pure data, small to keep and slow to make. */
import type { Backend } from '../../devices/device.ts';
import type { ConvolutionPlan } from '../../plan/convolution.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import type { Direction, Problem } from '../../problem/index.ts';
import { Recent } from './cache.ts';
import { planTuned, planTunedConvolution } from './tuning.ts';

/** The problem of a plan whose kernels were kept, and the decisions that were kept with it. */
interface Decided {
  readonly problem: Problem;
  readonly splits?: Splits | undefined;
  /** The profile that it was compiled for ahead of time. */
  readonly profile?: DeviceProfile | undefined;
}

export class RememberedPlans {
  private readonly backend: Backend;
  private readonly directions: Recent<DirectionPlan>;
  private readonly convolutions: Recent<ConvolutionPlan>;

  /** @param most the most plans of either kind that are remembered. */
  constructor(backend: Backend, most: number) {
    this.backend = backend;
    this.directions = new Recent(most);
    this.convolutions = new Recent(most);
  }

  /**
   * The plan of one direction, made now if it is not remembered.
   * @param throughWork whether the caller gives `work` memory.
   * @param splits the splits of the axes; if left out, the planner decides.
   * @throws FftError the errors of planning
   */
  direction(problem: Problem, direction: Direction, throughWork: boolean, splits?: Splits): DirectionPlan {
    const key = `${direction}${throughWork}${JSON.stringify(splits ?? null)}${JSON.stringify(problem)}`;
    let plan = this.directions.get(key);
    if (!plan) {
      plan = planTuned(problem, direction, this.backend.profile, throughWork, splits);
      this.directions.set(key, plan);
    }
    return plan;
  }

  /**
   * One direction of a plan whose kernels were kept. A plan that was compiled ahead of time is planned for the profile that it was compiled
   * for; with `work` memory it is planned for this device, which compiles it.
   */
  kept({ problem, splits, profile }: Decided, direction: Direction, throughWork: boolean): DirectionPlan {
    if (!profile) return this.direction(problem, direction, throughWork, splits);
    if (throughWork) return this.direction(problem, direction, true);
    return planTuned(problem, direction, profile, false, splits);
  }

  /** The plan of a convolution. @throws FftError the errors of planning */
  convolution(problem: Problem, throughWork: boolean): ConvolutionPlan {
    const key = `${throughWork}${JSON.stringify(problem)}`;
    let plan = this.convolutions.get(key);
    if (!plan) this.convolutions.set(key, (plan = planTunedConvolution(problem, this.backend.profile, throughWork)));
    return plan;
  }

  clear(): void {
    this.directions.clear();
    this.convolutions.clear();
  }
}
