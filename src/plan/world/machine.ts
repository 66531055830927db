/** The speed of a cluster, in numbers: `world.measure()` finds them, and prices of exchanges and passes are made of them. */

import { bytesOnWire, sharedShape, type WorldProblem } from '../../problem/world/index.ts';
import type { DeviceProfile } from '../device/profile.ts';
import type { Decomposition } from './decompositions.ts';

/**
 * The way of numbers from rank to rank: `messages` of a library; `stores`, by which a pass writes straight into the memory of peers; or `copies`
 * between the memories of GPUs, which take their bandwidth from passes that run at the same time.
 */
export type Sending = 'messages' | 'stores' | 'copies';

/** Shortest run, in bytes, in which kernels store into a peer's memory: with shorter ones, copies by the driver are faster. */
const LEAST_RUN_BYTES = 64;

/** The faster way of sending between GPUs that reach one another's memory. */
export function sendingOfPeers(problem: WorldProblem, { stages }: Decomposition): 'stores' | 'copies' {
  const shortest = stages.slice(1).map(({ grid }) => {
    const parts = grid.find(({ dimension }) => dimension === 0)?.parts ?? 1;
    return Math.floor(sharedShape(problem.whole, 'output')[0]! / parts) * bytesOnWire(problem);
  });
  return Math.min(...shortest) < LEAST_RUN_BYTES ? 'copies' : 'stores';
}

/** A number for links inside a node, and one for links between nodes. */
export interface Links {
  readonly inside: number;
  readonly between: number;
}

export interface Machine {
  /** Seconds from the start of a message to its arrival. */
  readonly latency: Links;
  /** Bytes per second that a rank sends while it receives as many. */
  readonly bandwidth: Links;
  /** Bytes per second that a rank copies in its own memory. */
  readonly memory: number;
  /** Seconds per point for one unit of the planner's price. */
  readonly unit: number;
  /** The profile of every rank's device, by which passes are priced. */
  readonly profile: DeviceProfile;
}

type Rates = Omit<Machine, 'profile'>;

/** The usual rates of processes: copies through shared memory in a node, and a network of 100 Gbit/s. */
const PROCESSORS: Rates = {
  latency: { inside: 2e-6, between: 5e-6 },
  bandwidth: { inside: 4e9, between: 10e9 },
  memory: 6e9,
  unit: 1.2e-9,
};

/** The usual rates of GPUs: links of 400 GB/s between them, and a network of 400 Gbit/s for each. */
const GPUS: Rates = {
  latency: { inside: 8e-6, between: 15e-6 },
  bandwidth: { inside: 370e9, between: 45e9 },
  memory: 1.9e12,
  unit: 4e-12,
};

/** The usual numbers for a machine that has not been measured. */
export function usualMachine(profile: DeviceProfile): Machine {
  return { ...(profile.lockstep === 'vector' ? PROCESSORS : GPUS), profile };
}
