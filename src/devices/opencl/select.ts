/** Chooses an OpenCL device: lists the platforms and devices of the system, and applies the options of `openDevice`. */
import { FftError, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { Availability } from '../device.ts';
import { DEVICE_TYPE, type Handle, INFO, INSTALL, type OpenCl, openCl, VERSION } from './api.ts';

/** A device of the system. */
export interface ClDevice {
  readonly platform: Handle;
  readonly device: Handle;
  /** The names of the device and of its platform, for messages. */
  readonly name: string;
  readonly platformName: string;
  readonly type: 'gpu' | 'accelerator' | 'cpu';
  /** The reason why the device cannot be used; undefined if it can. */
  readonly fault: string | undefined;
}

/** The caller's choice: a number in the system's order, or a part of a name. */
interface Choice {
  readonly platform?: unknown;
  readonly device?: unknown;
}

/** Kinds of devices in order of preference. */
const RANK = { gpu: 0, accelerator: 1, cpu: 2 } as const;

/** Every device of the system, in the system's order. */
export function clDevices(cl: OpenCl): ClDevice[] {
  return cl.platforms().flatMap((platform) => {
    const platformName = cl.text('platform', platform, INFO.platformName);
    return cl.devices(platform).map((device) => candidate(cl, platform, platformName, device));
  });
}

function candidate(cl: OpenCl, platform: Handle, platformName: string, device: Handle): ClDevice {
  const type = cl.number('device', device, INFO.deviceType) ?? 0;
  const name = cl.text('device', device, INFO.deviceName);
  return {
    platform,
    device,
    name: platformName === '' ? name : `${name} (${platformName})`,
    platformName,
    type: type & DEVICE_TYPE.gpu ? 'gpu' : type & DEVICE_TYPE.cpu ? 'cpu' : 'accelerator',
    fault: faultOf(cl, device),
  };
}

function faultOf(cl: OpenCl, device: Handle): string | undefined {
  if (!cl.number('device', device, INFO.available)) return 'is not available';
  if (!cl.number('device', device, INFO.compilerAvailable)) return 'has no compiler';
  const version = cl.text('device', device, INFO.deviceVersion);
  const [, major = '0', minor = '0'] = VERSION.exec(version) ?? [];
  if (Number(major) > 1 || Number(minor) >= 2) return undefined;
  return `speaks ${version || 'no version of OpenCL'}; 1.2 is needed`;
}

/** The preferred device that matches the options. @throws FftError `invalid-argument`, `device-unavailable` */
export function chooseClDevice(found: readonly ClDevice[], { platform, device }: Choice): ClDevice {
  const platforms = [...new Set(found.map((each) => each.platform))];
  const named = found.filter((each) =>
    isWanted(platform, 'platform', platforms.indexOf(each.platform), each.platformName),
  );
  const fitting = named.filter((each, n) => isWanted(device, 'device', n, each.name));
  const [best] = fitting.filter(({ fault }) => fault === undefined).sort((a, b) => RANK[a.type] - RANK[b.type]);
  if (best) return best;
  const requested = [
    ...(platform === undefined ? [] : [`platform ${show(platform)}`]),
    ...(device === undefined ? [] : [`device ${show(device)}`]),
  ];
  const which = requested.length > 0 ? ` for ${requested.join(' and ')}` : '';
  const there = found.map(({ name, fault }, n) => `${n}: ${name}${fault ? `, which ${fault}` : ''}`).join('; ');
  throw new FftError(
    'device-unavailable',
    `There is no usable OpenCL device${which}. ${there ? `The system has ${there}.` : INSTALL}`,
  );
}

/** The names of all devices, the preferred one first. */
export async function openClAvailability(): Promise<Availability> {
  try {
    const found = clDevices(await openCl());
    const best = chooseClDevice(found, {});
    const others = found.filter((each) => each !== best);
    const name = [best, ...others].map((each) => each.name).join('; ');
    const cl = await openCl();
    const devices = found.map((each) => ({
      name: each.name,
      memory: cl.number('device', each.device, INFO.globalBytes) ?? 0,
      driver: `${cl.text('device', each.device, INFO.deviceVersion)}, ${cl.text('device', each.device, INFO.driverVersion)}`,
      ...(each.fault === undefined ? {} : { fault: each.fault }),
    }));
    return { name, available: true, devices, ...(best.type === 'cpu' ? { software: true } : {}) };
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    return { name: 'OpenCL', available: false, reason: error.message };
  }
}

/** The devices of a context that the caller brought. @throws FftError `launch-failed` if it is not a context */
export function contextDevices(cl: OpenCl, context: Handle): ClDevice[] {
  const size = new BigUint64Array(1);
  cl.call('clGetContextInfo', undefined, context, INFO.contextDevices, 0, null, size);
  const devices = new BigUint64Array(Number(size[0]) / 8);
  cl.call('clGetContextInfo', undefined, context, INFO.contextDevices, devices.byteLength, devices, null);
  return [...devices].map((device) => candidate(cl, 0n, '', device));
}
