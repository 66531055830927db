/** Points on the host: folded into the period, placed on the fine grid, and sorted by the bins that they are spread in. */
import type { FineGrid } from '../../kernels/nonuniform/index.ts';

/** The bins of a grid. A colour is a set of bins whose points never reach the same grid point. */
export interface Bins {
  /** Grid points of a bin along each axis. */
  readonly lengths: readonly number[];
  /** Bins along each axis. */
  readonly counts: readonly number[];
  readonly colours: number;
  /** Bins of a colour, at most. */
  readonly perColour: number;
}

/** @param lengths the wanted lengths of bins. A bin is at least as long as the spreading kernel, so that two colours along an axis are enough. */
export function sortingBins(grid: FineGrid, lengths: readonly number[]): Bins {
  const own = grid.points.map((points, axis) => Math.min(points, Math.max(lengths[axis]!, grid.margins[axis]!)));
  const counts = grid.points.map((points, axis) => Math.ceil(points / own[axis]!));
  return {
    lengths: own,
    counts,
    colours: counts.reduce((product, count) => product * Math.min(2, count), 1),
    perColour: counts.reduce((product, count) => product * Math.ceil(count / 2), 1),
  };
}

/** Points in the order of their bins. */
export interface SortedPoints {
  readonly count: number;
  /** For each point: the address of the first grid point that it reaches, and its index in the caller's order. */
  readonly table: Uint32Array;
  /** For each point and axis: the distance from the kernel's left edge to the first grid point, where 0 … 1 grid steps are −1 … 1. */
  readonly places: Float64Array | Float32Array;
  /** For each colour and bin: the first point, and the number of points. */
  readonly bins: readonly Uint32Array[];
}

export interface SortOptions {
  readonly grid: FineGrid;
  readonly width: number;
  readonly bins: Bins;
  readonly type: 'f32' | 'f64';
  /** The number of points that the arrays have room for. */
  readonly capacity: number;
}

const TURN = 1 / (2 * Math.PI);

/** @param axes coordinates along each axis, in radians */
export function sortPoints(axes: readonly ArrayLike<number>[], options: SortOptions): SortedPoints {
  const { grid, width, bins, type, capacity } = options;
  const count = axes[0]!.length;
  const dimensions = axes.length;
  const bases = new Uint32Array(count);
  const binOf = new Uint32Array(count);
  const offsets = axes.map(() => new Float64Array(count));
  let binStride = 1;
  axes.forEach((coordinates, axis) => {
    const points = grid.points[axis]!;
    const stride = grid.strides[axis]!;
    const perBin = 1 / bins.lengths[axis]!;
    const offset = offsets[axis]!;
    for (let n = 0; n < count; n++) {
      const turns = coordinates[n]! * TURN;
      const first = (turns - Math.floor(turns)) * points - width / 2;
      let start = Math.ceil(first);
      offset[n] = 2 * (start - first) - 1;
      if (start < 0) start += points;
      else if (start >= points) start -= points;
      bases[n]! += start * stride;
      binOf[n]! += Math.floor((start + 0.5) * perBin) * binStride;
    }
    binStride *= bins.counts[axis]!;
  });
  const starts = new Uint32Array(binStride + 1);
  for (let n = 0; n < count; n++) starts[binOf[n]! + 1]!++;
  for (let bin = 0; bin < binStride; bin++) starts[bin + 1]! += starts[bin]!;
  const next = starts.slice();
  const table = new Uint32Array(2 * capacity);
  const places = type === 'f32' ? new Float32Array(dimensions * capacity) : new Float64Array(dimensions * capacity);
  for (let n = 0; n < count; n++) {
    const place = next[binOf[n]!]!++;
    table[2 * place] = bases[n]!;
    table[2 * place + 1] = n;
    for (let axis = 0; axis < dimensions; axis++) places[dimensions * place + axis] = offsets[axis]![n]!;
  }
  return { count, table, places, bins: coloured(starts, bins) };
}

/** The bins of each colour. A colour has one bit for each axis: whether the index of a bin along the axis is odd. */
function coloured(starts: Uint32Array, { counts, colours, perColour }: Bins): Uint32Array[] {
  const tables = Array.from({ length: colours }, () => new Uint32Array(2 * perColour));
  const filled = new Uint32Array(colours);
  const total = starts.length - 1;
  for (let bin = 0; bin < total; bin++) {
    const first = starts[bin]!;
    const count = starts[bin + 1]! - first;
    if (count === 0) continue;
    let colour = 0;
    let weight = 1;
    let rest = bin;
    for (const along of counts) {
      const at = rest % along;
      rest = (rest - at) / along;
      if (along > 1) {
        colour += (at % 2) * weight;
        weight *= 2;
      }
    }
    const place = filled[colour]!++;
    tables[colour]![2 * place] = first;
    tables[colour]![2 * place + 1] = count;
  }
  return tables;
}

/** Lengths of bins that suit a kind of device, in grid points along each axis. */
export function usualBins(dimensions: number, vectors: boolean): number[] {
  const lengths = vectors ? [[1024], [64, 32], [32, 16, 16]] : [[64], [16, 16], [16, 8, 8]];
  return lengths[dimensions - 1]!;
}

/** The least power of two that is at least `points`, and at least 256, a chunk. */
export function pointCapacity(points: number): number {
  return Math.max(256, 2 ** Math.ceil(Math.log2(Math.max(1, points))));
}
