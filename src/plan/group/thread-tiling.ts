/** The layout of a leaf over threads. The counterpart for vectors is in tiling.ts. */
import type { Side } from '../../problem/index.ts';
import type { Target } from '../device/target.ts';
import type { LanesAlong } from '../tree/leaf.ts';
import { chooseRadices } from './radix.ts';
import { shareOfColumns } from './share.ts';
import {
  chooseTile,
  distanceOf,
  hasUnitStep,
  type Span,
  type Tiling,
  type TilingQuestion,
  walksAlong,
  withFirst,
} from './tiling.ts';

/** The tiling for threads: the first pass walks along the contiguous dimension of the input, the last pass along that of the output. */
export function threadTiling({ axis, batch, group }: TilingQuestion, target: Target): Tiling {
  const { run, room } = target.capacity;
  const length = axis.count;
  const order = threadOrder(axis, batch);
  const columns = batch[order[0]!]!;
  const walks = (side: Side): LanesAlong => (length === 1 ? 'batch' : walksAlong(axis, columns, side));
  const lanesAlong = { input: walks('input'), output: walks('output') };
  // Threads of very short transforms have little to do: larger groups keep the memory busy.
  const groupPoints = target.groupPoints * (length <= 4 ? 2 : 1);
  const byColumns = length > 1 && (lanesAlong.input === 'batch' || lanesAlong.output === 'batch');
  const sides = lanesAlong.input === lanesAlong.output ? 2 : 1;
  const tile = byColumns
    ? group
      ? Math.min(group, columns.count, Math.max(1, Math.floor(room / length)))
      : chooseColumns(length, columns.count, target, sides).tile
    : chooseTile(length, columns.count, { grain: 1, run: 1, room, group }, { groupPoints });
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes: 1 }, target);
  // A pass loads points N/r apart: if that is shorter than a run, the tile is better copied whole.
  const stage = (side: Side, radix: number) =>
    length > 1 && lanesAlong[side] === 'axis' && hasUnitStep(axis[side]) && length / radix < Math.min(run, length);
  return {
    order,
    lanesAlong,
    tile,
    radices,
    staged: { input: stage('input', radices[0]!), output: stage('output', radices.at(-1)!) },
  };
}

/** The order of batch dimensions: the one whose neighbours should share a group comes first. */
export function threadOrder(axis: Span, batch: readonly Span[]): number[] {
  return withFirst(batch, nearestDimension(axis, batch));
}

/** The batch dimension with the smallest distance between neighbours, on the sides where the axis is not contiguous. */
function nearestDimension(axis: Span, batch: readonly Span[]): number {
  const distance = (span: Span, side: Side) => (hasUnitStep(axis[side]) ? 0 : distanceOf(span[side]));
  const steps = batch.map((span) =>
    span.count > 1
      ? distance(span, 'input') +
        distance(span, 'output') +
        (distanceOf(span.input) + distanceOf(span.output)) / 2 ** 53
      : Number.POSITIVE_INFINITY,
  );
  return Math.max(0, steps.indexOf(Math.min(...steps)));
}

/** The number of neighbouring columns in a group, and the share of the bandwidth that they reach. */
interface Columns {
  readonly tile: number;
  readonly share: number;
}

/**
 * As many whole runs of columns as fit; several runs if transforms are short.
 * @param sides the number of sides on which memory is accessed in such runs: both, or one while the other is contiguous
 */
export function chooseColumns(length: number, count: number, target: Target, sides: 1 | 2 = 2): Columns {
  const { run, room } = target.capacity;
  const most = Math.max(1, Math.floor(room / length));
  const plenty = run * Math.max(1, Math.floor(target.groupPoints / length / run));
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes: 1 }, target);
  const tiles: number[] = [];
  for (let tile = plenty; tile >= run; tile -= run) tiles.push(Math.min(tile, count));
  for (let tile = run / 2; Number.isInteger(tile) && tile >= 1; tile /= 2) tiles.push(tile);
  let best: Columns = { tile: Math.min(count, most), share: 0 };
  for (const tile of tiles) {
    if (tile > most || tile < 1 || length > room) continue;
    const share = shareOfColumns({ length, tile, count, radices }, sides, target);
    if (share > best.share) best = { tile, share };
  }
  return best;
}
