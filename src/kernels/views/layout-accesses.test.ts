/** Lowered layouts read and write what their constructors say. */
import { expect, it } from 'vitest';
import { coordinatesOf, randomLayout } from '../../../test/support/layouts.ts';
import { randomFor } from '../../../test/support/random.ts';
import {
  evaluate,
  formatIndex,
  guardKey,
  holds,
  type Index,
  type IntegerTable,
  index,
  indexKey,
  scale,
  TableBuilder,
  type Var,
  variable,
} from '../../ir/index.ts';
import * as l from '../../layout/index.ts';
import { type Access, accessesOf } from './layout-accesses.ts';

const random = randomFor('kernels/layouts');

function tablesOf(): (order: l.Order) => IntegerTable {
  const tables = new TableBuilder('f64');
  return (order) => tables.integers(JSON.stringify(order), () => [...l.orderIndices(order)]);
}

/** Where an access to memory is. */
function indexOf(access: Access | undefined): Index {
  if (!access || !('array' in access)) throw new Error('no access to memory');
  return access.index;
}

/** The elements that accesses touch at some values of variables. */
function touched(accesses: readonly Access[], at: ReadonlyMap<Var, number>): l.Element[] {
  const value = (own: Index) => evaluate(own, at);
  return accesses.flatMap((access): l.Element[] => {
    if (!holds(access.guard, value)) return [];
    const negated = (access.negated ?? false) !== (access.parity ? value(access.parity) % 2 === 1 : false);
    if ('array' in access) return [{ array: access.array, place: value(access.index), negated, calls: [] }];
    const call = { by: access.by, at: access.at.map(value), negated };
    const inner = touched(access.parts[access.part]!, at);
    if (inner.length === 0) return [{ negated: false, calls: [call] }];
    return inner.map((own) => ({ ...own, calls: [call, ...own.calls] }));
  });
}

it('at each coordinate one access is made, of the right place, or none for a zero', () => {
  let elements = 0;
  for (let round = 0; round < 1500; round++) {
    const { layout, meaning, text } = randomLayout(random, 7);
    if (layout.shape.includes(0)) continue;
    const variables = layout.shape.map((count, d) => variable(`i${d}`, count));
    // Some of them are known, as the part of a number is, or counted by a multiple and a rest.
    const known = random.integer(0, 2) === 0 ? random.integer(0, layout.shape.length - 1) : -1;
    const at = variables.map((own, d) => (d === known ? layout.shape[d]! - 1 : index(own)));
    const batch = random.integer(0, layout.shape.length);
    const accesses = accessesOf(layout, at, batch, tablesOf());
    for (const coordinates of coordinatesOf(layout.shape)) {
      if (known >= 0 && coordinates[known] !== layout.shape[known]! - 1) continue;
      elements++;
      const values = new Map(variables.map((own, d) => [own, coordinates[d]!]));
      const wanted = meaning.at(coordinates);
      const zeroSign = wanted && wanted.place === undefined ? { ...wanted, negated: false } : wanted;
      const found = touched(accesses, values);
      const same = found.length === (zeroSign ? 1 : 0) && (!zeroSign || sameElement(found[0]!, zeroSign));
      if (!same)
        expect(found, `${text} at ${coordinates}, ${l.printLayout(layout)}`).toEqual(zeroSign ? [zeroSign] : []);
    }
  }
  expect(elements).toBeGreaterThan(10_000);
});

function sameElement(a: l.Element, b: l.Element): boolean {
  return (
    a.array === b.array &&
    a.place === b.place &&
    a.negated === b.negated &&
    JSON.stringify(a.calls) === JSON.stringify(b.calls)
  );
}

it('memory is one access, at the index that its strides say', () => {
  const [n, c] = [variable('n', 8), variable('c', 4)];
  const [access, ...others] = accessesOf(l.memory('input', [8, 4], [2, 16], 5), [n, c], 1, tablesOf());
  expect(others).toEqual([]);
  expect(formatIndex(indexOf(access))).toBe('2*n + 16*c + 5');
  expect(access!.guard).toEqual([]);
});

