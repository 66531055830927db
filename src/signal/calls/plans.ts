/** Plans that the functions of this room keep for their next call. */
import type { Device, Plan } from '../../engine/index.ts';
import { PlanCache } from '../../numpy/plans.ts';
import { FftError } from '../../problem/errors.ts';
import type { ProblemInput } from '../../problem/index.ts';

/** What calls of a plan work in: memory of its device, and of the host. */
export interface Workplace {
  free(): void;
}

/** A plan that is kept, with the place that the call before has worked in. */
interface KeptPlan {
  readonly plan: Promise<Plan>;
  workplace: Workplace | undefined;
}

/** A plan to keep, under a name that no other problem has. */
export interface PlanRequest {
  readonly key: string;
  readonly problem: ProblemInput;
}

type KeptPlans = PlanCache<ProblemInput, KeptPlan>;

/** @param problem without callbacks, of which its text would say nothing */
export function planRequest(problem: ProblemInput): PlanRequest {
  return { key: JSON.stringify(problem), problem };
}

/** Plans go with their device. */
const plansOf = new WeakMap<Device, KeptPlans>();

/**
 * Lends a plan, a new one or one that an earlier call has left.
 * @throws FftError (as a rejection) those of `device.plan`, `device-closed`, and what `use` throws
 */
export function withPlan<T>(device: Device, problem: PlanRequest, use: (plan: Plan) => Promise<T>): Promise<T> {
  return withKept(device, problem, async ({ plan }) => use(await plan));
}

/**
 * The same with a place to work in, which stays with the plan: the next call finds the same memory, and the plan bound to it.
 * Calls that overlap have places of their own.
 * @param make such a place; always of the same kind for a problem.
 */
export function withWorkplace<W extends Workplace, T>(
  device: Device,
  problem: PlanRequest,
  make: () => W | Promise<W>,
  use: (plan: Plan, workplace: W) => Promise<T>,
): Promise<T> {
  return withKept(device, problem, async (kept) => {
    const plan = await kept.plan;
    const found = kept.workplace as W | undefined;
    kept.workplace = undefined;
    const workplace = found ?? (await make());
    try {
      const result = await use(plan, workplace);
      if (!kept.workplace) kept.workplace = workplace;
      return result;
    } finally {
      if (kept.workplace !== workplace) workplace.free();
    }
  });
}

async function withKept<T>(
  device: Device,
  { key, problem }: PlanRequest,
  use: (kept: KeptPlan) => Promise<T>,
): Promise<T> {
  const plans = plansOn(device);
  const lease = plans.take(problem, key);
  try {
    return await use(lease.plan);
  } catch (error) {
    plans.forget(lease);
    // Closing a device destroys its plans; asked for a new one, it says that it is closed.
    if (error instanceof FftError && error.code === 'destroyed') (await device.plan(problem)).destroy();
    throw error;
  } finally {
    plans.give(lease);
  }
}

function plansOn(device: Device): KeptPlans {
  let plans = plansOf.get(device);
  if (!plans) {
    plans = new PlanCache<ProblemInput, KeptPlan>({
      make: (problem) => ({ plan: device.plan(problem) as Promise<Plan>, workplace: undefined }),
      destroy: ({ plan, workplace }) => {
        workplace?.free();
        plan.then((made) => made.destroy()).catch(() => undefined);
      },
      bytesOf: ({ size, batches = 1, precision, transform }) =>
        size.reduce((product, length) => product * length, batches) *
        (precision === 'double' ? 24 : 12) *
        (transform === 'r2c' ? 1 : 2),
    });
    plansOf.set(device, plans);
  }
  return plans;
}
