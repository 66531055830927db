/**
 * Where WebGPU comes from: `navigator.gpu`, or in Node the package `webgpu` (Dawn), loaded on first use. No bundler sees
 * the names of Node's packages, so that a bundle for browsers holds none of them.
 */
import { reasonOf } from '../../problem/errors.ts';
import { nodeModule } from '../cpu/host.ts';
import { canImport } from '../cpu/import.ts';
import { environmentVariable } from '../permissions.ts';
import { softwareDriver } from './software.ts';

/** One of each in a process: Dawn does not like to be created again and again. */
interface Hosts {
  real?: Promise<GPU>;
  software?: Promise<GPU>;
  /** All that adapters came from, see `keep`. */
  kept?: Set<GPU>;
}

/**
 * Kernels write all workgroup memory that they read, so Dawn need not clear it: compilers of some drivers take ten times
 * as long over the clearing as over the kernel. Timestamps are for `measure`, which wants all their digits.
 */
const DAWN_OPTIONS = ['enable-dawn-features=disable_workgroup_init', 'disable-dawn-features=timestamp_quantization'];

const KEY = Symbol.for('omnifft.webgpu.hosts');
// On the global object, because a process may hold several copies of this module.
const hosts: Hosts = ((globalThis as { [KEY]?: Hosts })[KEY] ??= {});

const isNode = canImport && typeof process !== 'undefined' && Boolean(process.versions?.node);

/** What the environment asks for where the caller says nothing. */
export function softwareByDefault(): boolean {
  return environmentVariable('OMNIFFT_SOFTWARE_GPU') === '1';
}

/**
 * The entry to WebGPU here.
 * @throws Error saying what is missing.
 */
export async function findGpu(software: boolean): Promise<GPU> {
  const built = globalThis.navigator?.gpu;
  if (built) return built;
  if (!isNode) throw new Error(whyNoGpu());
  if (software) return (hosts.software ??= forgetFailure('software', createSoftware()));
  return (hosts.real ??= forgetFailure('real', createReal()));
}

/** Outside Node, where only the runtime itself can have it. */
function whyNoGpu(): string {
  if (typeof document === 'undefined' && typeof location === 'undefined')
    return 'this JavaScript runtime has no WebGPU';
  return globalThis.isSecureContext === false
    ? 'WebGPU is there for secure contexts only, and this page came without https'
    : 'this browser has no WebGPU';
}

/**
 * Holds an entry to WebGPU as long as the process lasts. Dawn's ends when it is collected, and takes the process with it where
 * anything that came from it is at work, or only collected after it; nobody knows when the last of that is gone.
 */
export function keep(gpu: GPU): void {
  hosts.kept ??= new Set();
  hosts.kept.add(gpu);
}

/** What is missing may be there the next time. */
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
  // Seen once in many runs on a busy machine: the driver was there, and offered nothing. Threads that begin at the same
  // time take the variable away from one another.
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

/** Times that a software adapter is asked for before there is none. */
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
  /** False where it may be a copy. */
  readonly isOwn: boolean;
}

/** Where libraries look for variables: `process.env` of a worker thread is a copy that none of them sees. */
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

/** What is called of the package webgpu. Its own types take the whole package, 130 MB, which only its users install. */
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

/** Not by `native/`, so that no bundler for browsers sees the name. @throws Error where it is not installed. */
async function importKoffi() {
  return (await nodeModule<typeof import('koffi')>('koffi'))?.default;
}

/** Makes Vulkan's loader known to Dawn: the system's where it has one, else the one that comes with SwiftShader. */
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
    // Without koffi or any loader: Dawn looks for itself, and says that there is no adapter.
  }
}

/** GPUs of Linux as files in /dev, but for /dev/dri: NVIDIA's and AMD's own, Windows' underneath, those of phones and boards. */
const GPUS = /^(nvidiactl|kfd|dxg|kgsl|mali|pvr|nvhost|nvmap)/;

/** False where there can be none but in software: asking drivers that find none takes its time and prints warnings. */
export async function mayHaveGpu(): Promise<boolean> {
  // Where the runtime brings WebGPU along, as Deno does, nothing else is asked, for which permission may lack.
  if (!isNode || globalThis.navigator?.gpu || process.platform !== 'linux' || softwareByDefault() || driverIsNamed()) {
    return true;
  }
  const { existsSync, readdirSync } = (await nodeModule<typeof import('node:fs')>('node:fs'))!;
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  try {
    // What a server shows its console with is in /dev/dri, too, but renders nothing.
    return list('/dev').some((name) => GPUS.test(name)) || list('/dev/dri').some((name) => name.startsWith('renderD'));
  } catch {
    // Some sandboxes do not let anybody look.
    return true;
  }
}

function driverIsNamed(): boolean {
  const { env } = process;
  return Boolean(env.VK_DRIVER_FILES || env.VK_ICD_FILENAMES || env.VK_ADD_DRIVER_FILES);
}

/** Vulkan's drivers announce themselves by files; asking Dawn without any takes its time and prints warnings. */
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
