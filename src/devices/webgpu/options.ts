/** The options of `openDevice('webgpu', …)`. */
import { FftError, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { DeviceOptions, Overridden } from '../options.ts';

export type WebGpuOptions = Pick<DeviceOptions, 'gpu' | 'adapter' | 'device' | 'powerPreference' | 'software'>;

/** Settings for tests, beyond the options of `openDevice`. */
export interface WebGpuSettings extends WebGpuOptions, Overridden {
  /** Lower limits than the device's own. */
  readonly limits?: Partial<Limits> | undefined;
}

/** The names of the limits that programs obey. */
export const limitNames = [
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupsPerDimension',
] as const;
export type Limits = Readonly<Record<(typeof limitNames)[number], number>>;

/** Checks the options. @throws FftError `invalid-argument` for an option of a wrong type. */
export function checkWebGpuOptions({ gpu, adapter, device, powerPreference, software }: WebGpuOptions): void {
  const needs = (name: keyof WebGpuOptions, value: unknown, method: string, what: string) => {
    if (value === undefined || hasMethod(value, method)) return;
    throw new FftError('invalid-argument', `${name} is no ${what}: it has no method ${method}.`, { path: name });
  };
  needs('gpu', gpu, 'requestAdapter', 'GPU');
  needs('adapter', adapter, 'requestDevice', 'GPUAdapter');
  if (typeof device === 'object') needs('device', device, 'createComputePipeline', 'GPUDevice');
  else isWanted(device, 'device', 0, '');
  const one = (name: keyof WebGpuOptions, value: unknown, accepted: readonly unknown[]) => {
    if (value === undefined || accepted.includes(value)) return;
    throw new FftError('invalid-argument', `${name} is ${show(value)}; choose one of ${accepted.join(', ')}.`, {
      path: name,
    });
  };
  one('powerPreference', powerPreference, ['low-power', 'high-performance']);
  one('software', software, [true, false]);
}

/** Whether a value has a method. Objects of WebGPU are recognised by their methods, since they may come from another window or implementation. */
export function hasMethod(value: unknown, method: string): boolean {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Readonly<Record<string, unknown>>)[method] === 'function'
    );
  } catch {
    // A getter has thrown, or a proxy is revoked.
    return false;
  }
}
