import { describe, expect, it } from 'vitest';
import type { ArrayRef } from './arrays.ts';
import { add, evaluate, type Index, index, scale, type Var, variable } from './integer.ts';
import { Expressions } from './real.ts';
import {
  blocked,
  coordinates,
  type Format,
  interleaved,
  mappedLoad,
  mappedStore,
  planar,
  runsView,
  stackedPlanes,
  strided,
  swapped,
} from './views.ts';

const array: ArrayRef = { name: 'a', space: 'global', type: 'f32' };
const second: ArrayRef = { name: 'b', space: 'global', type: 'f32' };
const e = variable('e', 24);

/** Where the two parts of element n lie: array name and index. */
function places(format: Format, n: number): [string, number][] {
  const at = new Map<Var, number>([[e, n]]);
  return [format.re(index(e)), format.im(index(e))].map(([where, place]) => [where.name, evaluate(place, at)]);
}

describe('formats', () => {
  it('put the parts where their names say', () => {
    expect(places(interleaved(array), 5)).toEqual([
      ['a', 10],
      ['a', 11],
    ]);
    expect(places(planar(array, second), 5)).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
    expect(places(stackedPlanes(array, 24), 5)).toEqual([
      ['a', 5],
      ['a', 29],
    ]);
    expect(places(blocked(array, 4), 5)).toEqual([
      ['a', 9],
      ['a', 13],
    ]);
    expect(places(blocked(array, 2), 5)).toEqual([
      ['a', 9],
      ['a', 11],
    ]);
  });

  it.each([
    ['interleaved', interleaved(array)],
    ['planar', planar(array, second)],
    ['split', stackedPlanes(array, 24)],
    ['blocked by 4', blocked(array, 4)],
    ['blocked by 8', blocked(array, 8)],
  ])('%s: every number has one place', (_, format) => {
    const all = Array.from({ length: 24 }, (_, n) => places(format, n)).flat();
    expect(new Set(all.map(([name, place]) => `${name}${place}`)).size).toBe(48);
    const last = Math.max(...all.map(([, place]) => place));
    expect(last).toBe(new Set(all.map(([name]) => name)).size === 2 ? 23 : 47);
  });
});

describe('views', () => {
  const [i, j] = [variable('i', 3), variable('j', 5)];
  const indexOf = (at: readonly [Index, Index]) =>
    evaluate(
      add(...at),
      new Map([
        [i, 2],
        [j, 4],
      ]),
    );

  it('step through memory by strides, from an offset', () => {
    const x = new Expressions();
    const view = strided(interleaved(array), [7, 2], 100);
    const { re, im } = view.load(x, [i, j]);
    if (re.op !== 'load' || im.op !== 'load') throw new Error('a load was expected');
    expect(indexOf([re.index, index(0)])).toBe(2 * (100 + 14 + 8));
    expect(indexOf([im.index, index(-1)])).toBe(2 * (100 + 14 + 8));
    const stores = view.store(x, [i, j], { re: x.constant(1), im: x.constant(2) });
    expect(
      stores.map((store) =>
        evaluate(
          store.index,
          new Map([
            [i, 1],
            [j, 0],
          ]),
        ),
      ),
    ).toEqual([214, 215]);
  });

  it('of runs begin anywhere, and go on in a format of their own', () => {
    const x = new Expressions();
    const view = runsView(blocked(array, 4), (run) => add(scale(run, 100), 7));
    const stores = view.store(x, [6, 3], { re: x.constant(1), im: x.constant(2) });
    expect(stores.map((store) => evaluate(store.index, new Map()))).toEqual([317, 321]);
    const { re, im } = view.load(x, [i, j]);
    if (re.op !== 'load' || im.op !== 'load') throw new Error('a load was expected');
    expect([re, im].map((load) => indexOf([load.index, index(0)]))).toEqual([409, 413]);
    const planes = runsView(planar(array, second), (run) => scale(run, 10));
    const { re: first, im: last } = planes.load(x, [2, 1]);
    expect(
      [first, last].map((load) => load.op === 'load' && [load.array.name, evaluate(load.index, new Map())]),
    ).toEqual([
      ['a', 12],
      ['b', 12],
    ]);
  });

  it('exchange the parts, on both sides', () => {
    const x = new Expressions();
    const plain = strided(planar(array, second), [1]);
    const view = swapped(plain);
    const value = plain.load(x, [i]);
    expect(view.load(x, [i])).toEqual({ re: value.im, im: value.re });
    expect(view.store(x, [i], value)).toEqual(plain.store(x, [i], { re: value.im, im: value.re }));
  });

  it('compute on what passes through, on their side only', () => {
    const x = new Expressions();
    const plain = strided(interleaved(array), [1]);
    const double = (of: Expressions, value: { re: import('./real.ts').Real; im: import('./real.ts').Real }) =>
      of.cscale(value, of.constant(2));
    const value = plain.load(x, [i]);
    expect(mappedLoad(plain, double).load(x, [i])).toEqual(double(x, value));
    expect(mappedLoad(plain, double).store(x, [i], value)).toEqual(plain.store(x, [i], value));
    expect(mappedStore(plain, double).store(x, [i], value)).toEqual(plain.store(x, [i], double(x, value)));
    expect(mappedStore(plain, double).load(x, [i])).toEqual(value);
  });

  it('take flat numbers apart', () => {
    const flat = variable('flat', 60);
    const parts = coordinates(flat, [3, 4, 5]);
    for (let n = 0; n < 60; n++) {
      const at = new Map<Var, number>([[flat, n]]);
      const [a, b, c] = parts.map((part) => evaluate(part, at)) as [number, number, number];
      expect(a + 3 * b + 12 * c).toBe(n);
      expect([a < 3, b < 4, c < 5]).toEqual([true, true, true]);
    }
    expect(coordinates(add(i, scale(j, 3)), [3, 5])).toEqual([index(i), index(j)]);
  });
});
