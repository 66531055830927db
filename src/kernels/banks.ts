/**
 * How a tile lies in shared memory so that threads in lockstep never wait for one another at a bank.
 *
 * Shared memory has so many banks, each serving one address at a time. The places that a pass stores to lie a stride
 * apart, the ones that the next pass loads from lie side by side: a few spare elements after each period keep both on
 * different banks. Which ones is found by trying: count the conflicts of every layout of a small family on a sample of
 * the accesses, and take the first with the fewest.
 */
import type { LanesAlong, StockhamLeaf } from '../plan/leaf.ts';
import type { Step } from './steps.ts';

/** Element n of transform c lies at a + pad·⌊a/period⌋ with a = n·axis + c·batch. */
export interface SharedLayout {
  readonly axis: number;
  readonly batch: number;
  readonly period: number;
  readonly pad: number;
}

/** A step, and along what its neighbouring threads walk. */
export interface Walk {
  readonly step: Step;
  readonly along: LanesAlong;
}

/** Complex numbers from the first to the last of a tile. */
export function spanOf({ axis, batch, period, pad }: SharedLayout, { length, tile }: StockhamLeaf): number {
  const last = (length - 1) * axis + (tile - 1) * batch;
  return last + pad * Math.floor(last / period) + 1;
}

/** The layout between two steps: what the first one stores and the second one loads. */
export function chooseLayout(leaf: StockhamLeaf, writer: Walk, reader: Walk): SharedLayout {
  const { length, tile, shared, precision } = leaf;
  const realBytes = precision === 'single' ? 4 : 8;
  const wave = (4 * shared.banks) / (shared.format === 'pairs' ? 2 * realBytes : realBytes);
  const accesses = wave > 1 ? [...sample(leaf, writer, 'store', wave), ...sample(leaf, reader, 'load', wave)] : [];
  let best: SharedLayout | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const layout of family(length, tile, wave, writer.step)) {
    if (best && spanOf(layout, leaf) > shared.room) continue;
    const conflicts = countConflicts(layout, accesses, wave, fewest);
    if (conflicts < fewest) {
      best = layout;
      fewest = conflicts;
    }
    if (fewest === 0) break;
  }
  return best!;
}

/** Simple ones first. */
function* family(length: number, tile: number, wave: number, writer: Step): Iterable<SharedLayout> {
  const plain = [
    { axis: 1, batch: length },
    { axis: tile, batch: 1 },
  ];
  for (const base of tile === 1 ? plain.slice(0, 1) : plain) yield { ...base, period: length * tile, pad: 0 };
  const stores = writer.kind === 'pass' ? writer.stride * writer.radix : 1;
  const periods = new Set([wave, 2 * wave, 4 * wave, 8 * wave, 16 * wave, stores, stores * tile, length, tile]);
  for (const base of tile === 1 ? plain.slice(0, 1) : plain) {
    for (const period of periods) {
      for (let pad = 1; pad < wave; pad *= 2) if (period > 1) yield { ...base, period, pad };
    }
  }
}

type Access = readonly (readonly [n: number, c: number])[];

/** Accesses of some waves of threads: at the beginning, and further on. */
function sample(leaf: StockhamLeaf, { step, along }: Walk, side: 'load' | 'store', wave: number): Access[] {
  const { length, tile } = leaf;
  const radix = step.kind === 'pass' ? step.radix : 1;
  const butterflies = length / radix;
  const items = butterflies * tile;
  const starts = new Set([0, wave, 2 * wave, 5 * wave, Math.floor(items / 2 / wave) * wave]);
  const place = (b: number, m: number): number => {
    if (step.kind === 'copy') return b;
    if (side === 'load') return b + m * butterflies;
    const i = b % step.stride;
    return (b - i) * radix + i + m * step.stride;
  };
  const found: Access[] = [];
  for (const start of starts) {
    if (start >= items) continue;
    for (let m = 0; m < radix; m += Math.max(1, radix >> 2)) {
      const access: [number, number][] = [];
      for (let item = start; item < Math.min(items, start + wave); item++) {
        const b = along === 'axis' ? item % butterflies : Math.floor(item / tile);
        access.push([place(b, m), along === 'axis' ? Math.floor(item / butterflies) : item % tile]);
      }
      found.push(access);
    }
  }
  return found;
}

/** Turns that waves wait beyond the one they need. */
function countConflicts(layout: SharedLayout, accesses: readonly Access[], wave: number, enough: number): number {
  let conflicts = 0;
  const load = new Uint16Array(wave);
  for (const access of accesses) {
    load.fill(0);
    let most = 1;
    for (const [n, c] of access) {
      const a = n * layout.axis + c * layout.batch;
      const bank = (a + layout.pad * Math.floor(a / layout.period)) % wave;
      most = Math.max(most, ++load[bank]!);
    }
    conflicts += most - 1;
    if (conflicts >= enough) return conflicts;
  }
  return conflicts;
}
