/** Phases that run slice by slice: as WebAssembly and by an interpreter, and refused where slices do not keep apart. */
import { describe, expect, it } from 'vitest';
import { expectSame } from '../../../test/support/wasm.ts';
import {
  type ArrayRef,
  add,
  div,
  type ElementType,
  Expressions,
  type IndexLike,
  type Kernel,
  type Phase,
  scale,
  sub,
  type Var,
  variable,
  verify,
} from '../../ir/index.ts';

interface Shape {
  readonly type?: ElementType;
  /** Rows of a group, and of all groups together. */
  readonly rows?: number;
  readonly all?: number;
  readonly length?: number;
  /** Where phases read and write the array of all rows; where the second one between arrays writes it, if elsewhere. */
  readonly ping?: At;
  readonly back?: At;
}

/** The number in an array for a place in a row. */
type At = (row: Var, place: IndexLike) => IndexLike;

/** Every number plus its mirror image in its row, twice: all into one array, then row by row through another that has room for one. */
function mirrored({ type = 'f32', rows = 3, all = 6, length = 8, ...places }: Shape): Kernel {
  const group = variable('group', Math.ceil(all / rows));
  const [input, output] = ['input', 'output'].map((name): ArrayRef => ({ name, space: 'global', type }));
  const ping: ArrayRef = { name: 'ping', space: 'shared', type, length: 2 * rows * length };
  const pong: ArrayRef = { name: 'pong', space: 'shared', type, length };
  const { ping: ofPing = (row: Var, place: IndexLike) => add(place, scale(row, length)), back = ofPing } = places;
  const ofPong = (_: Var, place: IndexLike) => place;
  const outside = (row: Var, place: IndexLike) => add(place, scale(row, length), scale(group, rows * length));
  const limit = all % rows === 0 ? undefined : sub(all, scale(group, rows));
  const phase = (from: ArrayRef, read: At, to: ArrayRef, write: At, by: number, exchange: Phase['exchange']): Phase => {
    const row = variable('row', rows);
    const place = variable('place', length);
    const x = new Expressions();
    const mirror = x.load(from, add(read(row, sub(length - 1, place))));
    const value = x.add(x.load(from, add(read(row, place))), x.mul(x.constant(by), mirror));
    return {
      loops: [{ variable: row, ...(limit ? { limit } : {}) }, { variable: place }],
      lanes: place,
      stores: [{ array: to, index: add(write(row, place)), value }],
      repeatable: true,
      exchange,
    };
  };
  const between = [phase(ping, ofPing, pong, ofPong, 0.5, 'slice'), phase(pong, ofPong, ping, back, -2, 'slice')];
  const ways = [0.25, 3].map((by) => [
    phase(input!, outside, ping, ofPing, by, 'group'),
    ...between,
    phase(ping, ofPing, output!, outside, by, 'group'),
  ]);
  const globals = [input!, output!];
  const phases = { phases: ways[0]!, reverse: ways[1]! };
  return { name: 'rows', precision: type, group, threads: 1, globals, tables: [], shared: [ping, pong], ...phases };
}

