/** Plans that a device has made lately, by their problems: pure data, which takes longer to make than to keep. */
import type { Backend } from '../../devices/device.ts';
import type { ConvolutionPlan } from '../../plan/convolution.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import type { Direction, Problem } from '../../problem/index.ts';
import { Recent } from './cache.ts';
import { planTuned, planTunedConvolution } from './tuning.ts';

export class RememberedPlans {
  private readonly backend: Backend;
  private readonly directions: Recent<DirectionPlan>;
  private readonly convolutions: Recent<ConvolutionPlan>;

  /** @param most plans of either kind that are remembered. */
  constructor(backend: Backend, most: number) {
    this.backend = backend;
    this.directions = new Recent(most);
    this.convolutions = new Recent(most);
  }

  /**
   * The plan of one direction, made now if it is not remembered.
   * @param throughWork the caller gives `work` memory.
   * @param splits how axes are split; otherwise the planner decides.
   * @throws FftError what planning throws
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

  /** The plan of a convolution. @throws FftError what planning throws */
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
