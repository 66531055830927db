/** The kinds of fabrics; the modules of a kind are loaded when it is asked for. */
import type { CodeStore } from '../code-cache/store.ts';
import { environmentVariable } from '../permissions.ts';
import type { Fabric } from './fabric.ts';
import type { GpuFabric, GpuOptions, GpuSources } from './gpus/fabric.ts';
import type { MpiOptions } from './mpi/fabric.ts';

export interface OpenedFabric {
  readonly fabric: Fabric;
  /** Number of ranks on a node. */
  readonly perNode: number;
  /** The index of this process's first rank among the ranks of its node, from 0: ranks of one node choose different GPUs by it. */
  readonly rankOnNode: number;
}

/** A count that the launcher passes to each process in an environment variable; Open MPI and MPICH have different names for it. */
function launcherCount(...names: readonly string[]): number | undefined {
  const text = names.map(environmentVariable).find((value) => value !== undefined);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export const openFabric = {
  mpi: async (options: MpiOptions): Promise<OpenedFabric> => {
    const { mpiFabric } = await import('./mpi/fabric.ts');
    const fabric = await mpiFabric(options);
    const perNode = Math.max(1, launcherCount('OMPI_COMM_WORLD_LOCAL_SIZE', 'MPI_LOCALNRANKS') ?? fabric.size);
    const rankOnNode = launcherCount('OMPI_COMM_WORLD_LOCAL_RANK', 'MPI_LOCALRANKID') ?? fabric.ranks[0]! % perNode;
    return { fabric, perNode, rankOnNode };
  },
  gpus: async (
    options: GpuOptions & { readonly kind: 'cuda' | 'hip' },
    store: CodeStore | undefined,
    sources?: GpuSources,
  ): Promise<GpuFabric> => {
    const [{ openGpuFabric }, kinds] = await Promise.all([
      import('./gpus/fabric.ts'),
      options.kind === 'cuda' ? import('../cuda/index.ts') : import('../hip/index.ts'),
    ]);
    return openGpuFabric(sources ?? { kind: 'cuda' in kinds ? kinds.cuda : kinds.hip }, options, store);
  },
  workers: async (ranks: number): Promise<OpenedFabric> => {
    const { localFabric } = await import('./local.ts');
    return { fabric: localFabric('workers', ranks, 'shared memory'), perNode: ranks, rankOnNode: 0 };
  },
};
