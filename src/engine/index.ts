/** The exports of the engine. */
import type { ProblemInput, ProblemLike } from '../problem/index.ts';
import { Plan as PlanWith } from './plan.ts';
import type { PlanTypesFor } from './plans/plan-types.ts';

export type { DeviceKind, ForeignGpuBuffer, ForeignMemory, OpenableKind } from '../devices/device.ts';
export type { OfflineLanguage } from '../devices/offline/index.ts';
export type { DeviceProfile } from '../plan/device/profile.ts';
export type {
  DeviceFunction,
  DeviceFunctionLanguage,
  DeviceFunctionOptions,
  DeviceFunctionTable,
  RegisterLayout,
} from './ahead/device-function.ts';
export type { ComplexData, Data } from './arguments/arguments.ts';
export { DeviceMemory } from './arguments/memory.ts';
export type { Arrays, CallOptions } from './arguments/operands.ts';
export type { EnqueueOptions, MemoryOptions } from './calls/enqueue.ts';
export { Device } from './device.ts';
export { bytesText } from './explaining/explain.ts';
export type { MeasureOptions } from './measuring/measure.ts';
export {
  type AvailableDevice,
  type DeviceFacts,
  type DeviceInfo,
  type DeviceOptions,
  listDevices,
  type MissingDevice,
  openDevice,
} from './open.ts';
export {
  openProfile,
  type ProfiledDevice,
  type ProfiledPlan,
  type ProfileName,
  type ProfileOptions,
  profileNames,
} from './open-profile.ts';
export type { PlanSide } from './plans/plan-side.ts';
export type { PlanKernel, PlanOptions } from './plans/plan-types.ts';

/** A plan for problems, or descriptors, of the type `P`: plans of one type take the same arrays. `Plan` alone is a plan for any problem. */
export type Plan<P extends ProblemLike = ProblemInput> = PlanWith<PlanTypesFor<P>>;

/**
 * A transform that is ready to run, on the device that made it. Calls may overlap: they run in the order in which they
 * were made.
 * @class
 */
export const Plan = PlanWith;
