/** What plans need of their world. */
import type { Fabric } from '../devices/fabric/fabric.ts';
import type { GpuFabric } from '../devices/fabric/gpus/fabric.ts';
import type { Opinion } from './agreement.ts';

export interface WorldHost {
  readonly fabric: Fabric;
  /** The same where ranks are GPUs of this process. */
  readonly gpus: GpuFabric | undefined;
  /** Ranks of a node. */
  readonly perNode: number;
  /** Runs one call after another, as every rank does. @throws FftError (as a rejection) `world-broken`, `world-unavailable` */
  inOrder<T>(call: () => Promise<T>): Promise<T>;
  agree(what: string, opinions: readonly Opinion[]): Promise<void>;
}
