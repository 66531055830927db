/**
 * A leaf with its strides → everything a kernel builder needs: what the lanes run along, how many transforms share a
 * group, which copies go through shared memory, and the radices. Decided from the profile alone.
 */

import type { ComplexLayout } from '../problem/index.ts';
import { capacityOf } from './capacity.ts';
import type { StockhamLeaf, Stride } from './leaf.ts';
import type { StepTwiddle } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';

/** One loop in memory. */
export interface Span {
  readonly count: number;
  readonly input: Stride;
  readonly output: Stride;
}

/** A leaf whose buffers are known. */
export interface PlacedLeaf {
  readonly precision: 'single' | 'double';
  readonly axis: Span;
  readonly batch: readonly Span[];
  readonly twiddle?: StepTwiddle;
  readonly layout: { readonly input: ComplexLayout; readonly output: ComplexLayout };
  readonly offset: { readonly input: number; readonly output: number };
  readonly inverse: boolean;
  readonly scale: number;
  readonly aliased: boolean;
}

/** Transforms shorter than this do not fill the lanes along their axis. */
const SHORT = 48;
/** Points that make a group worth its start. */
const GROUP_POINTS = 1024;

export function configureLeaf(placed: PlacedLeaf, profile: DeviceProfile): StockhamLeaf {
  const { lanes, run, room } = capacityOf(placed.precision, profile);
  const { axis } = placed;
  const length = axis.count;
  const batch = mergeSpans(placed.batch, placed.twiddle !== undefined);
  const along = chooseLanes(axis, batch, lanes, placed.twiddle !== undefined);
  const first = along === 'axis' ? batch : bringForward(batch, along);
  const [columns] = first as [Span, ...Span[]];
  const lanesAlong = along === 'axis' ? 'axis' : 'batch';
  const tile = lanesAlong === 'axis' ? 1 : chooseTile(length, columns.count, lanes, run, room);
  // Where memory runs along the axis but the lanes do not, whole runs are copied and transposed on the way.
  const stage = (side: 'input' | 'output') =>
    lanesAlong === 'batch' && !isContiguous(columns[side]) && isContiguous(axis[side]) && length >= lanes;
  const { radices } = chooseRadices({ length, lanesAlong, lanes }, profile);
  const widest = Math.max(...radices);
  return {
    precision: placed.precision,
    length,
    radices,
    batch: first.map(({ count }) => count),
    tile,
    lanesAlong,
    lanes,
    threads: Math.min(profile.maxThreads, Math.ceil((length * tile) / widest)),
    sharedFormat: profile.sharedFormat,
    input: side(placed, first, 'input'),
    output: side(placed, first, 'output'),
    staged: { input: stage('input'), output: stage('output') },
    inverse: placed.inverse,
    ...(placed.twiddle ? { twiddle: placed.twiddle } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
  };
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

/** Neighbours lie side by side. */
function isContiguous(stride: Stride): boolean {
  return typeof stride === 'number' ? stride === 1 : true;
}

/** `axis`, or the number of the batch dimension that the lanes run along. */
function chooseLanes(axis: Span, batch: readonly Span[], lanes: number, twiddled: boolean): 'axis' | number {
  const candidates = twiddled ? [0] : batch.map((_, d) => d);
  const contiguous = (span: Span) => Number(isContiguous(span.input)) + Number(isContiguous(span.output));
  const best = candidates
    .filter((d) => batch[d]!.count >= lanes)
    .sort((a, b) => contiguous(batch[b]!) - contiguous(batch[a]!) || batch[b]!.count - batch[a]!.count)[0];
  if (best === undefined) return 'axis';
  const whole = isContiguous(axis.input) && isContiguous(axis.output);
  // Without twiddles in the way, a long axis that memory runs along needs no neighbours.
  if (whole && axis.count >= SHORT) return 'axis';
  // Neither memory nor short transforms ask for columns: a long axis keeps its lanes.
  if (contiguous(batch[best]!) + contiguous(axis) === 0 && axis.count >= SHORT) {
    return 'axis';
  }
  return best;
}

function bringForward(batch: readonly Span[], d: number): Span[] {
  return [batch[d]!, ...batch.filter((_, other) => other !== d)];
}

/**
 * Transforms per group: whole runs of memory, enough points to be worth it, no more than half of shared memory where that
 * leaves half a run: tables and the caller's data want their place too.
 */
function chooseTile(length: number, count: number, lanes: number, run: number, room: number): number {
  const fits = (elements: number) => Math.floor(elements / length / lanes) * lanes;
  const most = Math.max(lanes, Math.min(fits(room), Math.max(fits(room / 2), run / 2)));
  const wanted = Math.max(run, Math.floor(GROUP_POINTS / length / run) * run);
  const tile = Math.min(wanted, most, Math.ceil(count / lanes) * lanes);
  if (count % tile === 0) return tile;
  // A tile that divides the batch spares the tail.
  for (let smaller = tile; smaller >= Math.max(lanes, tile / 2); smaller -= lanes) {
    if (count % smaller === 0) return smaller;
  }
  return tile;
}
