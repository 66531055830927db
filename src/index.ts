/**
 * omnifft: fast Fourier transforms, planned and generated at run time for the device they run on.
 *
 * `openDevice` gives a device, `device.plan` a plan, `plan.forward` a spectrum.
 */
export {
  type ComplexData,
  type Data,
  Device,
  type DeviceInfo,
  type DeviceKind,
  DeviceMemory,
  type DeviceOptions,
  type EnqueueOptions,
  listDevices,
  openDevice,
  Plan,
  type PlanarData,
  type PlanKernel,
  type PlanOptions,
  type PlanSide,
} from './engine/index.ts';
export {
  type ComplexLayout,
  type Direction,
  FftError,
  type FftErrorCode,
  type FftProblem,
  formatDescriptor,
  type Precision,
  type Problem,
  type ProblemInput,
  parseDescriptor,
} from './problem/index.ts';
export { version } from './version.ts';
