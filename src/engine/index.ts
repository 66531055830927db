/** The room's door. */
export type { DeviceKind } from '../devices/device.ts';
export type { ComplexData, Data, PlanarData } from './arguments.ts';
export { Device, type PlanOptions } from './device.ts';
export type { EnqueueOptions } from './enqueue.ts';
export { bytesText } from './explain.ts';
export { DeviceMemory } from './memory.ts';
export { type DeviceInfo, type DeviceOptions, listDevices, openDevice } from './open.ts';
export { Plan, type PlanKernel, type PlanSide } from './plan.ts';
