/** Runs requests on devices that have to be waited for. */

import { type Device, openDevice, type Plan } from '../engine/index.ts';
import { isDevice } from '../engine/is-device.ts';
import { FftError, show } from '../problem/errors.ts';
import { type ArrayInput, type ComplexArray, fitting, type Transformed } from './array.ts';
import { PlanCache } from './plans.ts';
import { type DenseProblem, inAxes, type TransformRequest } from './request.ts';

/** Where to work. */
export interface DeviceChoice {
  /** Default: a CPU device that all calls share, opened on first use. It does not keep a process alive. */
  readonly device?: Device | undefined;
}

type Plans = PlanCache<Promise<Plan<DenseProblem>>>;

/** Plans go with their device. */
const plansOf = new WeakMap<Device, Plans>();
let shared: Promise<Device> | undefined;

/**
 * Carries out a request that was made of an `X`.
 * @throws FftError (as a rejection) `invalid-argument`, and those of opening, planning and running
 */
export async function transform<X extends ArrayInput>(request: TransformRequest): Promise<Transformed<X>> {
  return (await transformed(request)) as Transformed<X>;
}

async function transformed(request: TransformRequest): Promise<ComplexArray> {
  const { device: chosen } = request;
  if (chosen !== undefined && !isDevice(chosen)) {
    throw new FftError('invalid-argument', `device is ${show(chosen)}; it must come from openDevice().`, {
      path: 'device',
    });
  }
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

function sharedDevice(): Promise<Device> {
  shared ??= openDevice('cpu').catch((error) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

function cacheOf(device: Device): Plans {
  let plans = plansOf.get(device);
  if (!plans) plansOf.set(device, (plans = new PlanCache((problem) => device.plan(problem), destroy)));
  return plans;
}

function destroy(plan: Promise<Plan>): void {
  plan.then(
    (made) => made.destroy(),
    () => undefined,
  );
}
