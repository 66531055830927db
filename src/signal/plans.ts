/** Plans that the functions of this room keep for their next call. */
import type { Device, Plan } from '../engine/index.ts';
import { PlanCache } from '../numpy/plans.ts';
import { FftError } from '../problem/errors.ts';
import type { ProblemInput } from '../problem/index.ts';

type Plans = PlanCache<ProblemInput, Promise<Plan>>;

/** Plans go with their device. */
const plansOf = new WeakMap<Device, Plans>();

/**
 * Lends a plan, a new one or one that an earlier call has left.
 * @throws FftError (as a rejection) those of `device.plan`, `device-closed`, and what `use` throws
 */
export async function withPlan<T>(device: Device, problem: ProblemInput, use: (plan: Plan) => Promise<T>): Promise<T> {
  const plans = plansOn(device);
  const lease = plans.take(problem);
  try {
    return await use(await lease.plan);
  } catch (error) {
    plans.forget(lease);
    // Closing a device destroys its plans; asked for a new one, it says that it is closed.
    if (error instanceof FftError && error.code === 'destroyed') (await device.plan(problem)).destroy();
    throw error;
  } finally {
    plans.give(lease);
  }
}

function plansOn(device: Device): Plans {
  let plans = plansOf.get(device);
  if (!plans) {
    plans = new PlanCache({
      make: (problem) => device.plan(problem) as Promise<Plan>,
      destroy: (plan) => plan.then((made) => made.destroy()).catch(() => undefined),
      bytesOf: ({ size, batches = 1, precision }) =>
        size.reduce((product, length) => product * length, batches) * (precision === 'double' ? 24 : 12),
    });
    plansOf.set(device, plans);
  }
  return plans;
}
