/** Opening a `GPUDevice` from options: the adapter is found, all its features and limits are requested, and the result becomes a profile. */
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, reasonOf } from '../../problem/errors.ts';
import { requireOnly } from '../choice.ts';
import type { Availability } from '../device.ts';
import { softwareProfile, webGpuProfile } from '../profiles/gpu.ts';
import { findGpu, keep, mayHaveGpu, softwareByDefault } from './host.ts';
import { type Limits, limitNames, type WebGpuOptions, type WebGpuSettings } from './options.ts';

/** A `GPUDevice` and its owner. */
export interface Opened {
  readonly gpu: GPUDevice;
  /** Whether the device was made here, and so has to be destroyed here. */
  readonly own: boolean;
  readonly info: GPUAdapterInfo | undefined;
}

/** Features that are requested if the adapter has them. */
const FEATURES: readonly GPUFeatureName[] = ['timestamp-query', 'subgroups'];

/** @throws FftError `device-unavailable` */
export async function openGpuDevice(options: WebGpuOptions): Promise<Opened> {
  if (typeof options.device === 'object') {
    const gpu = options.device as GPUDevice;
    return { gpu, own: false, info: gpu.adapterInfo };
  }
  const adapter = (options.adapter as GPUAdapter | undefined) ?? (await findAdapter(options));
  requireOnly(options.device, 'WebGPU', adapterName(adapter.info));
  const requiredLimits = Object.fromEntries(limitNames.map((name) => [name, adapter.limits[name]]));
  const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name));
  try {
    const gpu = await adapter.requestDevice({ label: 'omnifft', requiredFeatures, requiredLimits });
    return { gpu, own: true, info: adapter.info };
  } catch (cause) {
    const why = reasonOf(cause);
    throw new FftError('device-unavailable', `The WebGPU adapter ${adapterName(adapter.info)} gave no device: ${why}`, {
      cause,
    });
  }
}

async function findAdapter({ gpu, powerPreference, software }: WebGpuOptions): Promise<GPUAdapter> {
  const wanted = software ?? softwareByDefault();
  let why: string;
  let cause: unknown;
  try {
    const entry = (gpu as GPU | undefined) ?? (await findGpu(wanted));
    keep(entry);
    const adapter = await entry.requestAdapter({
      ...(powerPreference ? { powerPreference } : {}),
      // Only browsers have hardware and software adapters behind one entry.
      ...(wanted && entry === globalThis.navigator?.gpu ? { forceFallbackAdapter: true } : {}),
    });
    if (adapter) return adapter;
    why = 'there is no adapter: no GPU, no driver for it, or it is blocked';
  } catch (error) {
    cause = error;
    why = reasonOf(error);
  }
  throw new FftError('device-unavailable', `WebGPU cannot be opened: ${why}.`, { cause });
}

/** Whether there is an adapter, and its name. @param hardware whether an adapter that computes on the processor does not count. */
export async function webGpuAvailability(hardware = false): Promise<Availability> {
  if (hardware && !(await mayHaveGpu())) return { name: 'WebGPU', available: false, reason: 'this system has no GPU' };
  try {
    const { info } = await findAdapter({});
    const driver = [info.vendor, info.architecture].filter(Boolean).join(' ');
    const devices = [{ name: adapterName(info), ...(driver ? { driver } : {}) }];
    return { name: adapterName(info), available: true, devices, ...(isSoftware(info) ? { software: true } : {}) };
  } catch (error) {
    const reason = (error as Error).message.replace(/^WebGPU cannot be opened: |\.$/g, '');
    return { name: 'WebGPU', available: false, reason };
  }
}

function isSoftware(info: GPUAdapterInfo | undefined): boolean {
  return info?.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe/i.test(`${info?.architecture} ${info?.description}`);
}

export function adapterName(info: GPUAdapterInfo | undefined): string {
  const { description, device, vendor, architecture } = info ?? {};
  return description || device || [vendor, architecture].filter(Boolean).join(' ') || 'WebGPU';
}

/** The limits of a device, lowered by the settings. */
export function limitsOf(gpu: GPUDevice, less: WebGpuSettings['limits'] = {}): Limits {
  return Object.fromEntries(
    limitNames.map((name) => [name, Math.min(gpu.limits[name], less[name] ?? Number.POSITIVE_INFINITY)]),
  ) as Record<keyof Limits, number>;
}

/** The profile of an adapter. WebGPU does not tell multiprocessors, registers and the size of memory transactions. */
export function adapterProfile({ info }: Opened, limits: Limits): DeviceProfile {
  const sharedBytes = limits.maxComputeWorkgroupStorageSize;
  return {
    ...webGpuProfile,
    ...(isSoftware(info) ? softwareProfile : {}),
    name: adapterName(info),
    lockstepBytes: 4 * (info?.subgroupMaxSize || 32),
    sharedBytes,
    residentBytes: Math.max(webGpuProfile.residentBytes, sharedBytes),
    // Larger data could not be bound.
    maxBytes: limits.maxStorageBuffersPerShaderStage * limits.maxBufferSize,
    maxThreads: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
  };
}
