/**
 * omnifft: fast Fourier transforms, planned and generated at run time for the device they run on.
 *
 * `openDevice` gives a device, `device.plan` a plan, `plan.forward` a spectrum.
 */
export {
  type AvailableDevice,
  type ComplexData,
  type Data,
  Device,
  type DeviceInfo,
  type DeviceKind,
  DeviceMemory,
  type DeviceOptions,
  type DeviceProfile,
  type EnqueueOptions,
  type ForeignGpuBuffer,
  type ForeignMemory,
  listDevices,
  type MeasureOptions,
  type MemoryOptions,
  type MissingDevice,
  type OfflineLanguage,
  type OpenableKind,
  openDevice,
  openProfile,
  Plan,
  type PlanKernel,
  type PlanOptions,
  type PlanSide,
  type ProfiledDevice,
  type ProfiledPlan,
  type ProfileName,
  type ProfileOptions,
  profileNames,
} from './engine/index.ts';
export {
  type ComplexLayout,
  type Direction,
  FftError,
  type FftErrorCode,
  type FftProblem,
  formatDescriptor,
  type PlanarData,
  type Precision,
  type Problem,
  type ProblemInput,
  parseDescriptor,
  type Tuning,
} from './problem/index.ts';
export { version } from './version.ts';
