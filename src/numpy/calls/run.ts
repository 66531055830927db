/** Runs requests asynchronously. */

import type { Device, Plan } from '../../engine/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { NumpyArray } from '../arrays/array.ts';
import type { Floats } from '../arrays/memory.ts';
import { checkDevice, sharedDevice } from './choice.ts';
import { PlanCache } from './plans.ts';
import { bytesOfSides, type DenseProblem } from './problem.ts';
import { inAxes } from './steps.ts';
import { callResult, filled, type TransformRequest, type WorkStep } from './work.ts';

type DensePlans = PlanCache<DenseProblem, Promise<Plan<DenseProblem>>>;

/** Caches of plans by device. */
const plansOf = new WeakMap<Device, DensePlans>();

/**
 * Runs a request whose result is known to be an `R`.
 * @throws FftError (as a rejection) `invalid-argument`, and errors of opening, planning and running
 */
export async function runRequest<R extends NumpyArray>({ device, work, data }: TransformRequest): Promise<R> {
  const chosen = checkDevice(device);
  let current = data;
  for (const step of work.steps) {
    const { problem, fill, finish } = step;
    // A plan reads the data directly unless it has to be reshaped, and writes a new array.
    const given = fill || !problem ? filled(step, current) : current;
    current = problem ? await doneOn(chosen ?? (await sharedDevice()), { step, problem, data: given }) : given;
    finish?.(current);
  }
  return callResult(work, current);
}

/** A transform for a plan. */
interface PlannedTransform {
  readonly step: WorkStep;
  readonly problem: DenseProblem;
  readonly data: Floats;
}

async function doneOn(device: Device, job: PlannedTransform): Promise<Floats> {
  const plans = cacheOf(device);
  const lease = plans.take(job.problem, job.step.key);
  try {
    return await runStep(job, await lease.plan);
  } catch (error) {
    plans.forget(lease);
    if (!(error instanceof FftError && error.code === 'destroyed')) throw inAxes(error, job.step);
  } finally {
    plans.give(lease);
  }
  // Closing a device destroys its plans; planning anew then reports that the device is closed.
  const plan = await device.plan(job.problem);
  try {
    return await runStep(job, plan);
  } finally {
    plan.destroy();
  }
}

function runStep({ step, data }: PlannedTransform, plan: Plan<DenseProblem>): Promise<Floats> {
  return plan[step.direction](data);
}

function cacheOf(device: Device): DensePlans {
  let plans = plansOf.get(device);
  if (!plans) {
    plans = new PlanCache({ make: (problem) => device.plan(problem), destroy, bytesOf: bytesOfSides });
    plansOf.set(device, plans);
  }
  return plans;
}

function destroy(plan: Promise<Plan>): void {
  plan.then(
    (made) => made.destroy(),
    () => undefined,
  );
}
