/** Ways to open a world. */
import { openFabric } from '../devices/fabric/registry.ts';
import { readOptions } from '../engine/arguments/options.ts';
import { type Device, type DeviceOptions, listDevices, type OpenableKind, openDevice } from '../engine/index.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';
import { agree } from './agreement.ts';
import { World } from './world.ts';

export interface MpiWorldOptions extends Pick<DeviceOptions, 'threads'> {
  /** What each rank computes on. Default `cpu`. */
  readonly device?: OpenableKind;
  /** File of the MPI library. Default: that of the launcher. */
  readonly library?: string;
  /** Whether a rank that ends without `close()` ends all others, too. Default true. */
  readonly abort?: boolean;
}

export interface WorkersWorldOptions {
  /** How many there are, each with a thread of the processor. */
  readonly ranks: number;
}

const worldKinds = ['mpi', 'workers', 'gpus'] as const;
export type WorldKind = (typeof worldKinds)[number];

/**
 * Opens a world.
 *
 * `mpi`: in each process that `mpirun` has started. `workers`: this thread holds all ranks, whose passes run on threads of the processor.
 * @throws FftError (as a rejection) `world-unavailable`, `launcher-mismatch`, `rank-failed`, `invalid-argument`, `unknown-field`, and as
 * `openDevice`
 */
export function openWorld(kind: 'mpi', options?: MpiWorldOptions): Promise<World>;
export function openWorld(kind: 'workers', options: WorkersWorldOptions): Promise<World>;
export async function openWorld(kind: WorldKind, options: MpiWorldOptions | WorkersWorldOptions = {}): Promise<World> {
  if (kind === 'mpi') return openMpiWorld(options as MpiWorldOptions);
  if (kind === 'workers') return openWorkersWorld(options as WorkersWorldOptions);
  if (kind === 'gpus') {
    const message = "A world of 'gpus' is not there yet: start a process for each GPU with mpirun, and open 'mpi'.";
    throw new FftError('unsupported-feature', message);
  }
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

/** Of several GPUs of a node each rank takes its own, in turn. */
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
