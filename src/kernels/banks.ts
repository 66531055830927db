/**
 * How a tile lies in shared memory so that threads in lockstep never wait for one another at a bank.
 *
 * Shared memory has so many banks, each serving one address at a time. The places that a pass stores to lie a stride
 * apart, the ones that the next pass loads from lie side by side: a few spare elements after each period keep both on
 * different banks. Which ones is found by trying: count the conflicts of every layout of a small family on a sample of
 * the accesses, and take the first with the fewest.
 */

/**
 * Element n of column c lies at a + pad·⌊a/period⌋ with a = n·axis + c·batch. In a swizzled layout it stays in its line of
 * so many elements, moved on by ⌊a/period⌋ places in a circle.
 */
export interface SharedLayout {
  readonly axis: number;
  readonly batch: number;
  readonly period: number;
  readonly pad: number;
  readonly swizzle?: number;
}

/** What is laid out: so many transforms of a length, side by side. */
export interface Tile {
  readonly length: number;
  readonly columns: number;
}

/** What threads in lockstep access at once: element and column of each. */
export type WaveAccess = readonly (readonly [n: number, c: number])[];

export interface LayoutQuestion {
  readonly tile: Tile;
  /** Stores of one pass and loads of the next, a sample of them. */
  readonly accesses: readonly WaveAccess[];
  /** Distance between the groups of places that the stores go to. */
  readonly stores: number;
  /** Elements that are accessed at once without waiting, if each is on another bank. */
  readonly wave: number;
  /** Elements that the array may have. */
  readonly room: number;
  /** Stores go to other blocks: they travel in lines of a wave, which must not be cut. */
  readonly aligned: boolean;
}

/** Elements from the first to the last of a tile. */
export function spanOf({ axis, batch, period, pad }: SharedLayout, { length, columns }: Tile): number {
  const last = (length - 1) * axis + (columns - 1) * batch;
  return last + pad * Math.floor(last / period) + 1;
}

export function chooseLayout({ tile, accesses, stores, wave, room, aligned }: LayoutQuestion): SharedLayout {
  let best: SharedLayout | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const layout of family(tile, stores, wave, aligned)) {
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

/** Simple ones first. */
function* family({ length, columns }: Tile, stores: number, wave: number, aligned: boolean): Iterable<SharedLayout> {
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

/** Cycles that waves wait beyond the one they need. */
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
