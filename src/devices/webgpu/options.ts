/** What `openDevice('webgpu', …)` may be told. */
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError, show } from '../../problem/errors.ts';

export interface WebGpuOptions {
  /** A `GPU` to ask for adapters, kept as long as the process lasts; default: `navigator.gpu`, in Node the one of the `webgpu` package. */
  readonly gpu?: object | undefined;
  /** A `GPUAdapter` that still gives a device. */
  readonly adapter?: object | undefined;
  /** A `GPUDevice` of the caller: it stays open when the device closes, and only its limits and features are used. */
  readonly device?: object | number | string | undefined;
  /** Which of several adapters to prefer. */
  readonly powerPreference?: 'low-power' | 'high-performance' | undefined;
  /**
   * An adapter that computes on the processor. In Node that is SwiftShader, found in the package `@sparticuz/chromium`.
   * Default: false, or true where the environment has `OMNIFFT_SOFTWARE_GPU=1`.
   */
  readonly software?: boolean | undefined;
}

/** For tests: what `openDevice` does not offer. */
export interface WebGpuSettings extends WebGpuOptions {
  /** Replaces parts of the profile that the planner sees. */
  readonly profile?: Partial<DeviceProfile> | undefined;
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
  const needs = (name: string, value: unknown, method: string, what: string) => {
    if (value === undefined || hasMethod(value, method)) return;
    throw new FftError('invalid-argument', `${name} is no ${what}: it has no method ${method}.`, { path: name });
  };
  needs('gpu', gpu, 'requestAdapter', 'GPU');
  needs('adapter', adapter, 'requestDevice', 'GPUAdapter');
  needs('device', device, 'createComputePipeline', 'GPUDevice');
  const one = (name: string, value: unknown, accepted: readonly unknown[]) => {
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
