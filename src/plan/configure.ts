/**
 * A leaf with its strides → everything a kernel builder needs: what the lanes run along, how many transforms share a
 * group, which copies go through shared memory, and the radices. Decided from the profile alone.
 */

import type { ComplexLayout } from '../problem/index.ts';
import { capacityOf } from './capacity.ts';
import type { SharedMemory, StockhamLeaf } from './leaf.ts';
import type { StepTwiddle } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { besideOf, threadsFor } from './threads.ts';
import { type Span, threadTiling, vectorTiling } from './tiling.ts';

/** A leaf whose buffers are known. */
export interface PlacedLeaf {
  readonly precision: 'single' | 'double';
  readonly axis: Span;
  /** Slower axes that are transformed in the same launch. */
  readonly more?: readonly Span[];
  readonly batch: readonly Span[];
  readonly twiddle?: StepTwiddle;
  readonly layout: { readonly input: ComplexLayout; readonly output: ComplexLayout };
  readonly offset: { readonly input: number; readonly output: number };
  readonly inverse: boolean;
  readonly scale: number;
  readonly aliased: boolean;
  /** The axis of the problem that is transformed, where it is one. */
  readonly axisOf?: number;
  /** One of several uploads of that axis. */
  readonly split?: boolean;
}

export function stockhamLeaf(placed: PlacedLeaf, profile: DeviceProfile): StockhamLeaf {
  const capacity = capacityOf(placed.precision, profile);
  const batch = mergeSpans(placed.batch, placed.twiddle !== undefined);
  const { order, lanesAlong, tile, radices, staged } = (profile.lockstep === 'vector' ? vectorTiling : threadTiling)(
    {
      axis: placed.axis,
      batch,
      precision: placed.precision,
      twiddled: placed.twiddle !== undefined,
      ...wishedGroup(placed, profile),
    },
    profile,
  );
  const ordered = order.map((d) => batch[d]!);
  const points = placed.axis.count * tile;
  const threads = threadsFor(points, radices, placed, profile);
  const beside = besideOf(points, radices, threads, placed.precision, profile);
  return {
    scheme: 'stockham',
    precision: placed.precision,
    length: placed.axis.count,
    radices,
    batch: ordered.map(({ count }) => count),
    tile,
    lockstep: profile.lockstep,
    lanesAlong,
    lanes: capacity.lanes,
    threads,
    ...(beside > 1 ? { beside } : {}),
    shared: sharedOf(placed.precision, profile),
    input: side(placed, ordered, 'input'),
    output: side(placed, ordered, 'output'),
    staged,
    inverse: placed.inverse,
    ...(placed.twiddle ? { twiddle: twiddleOf(placed.twiddle, order) } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
  };
}

/** The batch dimensions have been reordered; the one that twiddles count along was the first. */
export function twiddleOf(twiddle: StepTwiddle, order: readonly number[]): StepTwiddle {
  const along = order.indexOf(0);
  return along > 0 ? { ...twiddle, along } : twiddle;
}

export function sharedOf(precision: PlacedLeaf['precision'], profile: DeviceProfile): SharedMemory {
  return {
    format: profile.sharedFormat,
    arrays: profile.doubleBuffered ? 2 : 1,
    banks: profile.banks,
    room: capacityOf(precision, profile).room,
  };
}

function wishedGroup({ axisOf }: PlacedLeaf, { tuning }: DeviceProfile): { group?: number } {
  const group = axisOf === undefined ? 0 : (tuning?.groupedBatch?.[axisOf] ?? 0);
  return group > 0 ? { group } : {};
}

function side(placed: PlacedLeaf, batch: readonly Span[], name: 'input' | 'output'): StockhamLeaf['input'] {
  return {
    layout: placed.layout[name],
    axis: placed.axis[name],
    batch: batch.map((span) => span[name]),
    offset: placed.offset[name],
  };
}

/** Adjacent loops that step through memory as one become one. The dimension that twiddles count along stays itself. */
export function mergeSpans(spans: readonly Span[], keepFirst: boolean): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    const mayMerge = last && !(keepFirst && merged.length === 1);
    if (span.count === 1 && merged.length > 0) continue;
    if (mayMerge && last.count === 1) merged[merged.length - 1] = span;
    else if (mayMerge && continues(last, span, 'input') && continues(last, span, 'output')) {
      merged[merged.length - 1] = { ...last, count: last.count * span.count };
    } else merged.push(span);
  }
  return merged.length > 0 ? merged : [{ count: 1, input: 0, output: 0 }];
}

/** One step of `next` is a whole walk of `span`. */
function continues(span: Span, next: Span, side: 'input' | 'output'): boolean {
  const stride = span[side];
  return typeof stride === 'number' && next[side] === stride * span.count;
}
