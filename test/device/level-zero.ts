/** The driver of Level Zero in level-zero.c: built with the system's C compiler, opened as a device of kind `level-zero`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../../src/devices/device.ts';
import { create, type LevelZeroOptions } from '../../src/devices/level-zero/index.ts';
import { type Koffi, loadKoffi } from '../../src/devices/native/library.ts';
import { noOpenCl } from '../support/opencl.ts';
import { findProgram, hidden, missing } from '../support/optional.ts';
import { noTranslator } from '../support/spirv.ts';

/** Objects and memory that there are at the moment, and what has happened so far. */
const NAMES = [
  ...['contexts', 'lists', 'pools', 'events', 'modules', 'logs', 'kernels'],
  ...['memory', 'launches', 'faults'],
] as const;
export type Counts = Readonly<Record<(typeof NAMES)[number], number>>;

export interface LevelZeroStandIn {
  /** The file of the library. */
  readonly library: string;
  open(options?: LevelZeroOptions): Promise<Backend>;
  counts(): Counts;
  /** What was wrong with the calls so far: destroyed twice, used after that, freed while in use … */
  faults(): string;
  setMemory(bytes: number): void;
  setIntegrated(yes: boolean): void;
  setDrivers(count: number): void;
  /** The next call of a function ends with this status. */
  failNext(name: string, status: number): void;
  /** Every call ends with this status; 0 ends that. */
  lose(status: number): void;
  /** A function of the driver, for what a caller would do. */
  driver(name: string, parameters: readonly string[]): (...values: unknown[]) => number;
  /** Removes its files. */
  remove(): void;
}

/** Undefined where something is missing that it is built of or runs kernels by: tests on it are to be skipped. */
export async function buildLevelZero(): Promise<LevelZeroStandIn | undefined> {
  const cc = findProgram(['cc']);
  const header = !hidden && existsSync('/usr/include/level_zero/ze_api.h');
  const without = [
    missing('cpp', cc ? undefined : 'no cc is on the PATH'),
    missing('levelZero', header ? undefined : 'there is no level_zero/ze_api.h'),
    noOpenCl,
    noTranslator,
  ];
  if (without.some((reason) => reason !== undefined)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-level-zero-'));
  const source = join(dirname(fileURLToPath(import.meta.url)), 'level-zero.c');
  const library = join(folder, 'libze_loader.so.1');
  const options = ['-O1', '-w', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'];
  const built = spawnSync(cc!, options, { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the stand-in does not compile: ${built.error ?? built.stderr}`);
  return standIn(await loadKoffi(), folder, library);
}

function standIn(koffi: Koffi, folder: string, library: string): LevelZeroStandIn {
  const handle = koffi.load(library);
  const countsOf = handle.func('sim_counts', 'void', ['void *']);
  const integrate = handle.func('sim_integrated', 'void', ['int']);
  return {
    library,
    open: (options = {}) => create({ ...options, library }),
    counts() {
      const values = new BigInt64Array(NAMES.length);
      countsOf(values);
      return Object.fromEntries(NAMES.map((name, n) => [name, Number(values[n])])) as Counts;
    },
    faults: handle.func('sim_faults', 'str', []),
    setMemory: handle.func('sim_memory', 'void', ['int64_t']),
    setIntegrated: (yes) => integrate(Number(yes)),
    setDrivers: handle.func('sim_drivers', 'void', ['int']),
    failNext: handle.func('sim_fail', 'void', ['str', 'int']),
    lose: handle.func('sim_lose', 'void', ['int']),
    driver: (name, parameters) => handle.func(name, 'int', [...parameters]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
