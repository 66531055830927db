/** What a device is asked for when it plans. */
import type { PlannedProblem } from '../problem/index.ts';
import type { AdjointRequest } from './adjoint-programs.ts';

export interface PlanOptions {
  /**
   * What `plan.serialize()` gave for the same problem and device: planning is skipped; with its binaries, compiling too. These run as they are:
   * take them from where you would take a program from.
   */
  readonly from?: string | Uint8Array;
}

/** The arguments of `plan`, read and validated. */
export interface PlanRequest {
  readonly problem: PlannedProblem;
  readonly from: string | Uint8Array | undefined;
  /** The text under which its plan is kept for other processes; undefined if it is not kept. */
  readonly keptBy: string | undefined;
  /** How it is the adjoint of another plan. */
  readonly adjoint?: AdjointRequest;
}

/** Whether a plan is asked for that was saved with its code. */
export function isBinary({ from }: PlanRequest): boolean {
  return typeof from === 'object';
}
