/** What `openDevice('webgpu', …)` may be told. */
import { show } from '../../problem/errors.ts';
import type { DeviceOptions, Overridden } from '../options.ts';
import { wrongOption } from '../wrong-option.ts';

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
    throw wrongOption(name, `${name} is no ${what}: it has no method ${method}.`);
  };
  needs('gpu', gpu, 'requestAdapter', 'GPU');
  needs('adapter', adapter, 'requestDevice', 'GPUAdapter');
  needs('device', device, 'createComputePipeline', 'GPUDevice');
  const one = (name: keyof WebGpuOptions, value: unknown, accepted: readonly unknown[]) => {
    if (value === undefined || accepted.includes(value)) return;
    throw wrongOption(name, `${name} is ${show(value)}; choose one of ${accepted.join(', ')}.`);
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
