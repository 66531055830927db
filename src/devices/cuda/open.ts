/** Finding a driver, a compiler and a device, and opening them: what `cuda` and `hip` have in common. */
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError, reasonOf, show } from '../../problem/errors.ts';
import type { Availability, Backend } from '../device.ts';
import { type LibraryRequest, loadKoffi, openLibrary } from '../native/library.ts';
import { GpuBackend } from './backend.ts';
import { type CompilerNames, RuntimeCompiler } from './compiler.ts';
import { Driver, type DriverNames } from './driver.ts';

/** How a kind of GPU is found and named. */
export interface GpuKind {
  readonly driver: DriverNames;
  readonly driverLibrary: LibraryRequest;
  readonly compiler: CompilerNames;
  compilerLibrary(): LibraryRequest;
  /** What the compiler is told for a device. */
  compilerOptions(compiler: RuntimeCompiler, driver: Driver, device: number): readonly string[];
}

/** What `openDevice('cuda' | 'hip', …)` takes. */
export interface GpuOptions {
  /** Number of the device; default 0, or that of the caller's context. */
  readonly device?: unknown;
  /** A context of the caller's, which stays open; default: the device's primary context. */
  readonly context?: bigint | undefined;
  /** A stream of the caller's in that context, for all work of this device; default: one of its own. */
  readonly stream?: bigint | undefined;
  /** Replaces parts of the profile that the planner sees. */
  readonly profile?: Partial<DeviceProfile> | undefined;
}

/** Lists devices by name; where there is none, says what is missing. */
export async function gpuAvailability(kind: GpuKind): Promise<Availability> {
  const { title } = kind.driver;
  let name = title;
  try {
    const driver = await openDriver(kind);
    const names = Array.from({ length: driver.deviceCount }, (_, n) => driver.deviceName(driver.device(n)));
    name = names.length === 0 ? title : `${title}: ${names.join(', ')}`;
    if (names.length === 0) return { name, available: false, reason: `the ${title} driver sees no device` };
    await openLibrary(kind.compilerLibrary());
    return { name, available: true };
  } catch (error) {
    if (error instanceof FftError) return { name, available: false, reason: error.message };
    throw error;
  }
}

/** @throws FftError `device-unavailable`, `invalid-argument` */
export async function openGpu(kind: GpuKind, options: GpuOptions): Promise<Backend> {
  const wanted = checkOptions(options);
  const koffi = await loadKoffi();
  const driver = await openDriver(kind);
  const compiler = new RuntimeCompiler(await openLibrary(kind.compilerLibrary()), kind.compiler);
  const { context, device, leave } = chooseContext(driver, wanted, options.context);
  try {
    const compilerOptions = kind.compilerOptions(compiler, driver, device);
    const { stream, profile } = options;
    return new GpuBackend({ koffi, driver, compiler, compilerOptions, device, context, stream, leave, profile });
  } catch (error) {
    leave();
    throw error;
  }
}

const drivers = new Map<GpuKind, Driver>();

async function openDriver(kind: GpuKind): Promise<Driver> {
  const known = drivers.get(kind);
  if (known) return known;
  const { title } = kind.driver;
  const driver = new Driver(await openLibrary(kind.driverLibrary), kind.driver);
  try {
    driver.init();
  } catch (cause) {
    const message = `The ${title} driver is there but does not start: ${reasonOf(cause)}`;
    throw new FftError('device-unavailable', message, { cause });
  }
  drivers.set(kind, driver);
  return driver;
}

interface Context {
  readonly context: bigint;
  readonly device: number;
  readonly leave: () => void;
}

function chooseContext(driver: Driver, wanted: number | undefined, context: bigint | undefined): Context {
  const count = driver.deviceCount;
  const { title } = driver.names;
  if (count === 0) throw new FftError('device-unavailable', `The ${title} driver sees no device.`);
  const ordinal = wanted ?? 0;
  if (ordinal >= count) {
    throw new FftError(
      'device-unavailable',
      `Device ${ordinal} was asked for; the ${title} driver sees ${count}, numbered from 0.`,
    );
  }
  const device = driver.device(ordinal);
  if (context === undefined) {
    return { context: driver.retainContext(device), device, leave: () => driver.releaseContext(device) };
  }
  driver.setContext(context);
  const own = driver.contextDevice();
  if (wanted !== undefined && own !== device) {
    throw new FftError('invalid-argument', `The context given is one of device ${own}, not of device ${wanted}.`);
  }
  return { context, device: own, leave: () => undefined };
}

/** The number of the device that is wanted. */
function checkOptions({ device, context, stream }: GpuOptions): number | undefined {
  if (device !== undefined && !(typeof device === 'number' && Number.isSafeInteger(device) && device >= 0)) {
    throw new FftError('invalid-argument', `device is ${show(device)}; it must be a whole number from 0 up.`, {
      path: 'device',
    });
  }
  for (const [path, handle] of Object.entries({ context, stream })) {
    if (handle === undefined || (typeof handle === 'bigint' && handle > 0n && handle < 2n ** 64n)) continue;
    throw new FftError('invalid-argument', `${path} is ${show(handle)}; it must be a handle of the driver, a bigint.`, {
      path,
    });
  }
  if (stream !== undefined && context === undefined) {
    throw new FftError('invalid-argument', 'A stream belongs to a context: give that as context, too.', {
      path: 'stream',
    });
  }
  return device;
}
