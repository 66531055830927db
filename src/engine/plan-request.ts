/** The request to plan a problem on a device. */
import type { PlannedProblem } from '../problem/index.ts';
import type { AdjointRequest } from './adjoint-programs.ts';

export interface PlanOptions {
  /**
   * The result of `plan.serialize()` for the same problem and device. Planning is skipped, and with binaries compiling too. Binaries run
   * unchecked: load them only from sources that you would take a program from.
   */
  readonly from?: string | Uint8Array;
}

/** The arguments of `plan`, read and validated. */
export interface PlanRequest {
  readonly problem: PlannedProblem;
  readonly from: string | Uint8Array | undefined;
  /** The text under which its plan is kept for other processes; undefined if it is not kept. */
  readonly keptBy: string | undefined;
  /** Present if the plan is the adjoint of another one. */
  readonly adjoint?: AdjointRequest;
}

/** Whether the request loads a plan that was saved with its code. */
export function isBinary({ from }: PlanRequest): boolean {
  return typeof from === 'object';
}
