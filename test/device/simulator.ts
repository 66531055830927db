/** The simulated GPU of simulator.c and simulator-nvrtc.c: built with the system's C compiler, opened as a device of kind `cuda`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda } from '../../src/devices/cuda/index.ts';
import { type GpuKind, type GpuOptions, openGpu } from '../../src/devices/cuda/open.ts';
import type { Backend } from '../../src/devices/device.ts';
import { type Koffi, type LibraryRequest, loadKoffi } from '../../src/devices/native/library.ts';
import { findProgram, missing } from '../support/optional.ts';

/** What there is at the moment: objects of each kind, bytes of device memory; and what has happened so far. */
export interface Counts {
  readonly memory: number;
  readonly host: number;
  readonly streams: number;
  readonly events: number;
  readonly modules: number;
  readonly graphs: number;
  readonly contexts: number;
  readonly programs: number;
  readonly bytes: number;
  readonly launches: number;
  readonly graphLaunches: number;
  /** Broken guards, barriers that not all threads reached, addresses freed that were not allocated. */
  readonly faults: number;
}

const NAMES = [
  'memory',
  'host',
  'streams',
  'events',
  'modules',
  'graphs',
  'contexts',
  'programs',
  'bytes',
  'launches',
  'graphLaunches',
  'faults',
] as const;

export interface Simulator {
  /** @param compiler false where it is not installed. */
  open(options?: GpuOptions, compiler?: boolean): Promise<Backend>;
  /** How it is found, for whoever needs its compiler alone. */
  readonly kind: GpuKind;
  /** Its library, in which its NCCL is, too. */
  readonly library: LibraryRequest;
  counts(): Counts;
  /** How many devices there are (at first one), and whether they reach one another's memory. */
  setDevices(count: number, reach?: boolean): void;
  /** Messages that its NCCL has moved. */
  ncclMessages(): number;
  /** How much device memory there is. */
  setMemory(bytes: number): void;
  /** The next call of a function of the driver ends with this status. */
  failNext(name: string, status: number): void;
  /** Every call ends with this status; 0 ends that. */
  lose(status: number): void;
  /**
   * What was submitted since the last call: `l` for a launch, `r` for an event that is recorded, `w` for a wait, each with
   * the number of its stream, in order.
   */
  history(): string[];
  /** A function of the driver, for what a caller would do. */
  driver(name: string, parameters: readonly string[]): (...values: unknown[]) => number;
  /** Removes its files. */
  remove(): void;
}

/** Undefined where there is no compiler, or no way to call what it makes: tests on it are to be skipped. */
export async function buildSimulator(): Promise<Simulator | undefined> {
  // The simulated compiler of kernels runs c++.
  const [cc, cpp] = [findProgram(['cc']), findProgram(['c++'])];
  if (missing('cpp', cc && cpp ? undefined : `no ${cc ? 'c++' : 'cc'} is on the PATH`)) return undefined;
  const koffi = await loadKoffi().catch((error: Error) => error);
  if (koffi instanceof Error) {
    missing('koffi', koffi.message);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-simulator-'));
  const here = dirname(fileURLToPath(import.meta.url));
  const sources = ['simulator.c', 'simulator-nvrtc.c'].map((name) => join(here, name));
  const library = join(folder, 'simulator.so');
  const options = ['-O2', '-w', '-shared', '-fPIC', '-o', library, ...sources, '-ldl', '-lpthread'];
  const built = spawnSync(cc!, options, { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the simulated GPU does not compile: ${built.error ?? built.stderr}`);
  return openSimulator(koffi, folder, library);
}

function openSimulator(koffi: Koffi, folder: string, library: string): Simulator {
  process.env.OMNIFFT_SIMULATOR_FOLDER = folder;
  const handle = koffi.load(library);
  // The C library keeps the environment it was started with.
  koffi
    .load(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6')
    .func('setenv', 'int', ['str', 'str', 'int'])('OMNIFFT_SIMULATOR_FOLDER', folder, 1);
  const historyOf = handle.func('sim_history', 'str', []);
  const countsOf = handle.func('sim_counts', 'void', ['void *']);
  const request = { names: [library], what: 'The simulator', install: '' };
  return {
    library: request,
    kind: { ...cuda, driverLibrary: request, compilerLibrary: () => request },
    open(given = {}, compiler = true) {
      const compilerLibrary = () => (compiler ? request : { ...request, names: [`${library}.missing`], what: 'NVRTC' });
      return openGpu({ ...cuda, driverLibrary: request, compilerLibrary }, given);
    },
    counts() {
      const values = new BigInt64Array(NAMES.length);
      countsOf(values);
      return Object.fromEntries(NAMES.map((name, n) => [name, Number(values[n])])) as unknown as Counts;
    },
    setDevices: (count, reach = true) => void handle.func('sim_devices', 'void', ['int', 'int'])(count, reach ? 1 : 0),
    ncclMessages: () => Number(handle.func('sim_nccl', 'int64_t', [])()),
    setMemory: handle.func('sim_memory', 'void', ['int64_t']),
    failNext: handle.func('sim_fail', 'void', ['str', 'int']),
    lose: handle.func('sim_lose', 'void', ['int']),
    history: () => (historyOf() as string).split(' ').filter((entry) => entry !== ''),
    driver: (name, parameters) => handle.func(name, 'int', [...parameters]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
