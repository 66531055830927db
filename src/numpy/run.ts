/** Runs requests on devices that have to be waited for. */

import type { Device, Plan } from '../engine/index.ts';
import { FftError } from '../problem/errors.ts';
import { type ArrayInput, type ComplexArray, fitting, type Transformed } from './array.ts';
import { checkDevice, sharedDevice } from './choice.ts';
import { PlanCache } from './plans.ts';
import { bytesOfSides, type DenseProblem, inAxes, type TransformRequest } from './request.ts';

type Plans = PlanCache<DenseProblem, Promise<Plan<DenseProblem>>>;

/** Plans go with their device. */
const plansOf = new WeakMap<Device, Plans>();

/**
 * Carries out a request that was made of an `X`.
 * @throws FftError (as a rejection) `invalid-argument`, and those of opening, planning and running
 */
export async function transform<X extends ArrayInput>(request: TransformRequest): Promise<Transformed<X>> {
  return (await transformed(request)) as Transformed<X>;
}

async function transformed(request: TransformRequest): Promise<ComplexArray> {
  const chosen = checkDevice(request.device);
  const { problem, operand } = request;
  if (!problem) return { ...operand, data: fitting(operand.data.length, () => operand.data.slice()) };
  const device = chosen ?? (await sharedDevice());
  const plans = cacheOf(device);
  const lease = plans.take(problem);
  try {
    return await run(request, await lease.plan);
  } catch (error) {
    plans.forget(lease);
    if (!(error instanceof FftError && error.code === 'destroyed')) throw inAxes(error, request);
  } finally {
    plans.give(lease);
  }
  // Closing a device destroys its plans; asked for a new one, it says that it is closed.
  const plan = await device.plan(problem);
  try {
    return await run(request, plan);
  } finally {
    plan.destroy();
  }
}

async function run({ direction, operand }: TransformRequest, plan: Plan<DenseProblem>): Promise<ComplexArray> {
  return { ...operand, data: await plan[direction](operand.data) };
}

function cacheOf(device: Device): Plans {
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
