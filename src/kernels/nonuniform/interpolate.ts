/** Interpolation: each result is the sum of the grid points around a point, times their weights. */
import {
  type ArrayRef,
  add,
  div,
  Expressions,
  type Index,
  type IntegerTable,
  index,
  type Kernel,
  lookup,
  mod,
  type Phase,
  type Real,
  scale,
  type Var,
  variable,
} from '../../ir/index.ts';
import {
  CHUNK,
  chunkCount,
  chunkTable,
  type NonuniformShape,
  operand,
  pointAt,
  pointTable,
  spreadPoints,
  startTable,
  strengthAt,
  threadCount,
  weightLayoutOf,
} from './shape.ts';
import { timesDeconvolution } from './spread.ts';

/** The arrays of the kernel. */
interface InterpolationArrays {
  readonly weights: ArrayRef;
  readonly factors: ArrayRef;
  readonly fine: ArrayRef;
  readonly results: ArrayRef;
  readonly sums: ArrayRef;
  readonly points: IntegerTable;
  readonly starts: IntegerTable | undefined;
}

/** The item of a loop over a chunk of points. */
interface ChunkItem {
  readonly loop: { readonly variable: Var; readonly limit: Index };
  readonly point: Index;
  readonly transform: Index;
}

/**
 * The kernel of interpolation. Globals: weights, factors if there are any, grid, results. Tables: points, chunks, and starts if there are
 * several transforms.
 */
export function interpolationKernel(shape: NonuniformShape): Kernel {
  const { type, transforms, capacity, hasFactors, target, width } = shape;
  const arrays: InterpolationArrays = {
    weights: operand('weights', type),
    factors: operand('factors', type),
    fine: operand('grid', type),
    results: { name: 'results', space: 'global', type },
    sums: { name: 'sums', space: 'shared', type, length: target.lanes * width },
    points: pointTable(shape),
    starts: startTable(shape),
  };
  const chunks = chunkTable(shape);
  const count = chunkCount(capacity);
  const group = variable('group', count * transforms);
  const chunk = transforms > 1 ? mod(group, count) : index(group);
  const place = (): ChunkItem => {
    const point = variable('point', CHUNK);
    return {
      loop: { variable: point, limit: lookup(chunks, chunk) },
      point: add(scale(chunk, CHUNK), point),
      transform: transforms > 1 ? div(group, count) : index(0),
    };
  };
  const { weights, factors, fine, results, sums, points, starts } = arrays;
  return {
    name: 'interpolate',
    precision: type,
    group,
    threads: target.vectors ? 1 : threadCount(CHUNK, target),
    globals: [weights, ...(hasFactors ? [factors] : []), fine, results],
    tables: [points, chunks, ...(starts ? [starts] : [])],
    shared: target.vectors ? [sums] : [],
    phases: target.vectors
      ? [sumPhase(shape, place(), arrays), resultPhase(shape, place(), arrays)]
      : [threadPhase(shape, place(), arrays)],
  };
}

/** Adds up vectors: rows of the grid along axis 0; the planes of axis 2 are separate sums, to keep the phase short. */
function sumPhase(
  shape: NonuniformShape,
  { loop, point, transform }: ChunkItem,
  { weights, fine, sums, points }: InterpolationArrays,
): Phase {
  const x = new Expressions();
  const { grid, width, target } = shape;
  const { lanes } = target;
  const layout = weightLayoutOf(shape);
  const lane = variable('real', lanes);
  const plane = variable('plane', grid.points.length > 2 ? width : 1);
  const { base } = pointAt(points, point);
  const begin = add(scale(add(base, scale(plane, grid.strides[2] ?? 0)), 2), scale(transform, 2 * grid.size), lane);
  const ofPoint = scale(point, layout.stride);
  const rows = grid.points.length > 1 ? width : 1;
  let total: Real = x.constant(0);
  for (let first = 0; first < 2 * spreadPoints(width, lanes); first += lanes) {
    let column: Real = x.constant(0);
    for (let row = 0; row < rows; row++) {
      const value = x.load(fine, add(begin, first + 2 * row * (grid.strides[1] ?? 0)));
      const weight = rows > 1 ? x.load(weights, add(ofPoint, layout.starts[1]! + row)) : x.constant(1);
      column = x.add(column, x.mul(weight, value));
    }
    total = x.add(total, x.mul(x.load(weights, add(ofPoint, lane, first)), column));
  }
  return {
    loops: [loop, { variable: plane }, { variable: lane }],
    lanes: lane,
    stores: [{ array: sums, index: add(scale(plane, lanes), lane), value: total }],
    repeatable: true,
    exchange: 'slice',
  };
}

