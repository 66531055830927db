/**
 * Spreading: adds each point's strength to the grid points around it, without atomic operations.
 *
 * Points are sorted into **bins**, boxes of the grid by the first grid point that a point is spread over. A group takes the points of a bin
 * one after another (slices), and its threads the grid points around one. Bins of one **colour** lie so far apart that their groups never
 * add to the same grid point; a launch takes the bins of one colour. So the work is that of the points alone, however they lie.
 */
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
  type Store,
  scale,
  type Var,
  variable,
} from '../../ir/index.ts';
import {
  laterTable,
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

/** The arrays of the kernel. */
interface SpreadingArrays {
  readonly strengths: ArrayRef;
  readonly weights: ArrayRef;
  readonly factors: ArrayRef;
  readonly fine: ArrayRef;
  readonly own: ArrayRef;
  readonly points: IntegerTable;
  readonly starts: IntegerTable | undefined;
}

/** The item of a loop over the points of a bin. */
interface BinItem {
  readonly slice: { readonly variable: Var; readonly limit: Index };
  readonly point: Index;
  readonly transform: Index;
}

/**
 * The kernel of spreading. Globals: strengths, weights, factors if there are any, grid. Tables: points, bins (first point and number of
 * points of each bin of a colour), and starts if there are several transforms.
 * @param bins most bins of a colour
 */
export function spreadKernel(shape: NonuniformShape, bins: number): Kernel {
  const { type, transforms, capacity, hasFactors, target, grid, width } = shape;
  const arrays: SpreadingArrays = {
    strengths: operand('strengths', type),
    weights: operand('weights', type),
    factors: operand('factors', type),
    fine: { name: 'grid', space: 'global', type },
    own: { name: 'own', space: 'shared', type, length: target.lanes },
    points: pointTable(shape),
    starts: startTable(shape),
  };
  const { strengths, weights, factors, fine, own, points, starts } = arrays;
  const table = laterTable('bins', 2 * bins, capacity + 1);
  const group = variable('group', bins * transforms);
  const bin = scale(transforms > 1 ? mod(group, bins) : group, 2);
  const place = (): BinItem => {
    const slice = variable('point', capacity);
    return {
      slice: { variable: slice, limit: lookup(table, add(bin, 1)) },
      point: add(lookup(table, bin), slice),
      transform: transforms > 1 ? div(group, bins) : index(0),
    };
  };
  const items = 2 * spreadPoints(width, target.lanes) * width ** (grid.points.length - 1);
  return {
    name: 'spread',
    precision: type,
    group,
    threads: target.vectors ? 1 : threadCount(items, target),
    globals: [strengths, weights, ...(hasFactors ? [factors] : []), fine],
    tables: [points, table, ...(starts ? [starts] : [])],
    shared: [own],
    phases: [strengthPhase(shape, place(), arrays), gridPhase(shape, place(), arrays)],
  };
}

/** The strength of a point, times its factor, repeated to fill a vector. */
function strengthPhase(
  shape: NonuniformShape,
  { slice, point, transform }: BinItem,
  { strengths, factors, own, points, starts }: SpreadingArrays,
): Phase {
  const x = new Expressions();
  const lane = variable('part', shape.target.lanes);
  const part = mod(lane, 2);
  const { number } = pointAt(points, point);
  const at = scale(strengthAt(number, starts, transform), 2);
  const value = shape.hasFactors
    ? timesDeconvolution(x, x.load(strengths, at), x.load(strengths, add(at, 1)), factors, point, part)
    : x.load(strengths, add(at, part));
  return {
    loops: [slice, { variable: lane }],
    lanes: lane,
    stores: [{ array: own, index: index(lane), value }],
    repeatable: true,
    exchange: 'slice',
  };
}

/** A part of a complex product. A factor is stored as re, im, −im, re. */
export function timesDeconvolution(
  x: Expressions,
  re: Real,
  im: Real,
  factors: ArrayRef,
  point: Index,
  part: Index,
): Real {
  const at = add(scale(point, 4), part);
  return x.add(x.mul(re, x.load(factors, at)), x.mul(im, x.load(factors, add(at, 2))));
}

function gridPhase(
  shape: NonuniformShape,
  { slice, point, transform }: BinItem,
  { weights, own, fine, points }: SpreadingArrays,
): Phase {
  const x = new Expressions();
  const { grid, width, target } = shape;
  const layout = weightLayoutOf(shape);
  const reals = 2 * spreadPoints(width, target.lanes);
  // An item takes a vector; threads take single reals.
  const lane = variable('real', target.vectors ? target.lanes : reals);
  const others = grid.points.slice(1).map((_, n) => variable(`axis${n + 1}`, width));
  const { base } = pointAt(points, point);
  const row = scale(add(base, ...others.map((v, n) => scale(v, grid.strides[n + 1]!))), 2);
  const begin = add(row, scale(transform, 2 * grid.size));
  const ofPoint = scale(point, layout.stride);
  const factor = others.reduce<Real>(
    (product, v, n) => x.mul(product, x.load(weights, add(ofPoint, v, layout.starts[n + 1]!))),
    x.load(own, target.vectors ? index(lane) : mod(lane, 2)),
  );
  const stores: Store[] = [];
  for (let first = 0; first < reals; first += lane.count) {
    const at = add(begin, lane, first);
    const weight = x.load(weights, add(ofPoint, lane, first));
    stores.push({ array: fine, index: at, value: x.add(x.load(fine, at), x.mul(weight, factor)) });
  }
  return {
    loops: [slice, ...others.reverse().map((v) => ({ variable: v })), { variable: lane }],
    lanes: lane,
    stores,
    repeatable: false,
    inPlace: 1,
    exchange: 'group',
  };
}
