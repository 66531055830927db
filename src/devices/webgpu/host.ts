/**
 * The entry to WebGPU: `navigator.gpu`, or in Node the package `webgpu` (Dawn), loaded on first use. Bundlers do not see
 * the names of Node's packages, so that a bundle for browsers contains none.
 */
import { reasonOf } from '../../problem/errors.ts';
import { nodeModule } from '../cpu/host.ts';
import { canImport } from '../cpu/import.ts';
import { environmentVariable } from '../permissions.ts';
import { softwareDriver } from './software.ts';

/** The entries of a process, one of each kind, because Dawn does not support being created again and again. */
interface Hosts {
  real?: Promise<GPU>;
  software?: Promise<GPU>;
  /** The entries from which adapters came: see `keep`. */
  kept?: Set<GPU>;
}

/**
 * Kernels write all workgroup memory that they read, so Dawn need not clear it: compilers of some drivers take ten times
 * as long for the clearing as for the kernel. Timestamps are not quantized, because `measure` needs their full resolution.
 */
const DAWN_OPTIONS = ['enable-dawn-features=disable_workgroup_init', 'disable-dawn-features=timestamp_quantization'];

const KEY = Symbol.for('omnifft.webgpu.hosts');
// The entries are on the global object, because a process may hold several copies of this module.
const hosts: Hosts = ((globalThis as { [KEY]?: Hosts })[KEY] ??= {});

const isNode = canImport && typeof process !== 'undefined' && Boolean(process.versions?.node);

/** Whether the environment asks for a software adapter, which is the default if the caller says nothing. */
export function softwareByDefault(): boolean {
  return environmentVariable('OMNIFFT_SOFTWARE_GPU') === '1';
}

/**
 * The entry to WebGPU here.
 * @throws Error that says what is missing.
 */
export async function findGpu(software: boolean): Promise<GPU> {
  const built = globalThis.navigator?.gpu;
  if (built) return built;
  if (!isNode) throw new Error(whyNoGpu());
  if (software) return (hosts.software ??= forgetFailure('software', createSoftware()));
  return (hosts.real ??= forgetFailure('real', createReal()));
}

/** The reason why a runtime other than Node has no WebGPU, which only the runtime itself can bring. */
function whyNoGpu(): string {
  if (typeof document === 'undefined' && typeof location === 'undefined')
    return 'this JavaScript runtime has no WebGPU';
  return globalThis.isSecureContext === false
    ? 'WebGPU is there for secure contexts only, and this page came without https'
    : 'this browser has no WebGPU';
}

/**
 * Keeps an entry to WebGPU alive as long as the process. Dawn's instance ends when it is garbage-collected, and crashes the process if
 * any of its objects is still in use, or is collected after it; there is no way to know when the last of them is gone.
 */
export function keep(gpu: GPU): void {
  hosts.kept ??= new Set();
  hosts.kept.add(gpu);
}

/** Forgets an entry that failed to open, because it may be available the next time. */
function forgetFailure(kind: keyof Hosts, host: Promise<GPU>): Promise<GPU> {
  host.catch(() => delete hosts[kind]);
  return host;
}

async function createReal(): Promise<GPU> {
  if (!(await hasDriver())) throw new Error('there is no Vulkan driver on this system');
  if (process.platform === 'linux') await loadVulkan();
  return createDawn();
}

async function createSoftware(): Promise<GPU> {
  const { driver } = await softwareDriver();
  await loadVulkan();
  const { set, isOwn } = await environment();
  // An installed driver may offer no adapter, which happened once in many runs on a busy machine: threads that start at the same
  // time overwrite each other's environment variable.
  for (let attempt = 1; ; attempt++) {
    const gpu = await createDawn();
    if (await offersAdapter(gpu, driver, set)) return gpu;
    if (attempt < ATTEMPTS) continue;
    if (isOwn) return gpu;
    throw new Error(
      "in a worker thread SwiftShader needs the package koffi (npm install koffi) or the process's environment " +
        '(new Worker(file, { env: SHARE_ENV }))',
    );
  }
}

/** The most attempts to get a software adapter. */
const ATTEMPTS = 3;

/** The loader looks for drivers when the first adapter is asked for. */
async function offersAdapter(gpu: GPU, driver: string, set: SetVariable): Promise<boolean> {
  const before = process.env.VK_DRIVER_FILES;
  set('VK_DRIVER_FILES', driver);
  try {
    return (await gpu.requestAdapter()) !== null;
  } finally {
    set('VK_DRIVER_FILES', before);
  }
}

export type SetVariable = (name: string, value: string | undefined) => void;