describe('slices', () => {
  it.each(['f32', 'f64'] as const)('go through their phases one after another, both ways, %s', (type) => {
    for (const rows of [1, 2, 3, 5]) {
      for (const all of [rows, 2 * rows, 3 * rows - 1]) {
        for (const length of [1, 2, 4, 7, 16, 51]) {
          expectSame(mirrored({ type, rows, all, length }), { input: all * length, output: all * length });
        }
      }
    }
  });

  const expectOne = (kernel: Kernel, what: string) => {
    const { reverse, ...oneWay } = kernel;
    expect(verify(oneWay)).toEqual([what]);
    expect(verify({ ...oneWay, phases: reverse!, reverse: oneWay.phases })).toEqual([what]);
  };
  const changed = (kernel: Kernel, n: number, change: (phase: Phase) => Partial<Phase>): Kernel => {
    const [phases, reverse] = [kernel.phases, kernel.reverse!].map((way) =>
      way.map((phase, at) => (at === n ? { ...phase, ...change(phase) } : phase)),
    );
    return { ...kernel, phases: phases!, reverse: reverse! };
  };

  it('have their own part of an array, or write it before they read it', () => {
    const across = { ping: (row: Var, place: IndexLike) => add(place, scale(row, 7)) };
    expectOne(mirrored(across), "rows, phases 1 to 3: slices get into each other's way in ping");
    const transposed = { ping: (row: Var, place: IndexLike) => add(scale(place, 3), row) };
    expectOne(mirrored(transposed), "rows, phases 1 to 3: slices get into each other's way in ping");
    const beyond = { ping: (row: Var, place: IndexLike) => add(place, scale(div(add(row, 1), 2), 8)) };
    expectOne(mirrored(beyond), "rows, phases 1 to 3: slices get into each other's way in ping");
    const { phases, reverse: _, ...kernel } = mirrored({});
    const [fill, there, back, last] = phases as [Phase, Phase, Phase, Phase];
    // Row 0 reads what an earlier phase has left for the last row.
    const early = { ...fill, stores: fill.stores.map((store) => ({ ...store, array: there.stores[0]!.array })) };
    const inside = early.stores.map((store) => ({ ...store, index: add(fill.lanes) }));
    expect(verify({ ...kernel, phases: [fill, { ...early, stores: inside }, back, there, last] })).toEqual([
      "rows, phases 2 to 4: slices get into each other's way in pong",
    ]);
    // Twice as far from row to row where it is written as where it is read.
    const wide = { back: (row: Var, place: IndexLike) => add(place, scale(row, 16)) };
    expectOne(mirrored(wide), "rows, phases 1 to 3: slices get into each other's way in ping");
  });

  it('are the same in all their phases, and end with the last one', () => {
    const kernel = mirrored({});
    expectOne(
      changed(kernel, 3, () => ({ exchange: 'slice' })),
      'rows, phases 1 to 3: a slice goes on after the last phase',
    );
    const other = ({ loops: [row, place] }: Phase) => ({ loops: [{ ...row!, limit: add(2) }, place!] });
    expectOne(changed(kernel, 2, other), 'rows, phases 1 to 3: their outermost loops differ');
    expectOne(
      changed(kernel, 2, ({ loops: [row] }) => ({ lanes: row!.variable })),
      'rows, phases 1 to 3: lanes run across slices',
    );
    const longer = ({ loops: [row, place] }: Phase) => ({
      loops: [{ ...row!, variable: variable('row', 4) }, place!],
      stores: [],
    });
    expectOne(changed(kernel, 2, longer), 'rows, phases 1 to 3: their outermost loops differ');
    const { reverse: _, ...ragged } = mirrored({ all: 5 });
    const none = ragged.phases.map(({ loops: [row, place], ...phase }) => ({
      ...phase,
      loops: [{ ...row!, limit: add(-2, row!.limit!) }, place!],
    }));
    expect(verify(ragged)).toEqual([]);
    // A group may be without a slice.
    expect(verify({ ...ragged, phases: none })).toEqual([]);
    const alone = kernel.reverse!.map((phase) => ({ ...phase, exchange: 'group' as const }));
    expect(verify({ ...kernel, reverse: alone })).toContain('rows: other exchanges the other way');
    const fewer = kernel.reverse!.map((phase) => ({ ...phase, ...other(phase) }));
    expect(verify({ ...kernel, reverse: fewer })).toEqual(['rows: other slices the other way']);
  });

  it('do not write the input of others', () => {
    const all = changed(mirrored({}), 0, () => ({ exchange: 'slice' }));
    expect(verify(all)).toEqual([]);
    const what = 'rows, phases 0 to 3: slices may write what others have yet to read';
    expectOne({ ...all, aliased: true }, what);
    expect(verify({ ...mirrored({}), aliased: true })).toEqual([]);
    const input = all.globals[0]!;
    const intoInput = ({ stores }: Phase) => ({ stores: stores.map((store) => ({ ...store, array: input })) });
    // What one group has of the input, all of the last one's slices may write.
    expectOne(changed(all, 3, intoInput), "rows, phases 0 to 3: slices get into each other's way in input");
    const alone = changed(mirrored({ rows: 3, all: 3 }), 0, () => ({ exchange: 'slice' }));
    const own = ({ stores }: Phase) => ({ stores: stores.map((store) => ({ ...store, array: alone.globals[0]! })) });
    expect(verify(changed(alone, 3, own))).toEqual([]);
  });
});
