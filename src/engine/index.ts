/** The room's door. */
export type { DeviceKind, ForeignGpuBuffer, ForeignMemory } from '../devices/device.ts';
export type { OfflineLanguage } from '../devices/offline/index.ts';
export type { ProfileName } from '../devices/profiles/index.ts';
export type { DeviceProfile } from '../plan/profile.ts';
export type { ComplexData, Data, PlanarData } from './arguments.ts';
export { Device, type PlanOptions } from './device.ts';
export type { EnqueueOptions, MemoryOptions } from './enqueue.ts';
export { bytesText } from './explain.ts';
export type { MeasureOptions } from './measure.ts';
export { DeviceMemory } from './memory.ts';
export { type DeviceInfo, type DeviceOptions, listDevices, openDevice } from './open.ts';
export { openProfile, type ProfileOptions, profileNames } from './open-profile.ts';
export { Plan, type PlanKernel, type PlanSide } from './plan.ts';