export interface Environment {
  readonly set: SetVariable;
  /** Whether the variables are the process's own; false if they may be a copy. */
  readonly isOwn: boolean;
}

/** The environment variables that libraries see: `process.env` of a worker thread is a copy that they do not see. */
export async function environment(): Promise<Environment> {
  const threads = await nodeModule<typeof import('node:worker_threads')>('node:worker_threads');
  const isMain = threads!.isMainThread;
  const koffi = isMain ? undefined : await importKoffi().catch(() => undefined);
  if (!koffi) {
    const set: SetVariable = (name, value) => {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    };
    return { set, isOwn: isMain };
  }
  const everything = koffi.load(null);
  const setenv = everything.func('setenv', 'int', ['str', 'str', 'int']);
  const unsetenv = everything.func('unsetenv', 'int', ['str']);
  return { set: (name, value) => (value === undefined ? unsetenv(name) : setenv(name, value, 1)), isOwn: true };
}

/** The functions used from the package `webgpu`. Its own types would need the whole package, 130 MB, which only its users install. */
interface Dawn {
  create(options: string[]): GPU;
}

async function createDawn(): Promise<GPU> {
  let dawn: Dawn | undefined;
  try {
    dawn = await nodeModule<Dawn>('webgpu');
  } catch (cause) {
    throw new Error(`the package webgpu cannot be loaded (${reasonOf(cause)}); npm install webgpu`, { cause });
  }
  return dawn!.create(DAWN_OPTIONS);
}

/** Imports koffi without `native/`, so that bundlers for browsers do not see the name. @throws Error if it is not installed. */
async function importKoffi() {
  return (await nodeModule<typeof import('koffi')>('koffi'))?.default;
}

/** Makes Vulkan's loader known to Dawn: the system's loader if there is one, else the loader that comes with SwiftShader. */
async function loadVulkan(): Promise<void> {
  try {
    const koffi = await importKoffi();
    const load = (path: string) => koffi?.load(path, { global: true });
    try {
      load('libvulkan.so.1');
    } catch {
      load((await softwareDriver()).loader);
    }
  } catch {
    // No loader of Vulkan could be opened. Dawn then searches for one itself, and reports that it has no adapter if it finds none.
  }
}

/** Device files of GPUs in Linux's /dev, outside /dev/dri: drivers of NVIDIA and AMD, Windows under WSL, phones and boards. */
const GPUS = /^(nvidiactl|kfd|dxg|kgsl|mali|pvr|nvhost|nvmap)/;

/** Whether there may be a hardware GPU. If not, drivers are not asked, because that takes time and prints warnings. */
export async function mayHaveGpu(): Promise<boolean> {
  // A runtime with its own WebGPU, such as Deno, is asked directly: reading files may need a permission that is not granted.
  if (!isNode || globalThis.navigator?.gpu || process.platform !== 'linux' || softwareByDefault() || driverIsNamed()) {
    return true;
  }
  const { existsSync, readdirSync } = (await nodeModule<typeof import('node:fs')>('node:fs'))!;
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  try {
    // A server's console display is in /dev/dri, too, but has no render node.
    return list('/dev').some((name) => GPUS.test(name)) || list('/dev/dri').some((name) => name.startsWith('renderD'));
  } catch {
    // Some sandboxes forbid reading /dev.
    return true;
  }
}

function driverIsNamed(): boolean {
  const { env } = process;
  return Boolean(env.VK_DRIVER_FILES || env.VK_ICD_FILENAMES || env.VK_ADD_DRIVER_FILES);
}

/** Whether a Vulkan driver has announced itself by a file. Without one Dawn is not asked, because that takes time and prints warnings. */
async function hasDriver(): Promise<boolean> {
  if (process.platform !== 'linux' || driverIsNamed()) return true;
  const { env } = process;
  const { existsSync, readdirSync } = (await nodeModule<typeof import('node:fs')>('node:fs'))!;
  const home = env.HOME ?? '';
  const roots = [
    ...(env.XDG_CONFIG_HOME ?? `${home}/.config`).split(':'),
    ...(env.XDG_CONFIG_DIRS ?? '/etc/xdg').split(':'),
    ...(env.XDG_DATA_HOME ?? `${home}/.local/share`).split(':'),
    ...(env.XDG_DATA_DIRS ?? '/usr/local/share:/usr/share').split(':'),
    ...['/etc', '/usr/local/etc', '/usr/local/share', '/usr/share'],
  ];
  return roots.some((root) => {
    const folder = `${root}/vulkan/icd.d`;
    return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.json'));
  });
}
