/** Chooses a Level Zero device: lists the devices of all drivers with their properties, and applies the options of `openDevice`. */
import { FftError, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { Availability } from '../device.ts';
import { mayHaveGpu } from '../webgpu/host.ts';
import { type Handle, INSTALL, type LevelZero, levelZero, TYPE } from './api.ts';

/** A device of the system. */
export interface ZeDevice {
  readonly driver: Handle;
  readonly handle: Handle;
  readonly name: string;
  /** The driver and its version, for messages. */
  readonly driverName: string;
  /** Bytes of device memory. */
  readonly memory: number;
  readonly limits: ZeLimits;
  readonly doubles: boolean;
  /** Whether the device shares the host's memory instead of having its own. */
  readonly integrated: boolean;
  /** The reason why the device cannot be used; undefined if it can. */
  readonly fault: string | undefined;
  /** The index of the command queue group that computes. */
  readonly queueGroup: number;
  readonly multiprocessors: number;
}

export interface ZeLimits {
  readonly threads: number;
  readonly sharedBytes: number;
  readonly groups: number;
  /** The most bytes of one allocation. */
  readonly allocation: number;
  readonly subgroup: number;
  /** Milliseconds of one tick of the device's clock, and the number of valid bits of a timestamp. */
  readonly tick: number;
  readonly timeBits: number;
}

const GPU = 1;
const INTEGRATED = 1;
const HAS_DOUBLES = 2;
const COMPUTES = 1;

/** Every device, in the system's order. */
export function zeDevices(api: LevelZero): ZeDevice[] {
  return api.handles('zeDriverGet').flatMap((driver) => {
    const version = new Uint32Array(new ArrayBuffer(4));
    api.call('zeDriverGetApiVersion', undefined, driver, version);
    const own = api.empty(TYPE.driverProperties, 40);
    api.call('zeDriverGetProperties', undefined, driver, own);
    const driverName = `Level Zero ${version[0]! >>> 16}.${version[0]! & 0xffff}, driver ${own.number(32)}`;
    return api.handles('zeDeviceGet', driver).map((handle) => describedZeDevice(api, driver, driverName, handle));
  });
}

function describedZeDevice(api: LevelZero, driver: Handle, driverName: string, handle: Handle): ZeDevice {
  const own = api.empty(TYPE.deviceProperties, 368);
  api.call('zeDeviceGetProperties', undefined, handle, own);
  const compute = api.empty(TYPE.computeProperties, 88);
  api.call('zeDeviceGetComputeProperties', undefined, handle, compute);
  const module = api.empty(TYPE.moduleProperties, 64);
  api.call('zeDeviceGetModuleProperties', undefined, handle, module);
  const memories = api.structs('zeDeviceGetMemoryProperties', handle, TYPE.memory, 296);
  const queues = api.structs('zeDeviceGetCommandQueueGroupProperties', handle, TYPE.queueGroup, 40);
  const queueGroup = queues.findIndex((view) => (view.getUint32(16, true) & COMPUTES) !== 0);
  const sizes = Array.from({ length: Math.min(8, compute.number(48)) }, (_, n) => compute.number(52 + 4 * n));
  const isGpu = own.number(16) === GPU;
  return {
    driver,
    handle,
    name: own.text(112, 256),
    driverName,
    memory: Math.max(own.wide(40), ...memories.map((view) => Number(view.getBigUint64(32, true)))),
    limits: {
      threads: Math.min(compute.number(16), compute.number(20)),
      sharedBytes: compute.number(44),
      groups: Math.min(2 ** 31 - 1, ...[32, 36, 40].map((at) => compute.number(at))),
      allocation: own.wide(40),
      // The compiler chooses one of the subgroup sizes; the profile assumes the middle one.
      subgroup: sizes.sort((a, b) => a - b)[Math.floor((sizes.length - 1) / 2)] ?? own.number(60),
      tick: 1e3 / own.wide(80),
      timeBits: own.number(92),
    },
    doubles: (module.number(20) & HAS_DOUBLES) !== 0,
    integrated: (own.number(28) & INTEGRATED) !== 0,
    fault: !isGpu ? 'is no GPU' : queueGroup < 0 ? 'has no queue that computes' : undefined,
    queueGroup,
    multiprocessors: Math.max(1, own.number(68) * own.number(72)),
  };
}

/** The first device that matches the option. @throws FftError `invalid-argument`, `device-unavailable` */
export function chooseZeDevice(found: readonly ZeDevice[], device: unknown): ZeDevice {
  isWanted(device, 'device', 0, '');
  const fitting = found.filter((each, n) => isWanted(device, 'device', n, each.name));
  const best = fitting.find(({ fault }) => fault === undefined);
  if (best) return best;
  const there = found.map(({ name, fault }, n) => `${n}: ${name}${fault ? `, which ${fault}` : ''}`).join('; ');
  const which = device === undefined ? '' : ` for device ${show(device)}`;
  throw new FftError(
    'device-unavailable',
    `There is no usable Level Zero device${which}. ${there ? `The system has ${there}.` : INSTALL}`,
  );
}

/** Lists the devices. All are GPUs, so nothing is loaded on a machine without any. @param library file of the loader library, for tests. */
export async function availability(_hardware?: boolean, library?: string): Promise<Availability> {
  const name = 'Level Zero';
  if (library === undefined && !(await mayHaveGpu()))
    return { name, available: false, reason: 'this system has no GPU' };
  try {
    const found = zeDevices(await levelZero(library));
    const devices = found.map(({ name, memory, driverName: driver, fault }) => ({
      name,
      memory,
      driver,
      ...(fault ? { fault } : {}),
    }));
    return { name: chooseZeDevice(found, undefined).name, available: true, devices };
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    return { name, available: false, reason: error.message };
  }
}
