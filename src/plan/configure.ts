/**
 * A leaf with its strides → everything a kernel builder needs: what the lanes run along, how many transforms share a
 * group, which copies go through shared memory, and the radices. Decided from the profile alone.
 */

import type { ComplexLayout } from '../problem/index.ts';
import { capacityOf } from './capacity.ts';
import type { SharedMemory, StockhamLeaf } from './leaf.ts';
import type { StepTwiddle } from './node.ts';
import type { DeviceProfile } from './profile.ts';
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
    threads: threadsFor(placed.axis.count * tile, radices, placed, profile),
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

/** What it costs that a group has its multiprocessor to itself, where it need not. */
const ALONE = 1.3;

/**
 * Threads that a group has work for. Passes of different radices have different numbers of butterflies: the best count
 * leaves the fewest threads idle over all of them, and no thread more values than its registers hold.
 */
function butterfliesOf(
  points: number,
  radices: readonly number[],
  { precision }: Pick<PlacedLeaf, 'precision'>,
  profile: DeviceProfile,
  clustered: boolean,
): number {
  const { lockstep, lockstepBytes, maxThreads, registers } = profile;
  const items = radices.map((radix) => points / radix);
  const plain = Math.min(...items);
  if (lockstep === 'vector') return Math.ceil(plain);
  const warp = lockstepBytes / 4;
  const values = registers / (precision === 'single' ? 2 : 4);
  const few = values / 2;
  const { sharedBytes } = capacityOf(precision, profile);
  const pairable = 2 * points * sharedBytes <= (profile.residentBytes ?? profile.sharedBytes);
  let best = Math.ceil(plain);
  let least = Number.POSITIVE_INFINITY;
  for (const share of [1, 2, 3, 4, 5, 6, 7, 8]) {
    for (const count of new Set(items)) {
      const threads = Math.ceil(count / share);
      if (threads > maxThreads || (threads < 2 * warp && threads < plain)) continue;
      if (items.some((n, p) => Math.ceil(n / threads) * radices[p]! > Math.max(values, ...radices))) continue;
      const taken = Math.ceil(threads / warp) * warp;
      const held = Math.max(...items.map((n, p) => Math.ceil(n / threads) * radices[p]!));
      if (clustered && held > CLUSTER_POINTS) continue;
      // Beside a group of so many threads there is no room for another one, where shared memory would have some.
      const alone = pairable && threads > maxThreads / 2 && held <= few ? ALONE : 1;
      const idle = alone * items.reduce((sum, n) => sum + (Math.ceil(n / threads) * taken) / n, 0);
      if (idle < least - 1e-9 || (idle < least + 1e-9 && threads > best !== clustered)) {
        best = threads;
        least = idle;
      }
    }
  }
  return best;
}

/**
 * Points that a thread of a cluster holds: what costs time there is waiting for other blocks, which several blocks side by
 * side hide better than many threads in each.
 */
const CLUSTER_POINTS = 16;

/** Butterflies that a thread may be given for the sake of fewer threads: it keeps them all in registers. */
const MOST_BUTTERFLIES = 4;

/**
 * A thread for each butterfly, or as few as are wished for.
 * @param points that a block works on.
 * @param clustered the block is one of several.
 */
export function threadsFor(
  points: number,
  radices: readonly number[],
  placed: Pick<PlacedLeaf, 'precision' | 'split'>,
  profile: DeviceProfile,
  clustered = false,
): number {
  const { maxThreads, tuning = {} } = profile;
  const { split } = placed;
  const butterflies = butterfliesOf(points, radices, placed, profile, clustered);
  const most = Math.min(maxThreads, butterflies);
  const aim = Math.min(most, tuning.threads ?? most);
  const wished = tuning.halfThreads && split ? Math.ceil(aim / 2) : aim;
  return Math.max(wished, Math.ceil(most / MOST_BUTTERFLIES));
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
