/** Vulkan devices for tests, both on the processor: lavapipe, which has doubles and halves, and SwiftShader, which has neither. */
import { existsSync } from 'node:fs';
import { vulkan } from '../../src/devices/vulkan/api.ts';
import { create as createVulkanBackend, type VulkanOptions } from '../../src/devices/vulkan/index.ts';
import { vkDevices } from '../../src/devices/vulkan/select.ts';
import { softwareDriver } from '../../src/devices/webgpu/software.ts';
import { Device } from '../../src/engine/device.ts';
import { hidden, missing } from './optional.ts';
import { exhaustive } from './transforms.ts';

/** By the names of their drivers' files. */
const LAVAPIPE = ['/usr/share/vulkan/icd.d/lvp_icd.x86_64.json', '/usr/share/vulkan/icd.d/lvp_icd.json'];

export type VulkanDriver = 'lavapipe' | 'swiftshader';

/** What lavapipe is loaded by; undefined where there is none. */
export const lavapipeFile = hidden ? undefined : LAVAPIPE.find((file) => existsSync(file));

async function fileOf(driver: VulkanDriver): Promise<string> {
  if (driver === 'swiftshader') return (await softwareDriver()).driver;
  if (lavapipeFile === undefined) throw new Error('the system has no driver of that name');
  return lavapipeFile;
}

async function reasonOf(driver: VulkanDriver): Promise<string | undefined> {
  try {
    const found = await vkDevices(await vulkan(), await fileOf(driver));
    return found.length > 0 ? undefined : 'it gives no device';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Why tests on Vulkan cannot run here, and are to be skipped. */
export const noVulkan: Readonly<Record<VulkanDriver, string | undefined>> = {
  lavapipe: missing('lavapipe', await reasonOf('lavapipe')),
  swiftshader: missing('swiftshader', await reasonOf('swiftshader')),
};

/** Options that open a device on one of the two. */
export async function vulkanOptions(driver: VulkanDriver): Promise<VulkanOptions> {
  return { driver: await fileOf(driver) };
}

/** A device of omnifft on Vulkan. */
export async function openVulkan(driver: VulkanDriver, options: VulkanOptions = {}): Promise<Device> {
  return new Device(await createVulkanBackend({ ...(await vulkanOptions(driver)), ...options }));
}

/** For suites that run on several devices: lavapipe takes long over large kernels, and has small ones of each kind in a suite of its own. */
export const vulkanDevices = (exhaustive ? (['lavapipe', 'swiftshader'] as const) : (['swiftshader'] as const)).map(
  (driver) => ({
    name: `Vulkan on ${driver}`,
    missing: noVulkan[driver],
    open: () => openVulkan(driver),
    doubles: (driver as VulkanDriver) === 'lavapipe',
  }),
);