it('a hole is one bound, and a gap of the batch one access that jumps', () => {
  const [n, c] = [variable('n', 8), variable('c', 10)];
  const of = l.memory('input', [8, 10], [1, 8]);
  const hole = accessesOf(l.without(of, 0, 2, 5), [n, c], 1, tablesOf());
  expect(hole.map(({ guard }) => guard)).toEqual([[{ index: index(n), from: 2, to: 5, outside: true }]]);
  const shorter = variable('c', 7);
  const gap = accessesOf(l.gap(of, 1, 4, 7), [n, shorter], 1, tablesOf());
  expect(gap.map(({ guard }) => guardKey(guard))).toEqual(['']);
  expect([3, 4].map((at) => evaluate(indexOf(gap[0]), new Map([[shorter, at]])))).toEqual([24, 56]);
  const pieces = accessesOf(l.gap(of, 0, 4, 7), [variable('n', 5), c], 1, tablesOf());
  expect(pieces.length).toBe(2);
});

it('what lies beyond the borders of an array is the same access, along one dimension and along two', () => {
  const [n, c] = [variable('n', 9), variable('c', 9)];
  const of = l.memory('input', [5, 5], [1, 5]);
  const edge = (layout: l.Layout, d: number, from: number) => l.join(l.repeat(l.slice(layout, d, from, 1), d, 2), d);
  const clamped = (layout: l.Layout, d: number) => l.concat(d, edge(layout, d, 0), layout, edge(layout, d, 4));
  const ends = (layout: l.Layout) =>
    l.concat(1, l.slice(layout, 1, 3, 2), layout, l.reverse(l.slice(layout, 1, 3, 2), 1));
  for (const both of [clamped(clamped(of, 0), 1), ends(clamped(of, 0))]) {
    expect(accessesOf(both, [n, c], 0, tablesOf()).map(({ guard }) => guard)).toEqual([[]]);
    expect(accessesOf(both, [n, c], 2, tablesOf()).length).toBe(9);
  }
});

it('a bound that others imply is left out', () => {
  const n = variable('n', 8);
  const of = l.within(l.pad(l.memory('input', [10], [1]), 0, 1, 1), 0, 0, 12);
  const accesses = accessesOf(l.slice(l.within(of, 0, 3, 6), 0, 0, 8), [n], 1, tablesOf());
  expect(accesses.map(({ guard }) => guard.length)).toEqual([1]);
});

it('signs that alternate are the parity of an index', () => {
  const n = variable('n', 8);
  const of = l.alternate(l.memory('input', [16], [1]), 0);
  const [access] = accessesOf(of, [variable('n', 16)], 1, tablesOf());
  expect(access!.parity).toBeDefined();
  const [even] = accessesOf(of, [scale(n, 2)], 1, tablesOf());
  expect(even!.parity).toBeUndefined();
  expect(indexKey(indexOf(even))).toBe(indexKey(scale(n, 2)));
});

it('a function of complex numbers is called with both parts, whichever part is asked for', () => {
  const n = variable('n', 4);
  // The conjugate of each number behind the first ones.
  const numbers = l.mapNumbers(l.memory('input', [4, 2], [2, 1]), 'f', [0]);
  const conjugate = l.concat(1, l.slice(numbers, 1, 0, 1), l.negate(l.slice(numbers, 1, 1, 1)));
  for (const part of [0, 1]) {
    const [call, ...others] = accessesOf(l.reverse(conjugate, 0), [n, part], 1, tablesOf());
    expect(others).toEqual([]);
    if (!call || 'array' in call) throw new Error('no call');
    expect([call.by, call.part, call.negated ?? false]).toEqual(['f', part, part === 1]);
    expect(call.at.map(formatIndex)).toEqual(['-1*n + 3']);
    expect(call.parts.map((own) => own.map((access) => formatIndex(indexOf(access))))).toEqual([
      ['-2*n + 6'],
      ['-2*n + 7'],
    ]);
  }
});
