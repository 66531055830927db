/** Kernels whose items compute several outputs each, because these share operands: products of matrices, stencils over images. */
import {
  type ArrayRef,
  add,
  div,
  Expressions,
  type Index,
  index,
  type Loop,
  mod,
  Substitution,
  scale,
  sub,
  variable,
} from '../../../ir/index.ts';
import type { LoopProfile } from '../expressions/loop-profile.ts';
import type { KernelBuilder, LoopNest } from './builder.ts';
import {
  fittingCount,
  ITEMS,
  type LaunchDraft,
  type LoopTarget,
  loopIndices,
  type Nest,
  type Placed,
  singleDraft,
  substituted,
  untiled,
} from './loops.ts';
import { packedStores } from './packing.ts';
import { type RegisterTile, tileCopies, tileOf } from './tiles.ts';

type LanesNest = Nest & { readonly along: NonNullable<Nest['along']> };

/** The kernel of a nest, behind the kernels that pack the matrices it reads; undefined where outputs share no operands. */
export function tiledDrafts(
  builder: KernelBuilder,
  whole: LoopNest,
  nest: LanesNest,
  buffers: Map<ArrayRef, string>,
  target: LoopTarget,
): LaunchDraft[] | undefined {
  const { profile } = target;
  const tile = tileOf(nest, profile);
  if (!tile) return undefined;
  const reads =
    profile.lockstep === 'vector' ? nest.others.reduce((product, { count }) => product * count, 1) / tile.rows : 0;
  const { stores, packings } = packedStores(
    nest.stores,
    nest.along,
    profile.lanes,
    reads,
    () => `packed${buffers.size}`,
  );
  const before = packings.map(({ loops, stores: copies, length, target: array }) => {
    const name = target.newBuffer(length);
    buffers.set(array, name).set(copies[0]!.array, name);
    const lanes = loops.at(-1)!;
    const placed = untiled({ stores: copies, along: lanes, others: loops.slice(0, -1) }, profile);
    return singleDraft(builder, placed, buffers, target);
  });
  const draft = singleDraft(builder, tiled({ ...nest, stores }, tile, profile), buffers, target);
  if (before.length === 0) target.note(draft.kernel, whole);
  return [...before, draft];
}

/** The size of a group in vectors along a row and in rows: its operands stay in a near cache. */
const GROUP_VECTORS = { vector: 16, threads: 1 } as const;
const GROUP_ROWS = { vector: 16, threads: 8 } as const;

/** Items with several outputs each. Groups are blocks of rows and columns, because a row and a column of outputs both share operands. */
function tiled(nest: LanesNest, tile: RegisterTile, profile: LoopProfile): Placed {
  const { lockstep, lanes: width } = profile;
  const isVector = lockstep === 'vector';
  const { along, others, copies } = tileCopies(nest, tile, isVector);
  const rows = others.reduce((product, loop) => product * loop.count, 1);
  // Overlapping windows share rows, which are read from front to back.
  const isRow = isVector && tile.overlaps;
  const wanted = isRow ? ITEMS.vector / width : GROUP_VECTORS[lockstep];
  const vectors = fittingCount(Math.ceil(along.count / width), wanted);
  const columns = Math.min(along.count, vectors * width);
  const together = isRow ? 1 : fittingCount(rows, Math.min(rows, GROUP_ROWS[lockstep]));
  const tiles = Math.ceil(along.count / columns);
  const group = variable('group', Math.ceil(rows / together) * tiles);
  const [row, lanes] = [variable('row', together), variable('lane', columns)];
  const [firstRow, first] = [scale(div(index(group), tiles), together), scale(mod(index(group), tiles), columns)];
  const limitOf = (count: number, step: number, begin: Index) =>
    count % step === 0 ? {} : { limit: sub(count, begin) };
  const at = new Map([[along, add(first, lanes)], ...loopIndices(others, add(firstRow, row))]);
  const loops: Loop[] = [
    { variable: row, ...limitOf(rows, together, firstRow) },
    {
      variable: lanes,
      ...limitOf(along.count, columns, first),
      ...(isVector && tile.along > 1 ? { unroll: tile.along } : {}),
    },
  ];
  const dealt = { group, loops, lanes, threads: Math.min(profile.maxThreads, together * columns), at };
  const x = new Expressions();
  const place = new Substitution(at);
  const stores = copies.flatMap((copy) => {
    const by = new Map([...at, ...[...copy].map(([loop, value]) => [loop, place.apply(value)] as const)]);
    return substituted(x, nest.stores, by).stores;
  });
  return { dealt, stores };
}
