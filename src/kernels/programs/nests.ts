/** The kernels of a builder's stores: one kernel for each nest of loops, or for each work-group, whose nests are its phases. */
import type { KernelBuilder } from './builder.ts';
import type { WorkGroup } from './environment.ts';
import { phasesOfGroup } from './groups.ts';
import { draftOf, draftsOf, type LaunchDraft, type LoopTarget, refuseLong } from './loops.ts';

/** The kernels of everything that a builder was given to store. */
export function kernelsOf(builder: KernelBuilder, target: LoopTarget): LaunchDraft[] {
  const buffers = new Map([...builder.memory].map(([name, array]) => [array, name] as const));
  const groups = new Set<WorkGroup>();
  return builder.nests.flatMap((nest) => {
    const { group } = nest;
    refuseLong(nest.stores);
    if (!group) return draftsOf(builder, nest, buffers, target);
    if (groups.has(group)) return [];
    groups.add(group);
    const own = builder.nests.filter((each) => each.group === group);
    return [draftOf(builder, phasesOfGroup(builder, group, own, target), buffers, target.precision)];
  });
}
