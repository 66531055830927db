/** Plans that the functions of this room keep for their next calls. */
import type { Device, Plan } from '../../engine/index.ts';
import { type Lease, PlanCache } from '../../numpy/plans.ts';
import { FftError } from '../../problem/errors.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { WorkMemory } from './work.ts';

/** Working memory of a plan's calls: memory of its device and of the host. */
export interface Workplace {
  free(): void;
}

/** A plan that is kept, with the working memory of its last call. */
interface KeptPlan {
  readonly plan: Promise<Plan>;
  /** The plan itself, once it is made: awaiting its promise again would take as long as a short transform. */
  made: Plan | undefined;
  workplace: Workplace | undefined;
}

/** A plan to keep, under a name that no other problem has. */
export interface PlanRequest {
  readonly key: string;
  readonly problem: ProblemInput;
}

type KeptPlans = PlanCache<ProblemInput, KeptPlan>;

const NONE: readonly PlanRequest[] = [];
const NO_LEASES: readonly Lease<KeptPlan>[] = [];

/**
 * Calls a plan on working memory.
 * @returns the promise of a call that has to be waited for; undefined for one that has ended, as short calls on a CPU do, which would take longer to
 *   wait for than to compute
 */
export function called(
  plan: Plan,
  direction: 'forward' | 'inverse',
  from: WorkMemory['data'],
  to: WorkMemory['data'],
  options?: object,
): Promise<unknown> | undefined {
  const ended = plan.now(direction, from as never, to as never, options);
  return ended ? undefined : plan[direction](from as never, to as never, options as never);
}

/** @param problem a problem without callbacks, as its text would not contain them */
export function planRequest(problem: ProblemInput): PlanRequest {
  return { key: JSON.stringify(problem), problem };
}

/** Kept plans of each device; they are released with the device. */
const plansOf = new WeakMap<Device, KeptPlans>();

/**
 * Lends a plan: one that an earlier call has left, or a new one.
 * @throws FftError (as a rejection) the errors of `device.plan`, `device-closed`, and errors that `use` throws
 */
export function withPlan<T>(device: Device, problem: PlanRequest, use: (plan: Plan) => Promise<T>): Promise<T> {
  return withWorkplace(device, problem, undefined, use);
}

/**
 * Lends a plan together with working memory, which stays with the plan: the next call finds the same memory, and the plan bound to it. Calls that
 * overlap have working memories of their own.
 * @param make makes the working memory, always of the same kind for a problem; undefined where none is needed
 * @param others further plans, which `use` gets after the working memory
 */
export async function withWorkplace<W extends Workplace, T>(
  device: Device,
  problem: PlanRequest,
  make: (() => W | Promise<W>) | undefined,
  use: (plan: Plan, workplace: W, others: readonly Plan[]) => T | Promise<T>,
  others: readonly PlanRequest[] = NONE,
): Promise<T> {
  const plans = plansOn(device);
  const own = plans.take(problem.problem, problem.key);
  const rest = others.length === 0 ? NO_LEASES : others.map((other) => plans.take(other.problem, other.key));
  const kept = own.plan;
  let workplace: W | undefined;
  try {
    const plan = kept.made ?? (await kept.plan);
    const more: Plan[] = [];
    for (const lease of rest) more.push(lease.plan.made ?? (await lease.plan.plan));
    if (make) {
      workplace = kept.workplace as W | undefined;
      kept.workplace = undefined;
      workplace ??= await make();
    }
    const result = await use(plan, workplace!, more);
    if (!kept.workplace) kept.workplace = workplace;
    return result;
  } catch (error) {
    for (const lease of [own, ...rest]) plans.forget(lease);
    // Closing a device destroys its plans; a closed device reports that when it is asked for a new plan.
    if (error instanceof FftError && error.code === 'destroyed') (await device.plan(problem.problem)).destroy();
    throw error;
  } finally {
    if (workplace && kept.workplace !== workplace) workplace.free();
    plans.give(own);
    for (const lease of rest) plans.give(lease);
  }
}

function keptPlan(plan: Promise<Plan>): KeptPlan {
  const kept: KeptPlan = { plan, made: undefined, workplace: undefined };
  // The caller who waits for the plan gets the error.
  plan.then(
    (made) => (kept.made = made),
    () => undefined,
  );
  return kept;
}

function plansOn(device: Device): KeptPlans {
  let plans = plansOf.get(device);
  if (!plans) {
    plans = new PlanCache<ProblemInput, KeptPlan>({
      make: (problem) => keptPlan(device.plan(problem) as Promise<Plan>),
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
