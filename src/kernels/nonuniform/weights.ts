/**
 * The kernel that computes the weights of points: the values of the spreading kernel at the grid points around each point, axis by axis.
 */
import {
  type ArrayRef,
  add,
  Expressions,
  type Kernel,
  lookup,
  type Phase,
  scale,
  TableBuilder,
  variable,
} from '../../ir/index.ts';
import type { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import { CHUNK, chunkCount, chunkTable, type NonuniformShape, operand, threadCount, weightLayoutOf } from './shape.ts';

/**
 * The kernel of weights. Globals: `places` (for each point and axis the distance from the first grid point, as t of `polynomial`),
 * `weights`. Table: chunks.
 */
export function weightsKernel(shape: NonuniformShape, spreading: SemicircleKernel): Kernel {
  const { type, grid, capacity, target } = shape;
  const axes = grid.points.length;
  const layout = weightLayoutOf(shape);
  const places = operand('places', type);
  const weights: ArrayRef = { name: 'weights', space: 'global', type };
  const chunks = chunkTable(shape);
  const tables = new TableBuilder(type);
  const group = variable('group', chunkCount(capacity));
  const { degreeCount, width, upsampling } = spreading;
  const phases = grid.points.map((_, axis): Phase => {
    const x = new Expressions();
    const point = variable('point', CHUNK);
    const entry = variable('entry', layout.counts[axis]!);
    const number = add(scale(group, CHUNK), point);
    // Along the first axis, each weight is repeated for both parts of a number.
    const copies = axis === 0 ? 2 : 1;
    const key = `semicircle ${width} ${upsampling} ${copies} times ${entry.count}`;
    const start = tables.appendValues(key, degreeCount * entry.count, () =>
      polynomialTable(spreading, entry.count, copies),
    );
    const t = x.load(places, add(scale(number, axes), axis));
    let value = x.constant(0);
    for (let power = degreeCount - 1; power >= 0; power--) {
      const coefficient = x.load(tables.ref, add(entry, start + power * entry.count));
      value = power === degreeCount - 1 ? coefficient : x.add(x.mul(value, t), coefficient);
    }
    return {
      loops: [{ variable: point, limit: lookup(chunks, group) }, { variable: entry }],
      lanes: entry,
      stores: [{ array: weights, index: add(scale(number, layout.stride), entry, layout.starts[axis]!), value }],
      repeatable: true,
      exchange: axis < axes - 1 ? 'lane' : 'group',
    };
  });
  return {
    name: 'weights',
    precision: type,
    group,
    threads: target.vectors ? 1 : threadCount(CHUNK * 4, target),
    globals: [places, weights],
    tables: [...tables.all(), chunks],
    shared: [],
    phases,
  };
}

/**
 * Coefficients of the polynomials, lowest power first. Each power has one coefficient for each grid point, repeated `times` times, then
 * zeros.
 */
function polynomialTable(spreading: SemicircleKernel, entries: number, times: number): Float64Array {
  const { degreeCount, width } = spreading;
  const all = new Float64Array(degreeCount * entries);
  for (let i = 0; i < width; i++) {
    spreading.polynomial(i).forEach((coefficient, power) => {
      for (let copy = 0; copy < times; copy++) all[power * entries + i * times + copy] = coefficient;
    });
  }
  return all;
}
