import { FftError, reasonOf, show } from '../../problem/errors.ts';
import { isWanted } from '../choice.ts';
import type { Availability, Backend } from '../device.ts';
import { isHandle, type LibraryRequest, loadKoffi, openLibrary } from '../native/library.ts';
import type { DeviceOptions, Overridden, WithStore } from '../options.ts';
import { DriverApi, type DriverVariant } from './api.ts';
import { CudaBackend } from './backend.ts';
import { type CompilerNames, type KernelCompiler, MissingCompiler, RuntimeCompiler } from './compiler.ts';

/** How to find and open a kind of GPU. */
export interface GpuKind {
  readonly driver: DriverVariant;
  readonly driverLibrary: LibraryRequest;
  readonly compiler: CompilerNames;
  compilerLibrary(): LibraryRequest;
  /** The compiler options for a device. */
  compilerOptions(
    compiler: Pick<KernelCompiler, 'architectures'>,
    version: { readonly major: number; readonly minor: number },
  ): readonly string[];
}

export type GpuOptions = Pick<DeviceOptions, 'device' | 'context' | 'stream'> & WithStore & Overridden;

/** Lists the devices by name; if there are none, gives the reason. */
export async function gpuAvailability(kind: GpuKind): Promise<Availability> {
  const { title } = kind.driver;
  let name = title;
  try {
    const api = await openDriver(kind);
    const driver = `${title} ${api.int('DriverGetVersion')}`;
    const devices = Array.from({ length: api.int('DeviceGetCount') }, (_, n) => {
      const { name, memory } = api.facts(api.int('DeviceGet', n));
      return { name, memory, driver };
    });
    const names = devices.map((each) => each.name);
    name = names.length === 0 ? title : `${title}: ${names.join(', ')}`;
    if (names.length === 0) return { name, available: false, reason: `the ${title} driver sees no device` };
    await openLibrary(kind.compilerLibrary());
    return { name, available: true, devices };
  } catch (error) {
    if (error instanceof FftError) return { name, available: false, reason: error.message };
    throw error;
  }
}

/** Opens a GPU. @throws FftError `device-unavailable`, `invalid-argument` */
export async function openGpu(kind: GpuKind, options: GpuOptions): Promise<Backend> {
  const wanted = checkedDevice(options);
  const koffi = await loadKoffi();
  const api = await openDriver(kind);
  const compiler = await openCompiler(kind);
  const { context, device, leave } = chooseContext(api, wanted, options.context);
  try {
    const { attribute } = api.facts(device);
    const compilerOptions = kind.compilerOptions(compiler, { major: attribute('major'), minor: attribute('minor') });
    const { stream, profile, store } = options;
    return new CudaBackend({ koffi, api, compiler, compilerOptions, device, context, stream, leave, store }, profile);
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Loads the compiler. A missing compiler becomes an error only when something has to be compiled, because plans that were compiled before run without
 * one.
 */
export async function openCompiler(kind: GpuKind): Promise<KernelCompiler> {
  try {
    return new RuntimeCompiler(await openLibrary(kind.compilerLibrary()), kind.compiler);
  } catch (error) {
    if (error instanceof FftError && error.code === 'device-unavailable') return new MissingCompiler(error);
    throw error;
  }
}

const opened = new Map<GpuKind, DriverApi>();

/** Opens the driver of a kind of GPU, once. @throws FftError `device-unavailable` */
export async function openDriver(kind: GpuKind): Promise<DriverApi> {
  const known = opened.get(kind);
  if (known) return known;
  const { title } = kind.driver;
  const api = new DriverApi(await openLibrary(kind.driverLibrary), kind.driver);
  try {
    api.call('Init', 0);
  } catch (cause) {
    const message = `The ${title} driver is there but does not start: ${reasonOf(cause)}`;
    throw new FftError('device-unavailable', message, { cause });
  }
  opened.set(kind, api);
  return api;
}

interface Context {
  readonly context: bigint;
  readonly device: number;
  readonly leave: () => void;
}

function chooseContext(api: DriverApi, wanted: number | string | undefined, context: bigint | undefined): Context {
  const count = api.int('DeviceGetCount');
  const { title } = api.variant;
  if (count === 0) throw new FftError('device-unavailable', `The ${title} driver sees no device.`);
  const names = Array.from({ length: count }, (_, n) => api.facts(api.int('DeviceGet', n)).name);
  const ordinal = names.findIndex((name, n) => isWanted(wanted, 'device', n, name));
  if (ordinal < 0) {
    throw new FftError(
      'device-unavailable',
      `Device ${show(wanted)} was asked for; the ${title} driver sees ${count}, numbered from 0: ${names.join(', ')}.`,
    );
  }
  const device = api.int('DeviceGet', ordinal);
  if (context === undefined) {
    const primary = api.handle('DevicePrimaryCtxRetain', device);
    return { context: primary, device, leave: () => api.raw.DevicePrimaryCtxRelease(device) };
  }
  api.call('CtxSetCurrent', context);
  const own = api.int('CtxGetDevice');
  if (wanted !== undefined && own !== device) {
    throw new FftError('invalid-argument', `The context given is one of device ${own}, not of device ${wanted}.`);
  }
  return { context, device: own, leave: () => undefined };
}

/** The option `device`, checked: a number or a part of a name. */
function checkedDevice({ device, context, stream }: GpuOptions): number | string | undefined {
  isWanted(device, 'device', 0, '');
  for (const [path, handle] of [
    ['context', context],
    ['stream', stream],
  ] as const) {
    if (handle === undefined || isHandle(handle, 1n)) continue;
    throw new FftError('invalid-argument', `${path} is ${show(handle)}; it must be a handle of the driver, a bigint.`, {
      path: path,
    });
  }
  if (stream !== undefined && context === undefined) {
    throw new FftError('invalid-argument', 'A stream belongs to a context: give that as context, too.', {
      path: 'stream',
    });
  }
  return device as number | string | undefined;
}
