/** The world as its plans see it. */
import type { Fabric } from '../devices/fabric/fabric.ts';
import type { GpuFabric } from '../devices/fabric/gpus/fabric.ts';
import type { Opinion } from './agreement.ts';

export interface WorldHost {
  readonly fabric: Fabric;
  /** The fabric of GPUs, where ranks are GPUs of this process. */
  readonly gpus: GpuFabric | undefined;
  /** The number of ranks on a node. */
  readonly perNode: number;
  /** Runs calls one after another, in the same order on every rank. @throws FftError (as a rejection) `world-broken`, `world-unavailable` */
  inOrder<T>(call: () => Promise<T>): Promise<T>;
  agree(what: string, opinions: readonly Opinion[]): Promise<void>;
}
