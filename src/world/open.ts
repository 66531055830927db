/** Ways to open a world. */
import type { GpuExchange, GpuSources } from '../devices/fabric/gpus/fabric.ts';
import { openFabric } from '../devices/fabric/registry.ts';
import { readOptions } from '../engine/arguments/options.ts';
import { Device, type DeviceOptions, listDevices, type OpenableKind, openDevice } from '../engine/index.ts';
import { storeOfDevices } from '../engine/open.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';
import { agree } from './ranks/agreement.ts';
import { World } from './world.ts';

export interface MpiWorldOptions extends Pick<DeviceOptions, 'threads'> {
  /** Device that each rank computes on. Default `cpu`. */
  readonly device?: OpenableKind;
  /** File name of the MPI library. Default: the library of the launcher. */
  readonly library?: string;
  /** Whether a rank that ends without `close()` ends all other ranks, too. Default true. */
  readonly abort?: boolean;
}

export interface WorkersWorldOptions {
  /** Number of ranks, each with a thread of the processor. */
  readonly ranks: number;
}

export interface GpusWorldOptions {
  /** Numbers of the GPUs, in the order of the ranks. Default: all GPUs of this host. */
  readonly devices?: readonly number[];
  /**
   * Way of exchanging data. `peer`: the pass before an exchange stores into the memory of the other GPUs; `copy`: copies by the driver; `nccl`:
   * messages of NCCL. `auto` (default): `peer` where all GPUs reach one another, else `nccl` where it is installed, else `copy`.
   */
  readonly exchange?: GpuExchange;
  /** Driver of the GPUs. Default `cuda`. */
  readonly kind?: 'cuda' | 'hip';
}

const worldKinds = ['mpi', 'workers', 'gpus'] as const;
export type WorldKind = (typeof worldKinds)[number];

/**
 * Opens a world, a set of ranks that transform distributed tensors together.
 *
 * `mpi`: every process that `mpirun` has started calls it and holds one rank. `workers`: this thread holds all ranks, whose passes run on threads of
 * the processor. `gpus`: this thread holds all ranks, each of which is a GPU of this host.
 * @throws FftError (as a rejection) `world-unavailable`, `launcher-mismatch`, `rank-failed`, `invalid-argument`, `unknown-field`, and as `openDevice`
 */
export function openWorld(kind: 'mpi', options?: MpiWorldOptions): Promise<World>;
export function openWorld(kind: 'workers', options: WorkersWorldOptions): Promise<World>;
export function openWorld(kind: 'gpus', options?: GpusWorldOptions): Promise<World>;
export async function openWorld(
  kind: WorldKind,
  options: MpiWorldOptions | WorkersWorldOptions | GpusWorldOptions = {},
): Promise<World> {
  if (kind === 'mpi') return openMpiWorld(options as MpiWorldOptions);
  if (kind === 'workers') return openWorkersWorld(options as WorkersWorldOptions);
  if (kind === 'gpus') return openGpusWorld(options as GpusWorldOptions);
  const words = worldKinds.map((word) => `'${word}'`).join(', ');
  throw new FftError('invalid-argument', `There is no world ${show(kind)}; choose one of ${words}.`);
}

async function openMpiWorld(options: MpiWorldOptions): Promise<World> {
  const own = readOptions(options, { works: ['device', 'threads', 'library', 'abort'] }, 'openWorld');
  const { device: kind = 'cpu', threads = 1, library, abort = true } = own;
  const { fabric, perNode, rankOnNode } = await openFabric.mpi({ library, abort });
  let failure: unknown;
  const device = await openOwn(kind, threads, rankOnNode).catch((error: unknown) => {
    failure = error;
    return undefined;
  });
  try {
    await agree(fabric, 'openWorld', [{ about: JSON.stringify([kind, abort]), failure }]);
    return new World(fabric, [device!], perNode);
  } catch (error) {
    device?.close();
    await fabric.close();
    throw error;
  }
}

/** Opens the device of a rank. Ranks of a node with several GPUs take different GPUs, in turn. */
async function openOwn(kind: OpenableKind, threads: number, rankOnNode: number): Promise<Device> {
  if (kind === 'cpu') return openDevice(kind, { threads });
  const info = (await listDevices()).find((one) => one.kind === kind);
  const count = info?.available ? (info.devices?.length ?? 1) : 1;
  return count > 1 ? openDevice(kind, { device: rankOnNode % count }) : openDevice(kind);
}

async function openWorkersWorld(options: WorkersWorldOptions): Promise<World> {
  const { ranks } = readOptions(options, { works: ['ranks'] }, 'openWorld');
  if (!Number.isSafeInteger(ranks) || ranks < 1)
    throw new FftError('invalid-argument', `ranks is ${show(ranks)}; it must be a whole number of at least 1.`);
  const { fabric } = await openFabric.workers(ranks);
  // The passes of all ranks run on the same threads, one rank after another, and share one memory.
  const device = await openDevice('cpu', { threads: ranks });
  return new World(
    fabric,
    Array.from({ length: ranks }, () => device),
    ranks,
  );
}

/** @internal @param sources drivers, which tests replace */
export async function openGpusWorld(options: GpusWorldOptions, sources?: GpuSources): Promise<World> {
  const own = readOptions(options, { works: ['devices', 'exchange', 'kind'] }, 'openWorld');
  const { devices, exchange = 'auto', kind = 'cuda' } = own;
  const list: unknown = devices;
  const isList =
    list === undefined || (Array.isArray(list) && list.every((one) => Number.isSafeInteger(one) && one >= 0));
  if (!isList || (devices && new Set(devices).size < devices.length)) {
    const message = `devices is ${show(devices)}; it must be a list of different numbers of GPUs, from 0.`;
    throw new FftError('invalid-argument', message, { path: 'devices' });
  }
  const ways: readonly string[] = ['auto', 'peer', 'copy', 'nccl'];
  for (const [name, value, words] of [
    ['exchange', exchange, ways],
    ['kind', kind, ['cuda', 'hip'] as readonly string[]],
  ] as const) {
    if (words.includes(value)) continue;
    const message = `${name} is ${show(value)}; choose one of ${words.map((word) => `'${word}'`).join(', ')}.`;
    throw new FftError('invalid-argument', message, { path: name });
  }
  const store = await storeOfDevices();
  const fabric = await openFabric.gpus(
    { devices: devices && [...devices], exchange, kind: kind as 'cuda' | 'hip' },
    store,
    sources,
  );
  return new World(
    fabric,
    fabric.backends.map((backend) => new Device(backend)),
    fabric.size,
  );
}
