/** Plans that the functions of this room keep for their next calls. */
import type { Device, Plan } from '../../engine/index.ts';
import { type Lease, PlanCache } from '../../numpy/calls/plans.ts';
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
const NO_PLANS: readonly Plan[] = [];

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

/** What comes after a call: at once where it has ended, otherwise when it has. */
export function afterwards<T>(waiting: Promise<unknown> | undefined, next: () => T | Promise<T>): T | Promise<T> {
  return waiting ? waiting.then(next) : next();
}

/**
 * Calls a function with 0 to count − 1, each time when what it has returned before has ended.
 * @returns a promise where there is something to wait for
 */
export function oneByOne(
  count: number,
  act: (n: number) => Promise<unknown> | undefined,
): Promise<unknown> | undefined {
  return count === 1 ? act(0) : allPlans(count, act);
}

async function allPlans(count: number, act: (n: number) => Promise<unknown> | undefined): Promise<void> {
  for (let n = 0; n < count; n++) {
    const waiting = act(n);
    if (waiting) await waiting;
  }
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
export async function withPlan<T>(device: Device, problem: PlanRequest, use: (plan: Plan) => Promise<T>): Promise<T> {
  return withWorkplace(device, problem, undefined, use);
}

/** Plans that a call has taken, and the working memory of its first one. */
interface Loan<W extends Workplace> {
  readonly plans: KeptPlans;
  readonly own: Lease<KeptPlan>;
  readonly rest: readonly Lease<KeptPlan>[];
  workplace: W | undefined;
}

/**
 * Lends a plan together with working memory, which stays with the plan: the next call finds the same memory, and the plan bound to it. Calls that
 * overlap have working memories of their own.
 * @param make makes the working memory, always of the same kind for a problem; undefined where none is needed
 * @param others further plans, which `use` gets after the working memory
 * @returns what `use` returns: no promise where `use` returns none and nothing has to be made, because waiting takes a tenth of a short call
 */
export function withWorkplace<W extends Workplace, T>(
  device: Device,
  problem: PlanRequest,
  make: (() => W | Promise<W>) | undefined,
  use: (plan: Plan, workplace: W, others: readonly Plan[]) => Promise<T>,
  others?: readonly PlanRequest[],
): Promise<T>;
export function withWorkplace<W extends Workplace, T>(
  device: Device,
  problem: PlanRequest,
  make: (() => W | Promise<W>) | undefined,
  use: (plan: Plan, workplace: W, others: readonly Plan[]) => T | Promise<T>,
  others?: readonly PlanRequest[],
): T | Promise<T>;
export function withWorkplace<W extends Workplace, T>(
  device: Device,
  problem: PlanRequest,
  make: (() => W | Promise<W>) | undefined,
  use: (plan: Plan, workplace: W, others: readonly Plan[]) => T | Promise<T>,
  others: readonly PlanRequest[] = NONE,
): T | Promise<T> {
  const plans = plansOn(device);
  const own = plans.take(problem.problem, problem.key);
  const rest = others.length === 0 ? NO_LEASES : others.map((other) => plans.take(other.problem, other.key));
  const loan: Loan<W> = { plans, own, rest, workplace: undefined };
  const { made } = own.plan;
  const more = madeOf(rest);
  if (!(made && more) || (make && !own.plan.workplace)) {
    return returned(device, problem, loan, whenMade(loan, make, use));
  }
  if (make) takeWorkplace(loan);
  try {
    const result = use(made, loan.workplace!, more);
    if (result instanceof Promise) return returned(device, problem, loan, result);
    giveBack(loan);
    return result;
  } catch (error) {
    return returned(device, problem, loan, Promise.reject(error));
  }
}

/** Plans that are made, or undefined where one is not. */
function madeOf(leases: readonly Lease<KeptPlan>[]): readonly Plan[] | undefined {
  if (leases.length === 0) return NO_PLANS;
  const plans: Plan[] = [];
  for (const { plan } of leases) {
    if (!plan.made) return undefined;
    plans.push(plan.made);
  }
  return plans;
}

/** The result of `use`, once the plans and the working memory are made. */
async function whenMade<W extends Workplace, T>(
  loan: Loan<W>,
  make: (() => W | Promise<W>) | undefined,
  use: (plan: Plan, workplace: W, others: readonly Plan[]) => T | Promise<T>,
): Promise<T> {
  const { own, rest } = loan;
  const plan = await own.plan.plan;
  const more: Plan[] = [];
  for (const lease of rest) more.push(await lease.plan.plan);
  if (make) {
    takeWorkplace(loan);
    loan.workplace ??= await make();
  }
  return use(plan, loan.workplace!, more);
}

function takeWorkplace<W extends Workplace>(loan: Loan<W>): void {
  loan.workplace = loan.own.plan.workplace as W | undefined;
  loan.own.plan.workplace = undefined;
}

/** Waits for a result, and gives back what was taken for it. */
async function returned<W extends Workplace, T>(
  device: Device,
  { problem }: PlanRequest,
  loan: Loan<W>,
  result: Promise<T>,
): Promise<T> {
  const { plans, own, rest } = loan;
  try {
    const value = await result;
    giveBack(loan);
    return value;
  } catch (error) {
    for (const lease of [own, ...rest]) plans.forget(lease);
    loan.workplace?.free();
    giveLeases(loan);
    // Closing a device destroys its plans; a closed device reports that when it is asked for a new plan.
    if (error instanceof FftError && error.code === 'destroyed') (await device.plan(problem)).destroy();
    throw error;
  }
}

/** Leaves the working memory with its plan, unless another call has left one there. */
function giveBack<W extends Workplace>(loan: Loan<W>): void {
  const { own, workplace } = loan;
  if (!own.plan.workplace) own.plan.workplace = workplace;
  else workplace?.free();
  giveLeases(loan);
}

function giveLeases<W extends Workplace>({ plans, own, rest }: Loan<W>): void {
  plans.give(own);
  for (const lease of rest) plans.give(lease);
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
