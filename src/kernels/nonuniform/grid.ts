/**
 * Kernels that go over a grid once: clearing it, adding or copying margins, and reading or writing modes, divided by the transform of the
 * spreading kernel.
 */
import {
  type ArrayRef,
  add,
  coordinates,
  Expressions,
  type Index,
  type Kernel,
  type Loop,
  mod,
  type Real,
  type Store,
  scale,
  sub,
  TableBuilder,
  variable,
} from '../../ir/index.ts';
import type { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import { type FineGrid, type NonuniformShape, threadCount } from './shape.ts';

/** The approximate number of reals that a group handles. */
const BLOCK = 4096;

/** A pass over a grid: each item handles one real along the first axis, at coordinates along the other axes. */
interface GridPass {
  readonly name: string;
  readonly globals: readonly ArrayRef[];
  /** The number of items along each axis, fastest first; axis 0 counts reals. */
  readonly counts: readonly number[];
  readonly inPlace?: boolean;
  store(x: Expressions, at: readonly Index[]): Store;
}

/** The kernel of a pass: groups take blocks of the first axis if it is long, otherwise several rows. */
function passKernel(shape: NonuniformShape, pass: GridPass, tables = new TableBuilder(shape.type)): Kernel {
  const { type, target } = shape;
  const [along, ...others] = pass.counts as [number, ...number[]];
  const rows = others.reduce((product, count) => product * count, 1);
  const block = Math.min(along, BLOCK);
  const blocks = Math.ceil(along / block);
  const together = blocks > 1 ? 1 : Math.min(rows, Math.max(1, Math.floor(BLOCK / block)));
  const group = variable('group', blocks > 1 ? blocks * rows : Math.ceil(rows / together));
  const lane = variable('real', block);
  const own = variable('row', together);
  const [part, bundle] = coordinates(group, [blocks, group.count / blocks]) as [Index, Index];
  const start = scale(part, block);
  const row = add(scale(bundle, together), own);
  const limited = (loop: Loop['variable'], left: Index, isWhole: boolean): Loop =>
    isWhole ? { variable: loop } : { variable: loop, limit: left };
  const x = new Expressions();
  const at = [add(start, lane), ...coordinates(row, others.length > 0 ? others : [1])];
  const store = pass.store(x, at);
  return {
    name: pass.name,
    precision: type,
    group,
    threads: target.vectors ? 1 : threadCount(Math.min(256, block * together), target),
    globals: pass.globals,
    tables: tables.all(),
    shared: [],
    phases: [
      {
        loops: [
          limited(own, sub(rows, scale(bundle, together)), rows % together === 0),
          limited(lane, sub(along, start), along % block === 0),
        ],
        lanes: lane,
        stores: [store],
        repeatable: !pass.inPlace,
        ...(pass.inPlace ? { inPlace: 1 } : {}),
        exchange: 'group',
      },
    ],
  };
}

/** Clears grids. Global: grid. */
export function clearKernel(shape: NonuniformShape): Kernel {
  const fine: ArrayRef = { name: 'grid', space: 'global', type: shape.type };
  return passKernel(shape, {
    name: 'zeros',
    globals: [fine],
    counts: [2 * shape.grid.size * shape.transforms],
    store: (x, [at]) => ({ array: fine, index: at!, value: x.constant(0) }),
  });
}

/** The operation on a margin: added to the beginning of its axis, or copied from it. */
export type MarginWork = 'add' | 'copy';

/**
 * The kernel for the margin of one axis. If margins are added, the axes are handled from the first to the last, and each leaves out the
 * margins of the axes before it; if margins are copied, each includes the margins of the axes before it. Global: grid.
 */
export function marginKernel(shape: NonuniformShape, axis: number, work: MarginWork): Kernel {
  const { grid, transforms, type } = shape;
  const fine: ArrayRef = { name: 'grid', space: 'global', type };
  const counts = grid.points.map((points, n) => {
    if (n === axis) return grid.margins[n]!;
    // Margins of other axes that are left out here have been added already, or are copied later.
    return n < axis === (work === 'add') ? points : points + grid.margins[n]!;
  });
  const far = 2 * grid.points[axis]! * grid.strides[axis]!;
  return passKernel(shape, {
    name: `${work} margin ${axis}`.replaceAll(' ', '_'),
    globals: [fine],
    counts: [2 * counts[0]!, ...counts.slice(1), transforms],
    inPlace: true,
    store(x, at) {
      const near = gridPlace(grid, at);
      const beyond = add(near, far);
      return work === 'add'
        ? { array: fine, index: near, value: x.add(x.load(fine, near), x.load(fine, beyond)) }
        : { array: fine, index: beyond, value: x.load(fine, near) };
    },
  });
}

/** The place of a real in a grid, from its place along each axis and the number of its transform. */
function gridPlace(grid: FineGrid, [first, ...others]: readonly Index[]): Index {
  const strides = [...grid.strides.slice(1), grid.size];
  return add(first!, ...others.map((at, n) => scale(at, 2 * strides[n]!)));
}

/** The layout of modes in memory, as complex numbers. */
export interface ModeArray {
  readonly counts: readonly number[];
  readonly strides: readonly number[];
  /** The number of complex numbers in one transform. */
  readonly size: number;
  /** The order of frequencies: from −⌊N/2⌋ up, or from 0 up followed by the negative ones (the order of an FFT). */
  readonly order: 'centred' | 'transform';
}

/** Packed modes in the caller's order. */
export function packedModes(counts: readonly number[], order: ModeArray['order']): ModeArray {
  const strides = counts.map((_, axis) => counts.slice(0, axis).reduce((product, count) => product * count, 1));
  return { counts, strides, size: counts.reduce((product, count) => product * count, 1), order };
}

/**
 * Copies modes from the grid (`from grid`) or into it, divided by the transform of the spreading kernel. Frequencies along axis 0 that are
 * negative and those that are not lie apart, so each has a kernel; undefined if there are none. Globals: modes, grid.
 */
export function modesKernel(
  shape: NonuniformShape,
  modes: ModeArray,
  spreading: SemicircleKernel,
  way: 'from grid' | 'into grid',
  sign: 'positive' | 'negative',
): Kernel | undefined {
  const { grid, transforms, type } = shape;
  const [count] = modes.counts as [number];
  const below = Math.floor(count / 2);
  const along = sign === 'positive' ? count - below : below;
  if (along === 0) return undefined;
  const reading = (name: string, isRead: boolean): ArrayRef => ({
    name,
    space: 'global',
    type,
    ...(isRead ? { operand: true } : {}),
  });
  const outer = reading('modes', way === 'into grid');
  const fine = reading('grid', way === 'from grid');
  const tables = new TableBuilder(type);
  const starts = modes.counts.map((each, axis) =>
    tables.appendValues(
      `inverse semicircle ${spreading.width} ${spreading.upsampling} ${each} ${grid.points[axis]} ${modes.order} ${axis === 0 ? 'pairs' : ''}`,
      each * (axis === 0 ? 2 : 1),
      () => divisorsOf(modes, axis, grid.points[axis]!, spreading),
    ),
  );
  const firstMode =
    modes.order === 'centred' ? (sign === 'positive' ? below : 0) : sign === 'positive' ? 0 : count - below;
  const firstPoint = sign === 'positive' ? 0 : grid.points[0]! - below;
  return passKernel(
    shape,
    {
      name: `modes_${way}`.replaceAll(' ', '_'),
      globals: [outer, fine],
      counts: [2 * along, ...modes.counts.slice(1), transforms],
      store(x, at) {
        const [real, ...rest] = at as [Index, ...Index[]];
        const transform = rest.at(-1)!;
        const others = rest.slice(0, -1);
        const mode = add(
          real,
          2 * firstMode,
          ...others.map((v, n) => scale(v, 2 * modes.strides[n + 1]!)),
          scale(transform, 2 * modes.size),
        );
        const points = others.map((v, n) => pointOfMode(v, modes, n + 1, grid.points[n + 1]!));
        const place = gridPlace(grid, [add(real, 2 * firstPoint), ...points, transform]);
        const factor = others.reduce<Real>(
          (product, v, n) => x.mul(product, x.load(tables.ref, add(v, starts[n + 1]!))),
          x.load(tables.ref, add(real, 2 * firstMode + starts[0]!)),
        );
        return way === 'from grid'
          ? { array: outer, index: mode, value: x.mul(factor, x.load(fine, place)) }
          : { array: fine, index: place, value: x.mul(factor, x.load(outer, mode)) };
      },
    },
    tables,
  );
}

/** The grid point of a mode along an axis. */
function pointOfMode(at: Index, { counts, order }: ModeArray, axis: number, points: number): Index {
  const count = counts[axis]!;
  const below = Math.floor(count / 2);
  // Mode (at − below) mod points. In the FFT's order, negative modes, from count − below on, lie at the end.
  if (order === 'centred') return mod(add(at, points - below), points);
  const shifted = mod(add(at, below), count);
  return mod(add(shifted, points - below), points);
}

function divisorsOf(
  { counts, order }: ModeArray,
  axis: number,
  points: number,
  spreading: SemicircleKernel,
): Float64Array {
  const count = counts[axis]!;
  const below = Math.floor(count / 2);
  const times = axis === 0 ? 2 : 1;
  const divisors = new Float64Array(count * times);
  for (let n = 0; n < count; n++) {
    const frequency = order === 'centred' ? n - below : n < count - below ? n : n - count;
    const divisor = 1 / spreading.transformAt((2 * Math.PI * Math.abs(frequency)) / points);
    for (let copy = 0; copy < times; copy++) divisors[n * times + copy] = divisor;
  }
  return divisors;
}