/** Adds up the lanes of a vector and the planes. */
function resultPhase(
  shape: NonuniformShape,
  { loop, point, transform }: ChunkItem,
  arrays: InterpolationArrays,
): Phase {
  const x = new Expressions();
  const { grid, width, target } = shape;
  const { weights, sums } = arrays;
  const layout = weightLayoutOf(shape);
  const part = variable('part', 2);
  const ofPoint = scale(point, layout.stride);
  const planes = grid.points.length > 2 ? width : 1;
  const sumOf = (of: Index): Real => {
    let total: Real = x.constant(0);
    for (let plane = 0; plane < planes; plane++) {
      let both: Real = x.constant(0);
      for (let lane = 0; lane < target.lanes; lane += 2) {
        both = x.add(both, x.load(sums, add(of, plane * target.lanes + lane)));
      }
      const weight = planes > 1 ? x.load(weights, add(ofPoint, layout.starts[2]! + plane)) : x.constant(1);
      total = x.add(total, x.mul(weight, both));
    }
    return total;
  };
  return {
    loops: [loop, { variable: part }],
    lanes: part,
    stores: [resultStore(shape, x, sumOf, { point, transform, part: index(part) }, arrays)],
    repeatable: true,
    exchange: 'group',
  };
}

interface ResultPlace {
  readonly point: Index;
  readonly transform: Index;
  readonly part: Index;
}

function resultStore(
  shape: NonuniformShape,
  x: Expressions,
  sumOf: (part: Index) => Real,
  { point, transform, part }: ResultPlace,
  { factors, results, points, starts }: InterpolationArrays,
) {
  const value = shape.hasFactors
    ? timesDeconvolution(x, sumOf(index(0)), sumOf(index(1)), factors, point, part)
    : sumOf(part);
  const { number } = pointAt(points, point);
  return { array: results, index: add(scale(strengthAt(number, starts, transform), 2), part), value };
}

/** The phase for threads: one point for each thread. */
function threadPhase(
  shape: NonuniformShape,
  { loop, point, transform }: ChunkItem,
  arrays: InterpolationArrays,
): Phase {
  const x = new Expressions();
  const { grid, width } = shape;
  const { weights, fine, points } = arrays;
  const layout = weightLayoutOf(shape);
  const { base } = pointAt(points, point);
  const ofPoint = scale(point, layout.stride);
  const axes = grid.points.map((_, axis) => variable(`axis${axis}`, width));
  const at = add(
    scale(add(base, ...axes.map((v, axis) => scale(v, grid.strides[axis]!))), 2),
    scale(transform, 2 * grid.size),
  );
  const sumOf = (part: Index): Real =>
    axes.reduce<Real>(
      (value, v, axis) => {
        const weight = x.load(weights, add(ofPoint, scale(v, axis === 0 ? 2 : 1), layout.starts[axis]!));
        return x.sum(v, x.mul(weight, value));
      },
      x.load(fine, add(at, part)),
    );
  return {
    loops: [loop],
    lanes: loop.variable,
    stores: [0, 1].map((part) => resultStore(shape, x, sumOf, { point, transform, part: index(part) }, arrays)),
    repeatable: true,
    exchange: 'group',
  };
}
