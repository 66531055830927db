/** Chooses a Vulkan device: lists the devices of all drivers, reads their features and limits, and applies the options of `openDevice`. */
import { FftError, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { Availability } from '../device.ts';
import type { Struct } from '../native/structs.ts';
import { environment, mayHaveGpu, softwareByDefault } from '../webgpu/host.ts';
import { softwareDriver } from '../webgpu/software.ts';
import { COMPUTE, type Handle, INSTALL, MEMORY, TYPE, type Vulkan, vulkan } from './api.ts';

/** A physical device. */
export interface VkDevice {
  readonly handle: Handle;
  readonly name: string;
  readonly type: (typeof TYPES)[number];
  /** The driver and its version, for messages. */
  readonly driver: string;
  /** Bytes of device-local memory. */
  readonly memory: number;
  readonly limits: VkLimits;
  readonly features: VkFeatures;
  /** The index of the queue family that computes; undefined if there is none. */
  readonly queueFamily: number | undefined;
  readonly timestampBits: number;
  /** The property flags of each memory type. */
  readonly memoryTypes: readonly number[];
  /** The reason why the device cannot be used; undefined if it can. */
  readonly fault: string | undefined;
}

export interface VkLimits {
  readonly pushBytes: number;
  readonly sharedBytes: number;
  readonly groups: number;
  readonly threads: number;
  readonly allocation: number;
  readonly subgroup: number;
  /** Nanoseconds of one timestamp tick. */
  readonly timestampPeriod: number;
}

/** Optional features that kernels use if the device has them. */
export interface VkFeatures {
  readonly doubles: boolean;
  readonly wideIntegers: boolean;
  readonly storage16: boolean;
  /** The range of subgroup sizes that a pipeline may require, and the most subgroups in a group; undefined if the device cannot require a size. */
  readonly subgroups: { readonly least: number; readonly most: number; readonly perGroup: number } | undefined;
}

/** The byte offset of `subgroupSizeControl` in `VkPhysicalDeviceVulkan13Features`. */
export const SUBGROUP_SIZE_CONTROL = 16 + 4 * 7;

const TYPES = ['other', 'integrated', 'discrete', 'virtual', 'cpu'] as const;
const RANK = { discrete: 0, integrated: 1, virtual: 2, other: 3, cpu: 4 } as const;
const [VERSION_1_2, VERSION_1_3] = [(1 << 22) | (2 << 12), (1 << 22) | (3 << 12)];

/** Instances by the list of drivers, kept as long as the process. */
const instances = new Map<string, Handle>();

/** An instance. @param driver file of the only driver to load. Default: the drivers that `VK_DRIVER_FILES` names, else all drivers of the system. */
async function instanceOf(api: Vulkan, driver: string | undefined): Promise<Handle> {
  const key = driver ?? `system ${process.env.VK_DRIVER_FILES ?? process.env.VK_ICD_FILENAMES ?? ''}`;
  const known = instances.get(key);
  if (known !== undefined) return known;
  const application = api.struct(TYPE.applicationInfo, undefined, undefined, 0, undefined, 0, VERSION_1_3);
  const info = api.struct(TYPE.instance, undefined, 0, application, 0, undefined, 0, undefined);
  const made = await withDriver(driver, () => {
    const what = { what: 'Opening Vulkan', otherwise: 'device-unavailable' } as const;
    const instance = api.make('vkCreateInstance', what, info, null);
    // The loader searches for drivers when it first lists devices.
    api.list('vkEnumeratePhysicalDevices', instance, 8);
    return instance;
  });
  instances.set(key, made);
  return made;
}

async function withDriver<T>(driver: string | undefined, work: () => T): Promise<T> {
  if (driver === undefined) return work();
  const before = process.env.VK_DRIVER_FILES;
  const { set } = await environment();
  set('VK_DRIVER_FILES', driver);
  try {
    return work();
  } finally {
    set('VK_DRIVER_FILES', before);
  }
}

/** Every device, in the system's order. */
export async function vkDevices(api: Vulkan, driver?: string): Promise<VkDevice[]> {
  const handles = api.list('vkEnumeratePhysicalDevices', await instanceOf(api, driver), 8);
  return Array.from({ length: handles.byteLength / 8 }, (_, n) =>
    describedVkDevice(api, handles.getBigUint64(8 * n, true)),
  );
}

/** The facts of one physical device. @throws FftError `device-lost` if there is no such device. */
export function describedVkDevice(api: Vulkan, handle: Handle): VkDevice {
  const own13 = api.empty(TYPE.properties13, 256);
  const own12 = api.empty(TYPE.properties12, 1024, own13);
  const own11 = api.empty(TYPE.properties11, 112, own12);
  const properties = api.empty(TYPE.properties, 840, own11);
  api.call('vkGetPhysicalDeviceProperties2', undefined, handle, properties);
  const can13 = api.empty(TYPE.features13, 80);
  const can12 = api.empty(TYPE.features12, 208, can13);
  const can11 = api.empty(TYPE.features11, 64, can12);
  const can = api.empty(TYPE.features, 240, can11);
  api.call('vkGetPhysicalDeviceFeatures2', undefined, handle, can);
  const memory = new ArrayBuffer(520);
  api.call('vkGetPhysicalDeviceMemoryProperties', undefined, handle, memory);
  const heaps = new DataView(memory);
  const memoryTypes = Array.from({ length: heaps.getUint32(0, true) }, (_, n) => heaps.getUint32(4 + 8 * n, true));
  const queue = queueOf(api, handle);
  const LIMITS = 16 + 296;
  const shape = ['timeline semaphores', 'buffer addresses'].filter((_, n) => !can12.number(16 + 4 * (37 + n)));
  const lacking = [...shape, ...(queue ? [] : ['a queue that computes'])];
  const old = properties.number(16) < VERSION_1_2;
  return {
    handle,
    name: properties.text(16 + 20, 256),
    type: TYPES[properties.number(16 + 16)] ?? 'other',
    driver: `${own12.text(20, 256)} ${own12.text(276, 256)}`.trim(),
    memory: largestHeap(heaps),
    limits: {
      pushBytes: properties.number(LIMITS + 32),
      sharedBytes: properties.number(LIMITS + 216),
      groups: Math.min(2 ** 31 - 1, properties.number(LIMITS + 220)),
      threads: Math.min(properties.number(LIMITS + 232), properties.number(LIMITS + 236)),
      allocation: own11.wide(104),
      subgroup: own11.number(64),
      timestampPeriod: properties.view.getFloat32(LIMITS + 424, true),
    },
    features: {
      doubles: can.number(172) !== 0,
      wideIntegers: can.number(176) !== 0,
      storage16: can.number(180) !== 0 && can11.number(16) !== 0,
      subgroups: subgroupSizes(can13, own13),
    },
    queueFamily: queue?.family,
    timestampBits: queue?.timestampBits ?? 0,
    memoryTypes,
    fault: old ? 'is older than Vulkan 1.2' : lacking.length > 0 ? `has no ${lacking.join(' and no ')}` : undefined,
  };
}

/** Older devices do not fill in the structures of Vulkan 1.3, whose fields then stay zero. */
function subgroupSizes(can13: Struct, own13: Struct): VkFeatures['subgroups'] {
  const [least, most, perGroup, stages] = [0, 1, 2, 3].map((n) => own13.number(16 + 4 * n)) as [
    number,
    number,
    number,
    number,
  ];
  if (can13.number(SUBGROUP_SIZE_CONTROL) === 0 || (stages & COMPUTE.stage) === 0) return undefined;
  return { least, most, perGroup };
}

function queueOf(api: Vulkan, device: Handle): { family: number; timestampBits: number } | undefined {
  const families = api.list('vkGetPhysicalDeviceQueueFamilyProperties', device, 24);
  for (let family = 0; family < families.byteLength / 24; family++) {
    if ((families.getUint32(24 * family, true) & COMPUTE.queue) === 0) continue;
    return { family, timestampBits: families.getUint32(24 * family + 8, true) };
  }
  return undefined;
}

function largestHeap(heaps: DataView): number {
  const all = Array.from({ length: heaps.getUint32(260, true) }, (_, n) => ({
    bytes: Number(heaps.getBigUint64(264 + 16 * n, true)),
    own: (heaps.getUint32(272 + 16 * n, true) & MEMORY.deviceLocal) !== 0,
  }));
  const own = all.filter(({ own }) => own);
  return Math.max(0, ...(own.length > 0 ? own : all).map(({ bytes }) => bytes));
}

/** The caller's choice: a number in the system's order, or a part of a name. */
export interface VkChoice {
  readonly device?: unknown;
  readonly software?: boolean | undefined;
  /** File of the only driver to load, for tests. */
  readonly driver?: string | undefined;
}

/** The preferred device that matches the options. @throws FftError `invalid-argument`, `device-unavailable` */
export async function chooseVkDevice(api: Vulkan, { device, software, driver }: VkChoice): Promise<VkDevice> {
  isWanted(device, 'device', 0, '');
  const onProcessor = software ?? softwareByDefault();
  const found = await vkDevices(api, driver ?? (onProcessor ? await processorDriver(api) : undefined));
  const [best] = found
    .filter(
      (each, n) => isWanted(device, 'device', n, each.name) && !each.fault && (!onProcessor || each.type === 'cpu'),
    )
    .sort((a, b) => RANK[a.type] - RANK[b.type]);
  if (best) return best;
  const there = found.map(({ name, fault }, n) => `${n}: ${name}${fault ? `, which ${fault}` : ''}`).join('; ');
  throw new FftError(
    'device-unavailable',
    `There is no usable Vulkan device${device === undefined ? '' : ` for device ${show(device)}`}. ${there ? `The system has ${there}.` : INSTALL}`,
  );
}

/** The driver of SwiftShader, if the system's drivers have no device that computes on the processor. */
async function processorDriver(api: Vulkan): Promise<string | undefined> {
  const own = await vkDevices(api).catch(() => []);
  if (own.some(({ type, fault }) => type === 'cpu' && !fault)) return undefined;
  return softwareDriver().then(
    ({ driver }) => driver,
    () => undefined,
  );
}

/** Lists the devices, the preferred one first. @param hardware whether to leave out devices that compute on the processor. */
export async function availability(hardware = false): Promise<Availability> {
  if (hardware && !(await mayHaveGpu())) return { name: 'Vulkan', available: false, reason: 'this system has no GPU' };
  try {
    const api = await vulkan();
    const best = await chooseVkDevice(api, {});
    const found = await vkDevices(api, softwareByDefault() ? await processorDriver(api) : undefined);
    const devices = found.map(({ name, memory, driver, fault }) => ({
      name,
      memory,
      driver,
      ...(fault ? { fault } : {}),
    }));
    return { name: best.name, available: true, devices, ...(best.type === 'cpu' ? { software: true } : {}) };
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    return { name: 'Vulkan', available: false, reason: error.message };
  }
}
