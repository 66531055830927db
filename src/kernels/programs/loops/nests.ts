/** The kernels of a builder's stores: one kernel for each nest of loops, or for each work-group, whose nests are its phases. */
import { type ArrayRef, reachable } from '../../../ir/index.ts';
import type { WorkGroup } from '../expressions/environment.ts';
import type { KernelBuilder, LoopNest } from './builder.ts';
import { phasesOfGroup } from './groups.ts';
import { draftOf, type LaunchDraft, type LoopTarget, lanesLoop, refuseLong, singleDraft, untiled } from './loops.ts';
import { tiledDrafts } from './tiling.ts';

/** The kernels of everything that a builder was given to store. */
export function kernelsOfNests(builder: KernelBuilder, target: LoopTarget): LaunchDraft[] {
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

function draftsOf(
  builder: KernelBuilder,
  nest: LoopNest,
  buffers: Map<ArrayRef, string>,
  target: LoopTarget,
): LaunchDraft[] {
  const { loops, stores } = nest;
  const along = lanesLoop(loops, stores, target.profile.lanes);
  const own = { stores, along, others: loops.filter((loop) => loop !== along) };
  const drafts =
    along && mayShareOperands(nest) ? tiledDrafts(builder, nest, { ...own, along }, buffers, target) : undefined;
  if (drafts) return drafts;
  const draft = singleDraft(builder, untiled(own, target.profile), buffers, target);
  target.note(draft.kernel, nest);
  return [draft];
}

/** Whether outputs may share operands: through a loop of their sums, or along one of several loops. */
function mayShareOperands({ loops, stores }: LoopNest): boolean {
  return loops.length > 1 || reachable(stores.map(({ value }) => value)).some(({ op }) => op === 'fold');
}
