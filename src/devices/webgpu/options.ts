/** What `openDevice('webgpu', …)` may be told. */
import { FftError, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { DeviceOptions, Overridden } from '../options.ts';

export type WebGpuOptions = Pick<DeviceOptions, 'gpu' | 'adapter' | 'device' | 'powerPreference' | 'software'>;

/** For tests: what `openDevice` does not offer. */
export interface WebGpuSettings extends WebGpuOptions, Overridden {
  /** Limits to keep to although the device allows more. */
  readonly limits?: Partial<Limits> | undefined;
}

/** The limits that programs keep to. */
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

/** @throws FftError `invalid-argument` where an option is not what it says. */
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

/** Objects of WebGPU are known by what they can do: they may come from another window or implementation. */
export function hasMethod(value: unknown, method: string): boolean {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Readonly<Record<string, unknown>>)[method] === 'function'
    );
  } catch {
    // A getter, or a proxy that is used up.
    return false;
  }
}
