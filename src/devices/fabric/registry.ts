/** The fabrics there are; what one of them needs is loaded when it is asked for. */
import { environmentVariable } from '../permissions.ts';
import type { Fabric } from './fabric.ts';
import type { MpiOptions } from './mpi/fabric.ts';

export interface OpenedFabric {
  readonly fabric: Fabric;
  /** Ranks of a node. */
  readonly perNode: number;
}

export const openFabric = {
  mpi: async (options: MpiOptions): Promise<OpenedFabric> => {
    const { mpiFabric } = await import('./mpi/fabric.ts');
    const fabric = await mpiFabric(options);
    const told = environmentVariable('OMPI_COMM_WORLD_LOCAL_SIZE') ?? environmentVariable('MPI_LOCALNRANKS');
    const perNode = Number(told);
    return { fabric, perNode: Number.isSafeInteger(perNode) && perNode >= 1 ? perNode : fabric.size };
  },
  workers: async (ranks: number): Promise<OpenedFabric> => {
    const { localFabric } = await import('./local.ts');
    return { fabric: localFabric('workers', ranks, 'shared memory'), perNode: ranks };
  },
};
