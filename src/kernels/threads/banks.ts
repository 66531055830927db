/**
 * The layout of a tile in shared memory, chosen so that threads in lockstep have few bank conflicts.
 *
 * Shared memory has a number of banks, each of which serves one address at a time. A pass stores elements a stride apart, and the next
 * pass loads neighbouring elements; a few spare elements after each period keep both kinds of access on different banks. The layout is
 * found by search: conflicts are counted for each layout of a small family, on a sample of the accesses, and the first layout with the
 * fewest conflicts is taken.
 */

/**
 * Element n of column c lies at a + pad·⌊a/period⌋ with a = n·axis + c·batch. In a swizzled layout, each line of `swizzle` elements is
 * rotated by ⌊a/period⌋ places instead.
 */
export interface SharedLayout {
  readonly axis: number;
  readonly batch: number;
  readonly period: number;
  readonly pad: number;
  readonly swizzle?: number;
}

/** A number of transforms of one length, side by side. */
export interface Tile {
  readonly length: number;
  readonly columns: number;
}

/** One access of a wave, which is a group of threads in lockstep: the element and the column of each thread. */
export type WaveAccess = readonly (readonly [n: number, c: number])[];

export interface LayoutQuestion {
  readonly tile: Tile;
  /** A sample of the stores of one pass and the loads of the next one. */
  readonly accesses: readonly WaveAccess[];
  /** Distance between the groups of places that the stores go to. */
  readonly stores: number;
  /** The most elements that one cycle can access, if all are on different banks. */
  readonly wave: number;
  /** The most elements that the array may have. */
  readonly room: number;
  /** Stores go to other blocks of a cluster, in lines of `wave` elements, which padding must not cut. */
  readonly aligned: boolean;
}

/** Elements of the array that a tile spans. */
export function spanOf({ axis, batch, period, pad }: SharedLayout, { length, columns }: Tile): number {
  const last = (length - 1) * axis + (columns - 1) * batch;
  return last + pad * Math.floor(last / period) + 1;
}

export function chooseLayout({ tile, accesses, stores, wave, room, aligned }: LayoutQuestion): SharedLayout {
  let best: SharedLayout | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const layout of candidateLayouts(tile, stores, wave, aligned)) {
    if (best && spanOf(layout, tile) > room) continue;
    const conflicts = countConflicts(layout, accesses, wave, fewest);
    if (conflicts < fewest) {
      best = layout;
      fewest = conflicts;
    }
    if (fewest === 0) break;
  }
  return best!;
}

/** Candidates, simple layouts first. */
function* candidateLayouts(
  { length, columns }: Tile,
  stores: number,
  wave: number,
  aligned: boolean,
): Iterable<SharedLayout> {
  const plain = [
    { axis: 1, batch: length },
    { axis: columns, batch: 1 },
  ].slice(0, columns === 1 ? 1 : 2);
  for (const base of plain) yield { ...base, period: length * columns, pad: 0 };
  if (aligned) {
    for (const base of plain) {
      const period = base.axis === 1 ? length : columns;
      if (period % wave === 0) yield { ...base, period, pad: 0, swizzle: wave };
    }
  }
  const waves = [1, 2, 4, 8, 16].map((times) => times * wave);
  const periods = new Set([...waves, stores, stores * columns, length, columns]);
  for (const base of plain) {
    for (const period of periods) {
      for (let pad = 1; pad < wave; pad *= 2) if (period > 1) yield { ...base, period, pad };
    }
  }
}

/** Cycles that accesses wait because of conflicts. @param enough counting stops at this number */
function countConflicts(layout: SharedLayout, accesses: readonly WaveAccess[], wave: number, enough: number): number {
  let conflicts = 0;
  const load = new Uint16Array(wave);
  for (const access of accesses) {
    load.fill(0);
    let most = 1;
    for (const [n, c] of access) {
      const a = n * layout.axis + c * layout.batch;
      const bank = (a + (layout.swizzle ? 1 : layout.pad) * Math.floor(a / layout.period)) % wave;
      most = Math.max(most, ++load[bank]!);
    }
    conflicts += most - 1;
    if (conflicts >= enough) return conflicts;
  }
  return conflicts;
}
