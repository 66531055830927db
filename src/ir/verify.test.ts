import { describe, expect, it } from 'vitest';
import type { ArrayRef } from './arrays.ts';
import type { Guard } from './guard.ts';
import { add, div, type Index, type IndexLike, index, mod, scale, sub, type Var, variable } from './integer.ts';
import type { Kernel, Phase } from './kernel.ts';
import { Expressions } from './real.ts';
import { verify } from './verify.ts';

const group = variable('group', 3);
const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
const output: ArrayRef = { name: 'output', space: 'global', type: 'f32' };
const ping: ArrayRef = { name: 'ping', space: 'shared', type: 'f32', length: 8 };
const pong: ArrayRef = { name: 'pong', space: 'shared', type: 'f32', length: 8 };

/** Copies eight numbers, in whatever way a test wants it. */
function copy(from: ArrayRef, to: ArrayRef, change: { read?: Index; write?: Index; repeatable?: boolean } = {}): Phase {
  const i = variable('i', 8);
  const place = (array: ArrayRef) => (array.space === 'shared' ? index(i) : add(i, scale(group, 8)));
  const x = new Expressions();
  const value = x.load(from, change.read ?? place(from));
  return {
    loops: [{ variable: i }],
    lanes: i,
    stores: [{ array: to, index: change.write ?? place(to), value }],
    repeatable: change.repeatable ?? from !== to,
    exchange: 'group',
  };
}

function kernel(...phases: Phase[]): Kernel {
  return {
    name: 'test',
    precision: 'f32',
    group,
    threads: 1,
    globals: [input, output],
    tables: [],
    shared: [ping, pong],
    phases,
  };
}

/** Expects exactly one complaint, about the given phase. */
function expectOne(broken: Kernel, phase: number, what: RegExp): void {
  const problems = verify(broken);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^test, phase ${phase}: `));
  expect(problems[0]).toMatch(what);
}

describe('verify', () => {
  it('finds nothing in sound kernels', () => {
    expect(verify(kernel(copy(input, output)))).toEqual([]);
    expect(verify(kernel(copy(input, ping), copy(ping, pong), copy(pong, ping), copy(ping, output)))).toEqual([]);
    expect(verify(kernel(copy(input, input)))).toEqual([]);
    const [first, second] = [copy(input, ping), copy(ping, output)];
    expect(verify({ ...kernel(first, second), reverse: [copy(input, ping), second] })).toEqual([]);
  });

  it('finds folds of which something escapes', () => {
    const [i, n] = [variable('i', 8), variable('n', 5)];
    const x = new Expressions();
    const at = x.load(input, add(i, n));
    const zero = x.constant(0);
    const [sum] = x.fold(n, [zero], ([s]) => [x.add(s!, at)]);
    const store = (value: typeof at): Kernel => {
      const stores = [{ array: output, index: add(i, scale(group, 8)), value }];
      return kernel({ loops: [{ variable: i }], lanes: i, stores, repeatable: true, exchange: 'group' });
    };
    expect(verify(store(sum!))).toEqual([]);
    expectOne(store(x.mul(sum!, at)), 0, /n is used outside its fold/);
    expectOne(store(x.mul(sum!, x.carried(n, 0))), 0, /n is used outside its fold/);
    expectOne(store(x.mul(sum!, x.carried(variable('m', 3), 0))), 0, /m carries a value without a fold/);
    expectOne(store(x.fold(n, [zero], ([s]) => [x.add(s!, x.carried(n, 1))])[0]!), 0, /n carries fewer values/);
    expectOne(store(x.fold(n, [zero], ([s]) => [x.add(s!, sum!)])[0]!), 0, /has another one in its rounds/);
    expectOne(store(x.fold(n, [zero, zero], ([s]) => [x.add(s!, at)])[0]!), 0, /begins with other values/);
    const late = x.fold(n, [at], ([s]) => [x.add(s!, at)])[0]!;
    expect(verify(store(late)).join()).toMatch(/begins with what is only in its rounds/);
  });

  it('both ways of a kernel, and what they have in common once', () => {
    const [first, second] = [copy(input, ping), copy(ping, output)];
    expectOne({ ...kernel(first, second), reverse: [copy(input, pong), second] }, 1, /reads ping/);
    expectOne({ ...kernel(copy(input, pong), second), reverse: [first, second] }, 1, /reads ping/);
    expectOne({ ...kernel(copy(input, pong), second), reverse: [copy(input, pong), second] }, 1, /reads ping/);
    const problems = verify({ ...kernel(first, second), reverse: [copy(input, output)] });
    expect(problems).toEqual(['test: 1 phases the other way, not 2']);
  });

  it('shared memory that is read before it is written', () => {
    expectOne(kernel(copy(ping, output)), 0, /reads ping.*no earlier phase has written/);
    expectOne(kernel(copy(input, ping), copy(pong, output)), 1, /reads pong/);
  });

  it('shared memory that is read and written without an exchange between', () => {
    const i = variable('i', 8);
    const x = new Expressions();
    const both: Phase = {
      ...copy(ping, ping),
      loops: [{ variable: i }],
      lanes: i,
      stores: [{ array: ping, index: index(i), value: x.load(ping, add(7, scale(i, -1))) }],
    };
    expectOne(kernel(copy(input, ping), both), 1, /reads and writes ping without an exchange/);
  });

  describe('of phases in place', () => {
    /** Adds 1 to what lies at some places, or stores it elsewhere. */
    const phase = (read: (i: Var, j: Var) => IndexLike[], write = read, lanes = 4, array = ping): Phase => {
      const [i, j] = [variable('i', lanes), variable('j', 2)];
      const x = new Expressions();
      const values = read(i, j).map((at) => x.load(array, add(at)));
      const all = values.reduce((a, b) => x.add(a, b));
      const stores = write(i, j).map((at, n) => ({ array, index: add(at), value: x.add(all, values[n]!) }));
      const loops = [{ variable: j }, { variable: i }];
      return { loops, lanes: i, stores, repeatable: false, inPlace: 1, exchange: 'group' };
    };
    const whole = (own: Phase) => kernel(copy(input, ping), own, copy(ping, output));

    it('nothing where every item keeps to itself', () => {
      expect(verify(whole(phase((i, j) => [add(i, scale(j, 4))])))).toEqual([]);
      expect(verify(whole(phase((i, j) => [add(scale(i, 2), j)])))).toEqual([]);
      // Real and imaginary parts in blocks of two.
      const i = variable('i', 4);
      const re = add(scale(div(i, 2), 4), mod(i, 2));
      const parts = phase(() => [re, add(re, 2)]);
      expect(verify(whole({ ...parts, loops: [{ variable: i }], lanes: i }))).toEqual([]);
    });

    it('places that items share', () => {
      const shared = /two items may touch the same place of ping/;
      expectOne(whole(phase((i) => [i])), 1, shared);
      expectOne(whole(phase((i, j) => [add(i, j)])), 1, shared);
      expectOne(whole(phase((i, j) => [add(i, scale(j, 3))])), 1, shared);
      expectOne(whole(phase((i) => [i, add(i, 4)])), 1, shared);
      // Read by one item, written by another.
      expectOne(
        whole(
          phase(
            (i, j) => [add(i, scale(j, 4)), sub(7, add(i, scale(j, 4)))],
            (i, j) => [add(i, scale(j, 4))],
          ),
        ),
        1,
        shared,
      );
      expectOne(whole(phase((i, j) => [add(scale(div(i, 2), 2), j)])), 1, shared);
    });

    it('places whose form hides that items share them', () => {
      const hidden: readonly (readonly [number, (i: Var, j: Var) => IndexLike[]])[] = [
        // One variable walks back as the other walks on.
        [4, (i, j) => [add(i, scale(j, -1), 3)]],
        // Not all places move with both.
        [4, (i, j) => [add(i, scale(j, 4)), add(scale(j, 4), 16)]],
        // The last block is not whole, and reaches into the next item's.
        [5, (i, j) => [add(scale(div(i, 4), 8), mod(i, 4), scale(j, 8))]],
        // Two digits, but not of the same number, and not of the variable itself.
        [8, (i, j) => [add(scale(div(i, 4), 4), mod(i, 2), scale(j, 8))]],
        [8, (i, j) => [add(scale(div(scale(div(i, 2), 3), 4), 8), mod(scale(div(i, 2), 3), 4), scale(j, 32))]],
      ];
      for (const [lanes, places] of hidden) {
        const long: ArrayRef = { ...ping, length: 64 };
        const own = phase(places, places, lanes, long);
        const fill = copy(input, long);
        const problems = verify({ ...kernel(fill, own), shared: [long] });
        expect(problems).toEqual(['test, phase 1: two items may touch the same place of ping']);
      }
    });

    it('stores to places that others read', () => {
      const at = (i: Var, j: Var) => add(i, scale(j, 4));
      const elsewhere = (i: Var, j: Var) => [sub(7, at(i, j))];
      expectOne(whole(phase((i, j) => [at(i, j)], elsewhere)), 1, /two items may touch the same place of ping/);
      // Another array than it reads is no matter.
      expect(verify(kernel(copy(input, ping), { ...copy(ping, pong), repeatable: false, inPlace: 1 }))).toEqual([]);
    });

    it('numbers of items that are none', () => {
      const own = phase((i, j) => [add(i, scale(j, 4))]);
      expectOne(whole({ ...own, inPlace: 1.5 }), 1, /works in place by 1\.5 items/);
    });
  });

  describe('of memory that all groups see', () => {
    /** Changes eight numbers of its own, in place; and may read some of what is there by then. */
    const second = (read?: (i: Var) => IndexLike, of = group): Phase => {
      const i = variable('i', 8);
      const x = new Expressions();
      const own = add(i, scale(of, 8));
      const value = x.load(output, read ? add(read(i)) : own);
      const stores = [{ array: read ? input : output, index: own, value }];
      return { loops: [{ variable: i }], lanes: i, stores, repeatable: false, exchange: 'group' };
    };
    const complaint = (name: string) => `test: one group may write what another reads in ${name}`;
    const own = (i: Var) => add(i, scale(group, 8));

    it('nothing where every group has its own part', () => {
      expect(verify(kernel(copy(input, output), second()))).toEqual([]);
      expect(verify(kernel(copy(input, output), second(own)))).toEqual([]);
      expect(
        verify(
          kernel(
            copy(input, output),
            second((i) => add(7, scale(group, 8), scale(i, -1))),
          ),
        ),
      ).toEqual([]);
    });

    it('parts that groups share, or that cannot be told apart', () => {
      const reads: readonly ((i: Var) => IndexLike)[] = [
        (i) => i,
        (i) => add(i, scale(group, 8), 1),
        (i) => add(i, scale(group, 16)),
        (i) => add(i, scale(div(group, 2), 16)),
        (i) => add(16, i, scale(group, -8)),
      ];
      for (const read of reads) {
        expect(verify(kernel(copy(input, output), second(read)))).toEqual([complaint('output')]);
        // Whatever comes first.
        expect(verify(kernel(second(read), copy(input, output)))).toContain(complaint('output'));
      }
      // Blocks of a cluster are as independent until they exchange.
      const cluster = { blocks: 2, rank: variable('rank', 2) };
      const names = ['input', 'output'].map(complaint);
      expect(verify({ ...kernel(copy(input, output), second(own)), cluster })).toEqual(names);
    });

    it('anything that a single group does from phase to phase, but not within one', () => {
      const one = variable('group', 1);
      const fill = second(undefined, one);
      const x = new Expressions();
      const stores = fill.stores.map((store) => ({ ...store, value: x.load(input, store.index) }));
      const alone = (last: Phase) => ({ ...kernel({ ...fill, stores }, last), group: one });
      expect(verify(alone(second((i) => sub(7, i), one)))).toEqual([]);
      const mirror = second((i) => sub(7, i), one);
      const within = { ...mirror, stores: mirror.stores.map((store) => ({ ...store, array: output })) };
      expectOne(alone(within), 1, /two items may touch the same place of output/);
      expect(verify(alone({ ...within, readsFirst: true }))).toEqual([]);
    });
  });

  it('indices that leave shared memory', () => {
    expectOne(kernel(copy(input, ping, { write: add(group, 6) })), 0, /index of ping can be 8, its length is 8/);
    expectOne(kernel(copy(input, ping), copy(ping, output, { read: add(group, -1) })), 1, /index of ping can be -1/);
    expectOne(kernel(copy(input, output, { read: add(group, -2) })), 0, /index of input can be -2/);
  });

  it('but not what a guard keeps inside, a quotient apart', () => {
    const x = new Expressions();
    const [row, at] = [variable('row', 3), variable('at', 12)];
    const guard = [{ index: add(scale(row, 4), div(at, 3)), from: 5, to: 8 }];
    const place = add(scale(row, 12), at);
    const store = { array: output, index: place, value: x.load(input, add(place, -15), guard) };
    const phase = { ...copy(input, output), loops: [{ variable: row }, { variable: at }], lanes: at, stores: [store] };
    expect(verify(kernel(phase)).filter((problem) => /can be/.test(problem))).toEqual([]);
    const wider = { ...store, value: x.load(input, add(place, -18), guard) };
    expect(verify(kernel({ ...phase, stores: [wider] })).some((problem) => /input can be -3/.test(problem))).toBe(true);
  });

  it('nothing in what quotients of one variable say about it', () => {
    const i = variable('i', 8);
    const at = (read: Index, guard: Guard) => {
      const x = new Expressions();
      const phase = { ...copy(input, output), loops: [{ variable: i }], lanes: i };
      return kernel({ ...phase, stores: [{ array: output, index: index(i), value: x.load(input, read, guard) }] });
    };
    // 2·(i mod 2) − 4·(i div 2) + 12 is 0 and more; where i div 2 is 1 and more, i is 2 and more.
    const mirrored = (end: number) => add(end, scale(i, 2), scale(div(i, 2), -8));
    expect(verify(at(mirrored(12), []))).toEqual([]);
    expectOne(at(mirrored(11), []), 0, /index of input can be -1/);
    const guard = [{ index: div(i, 2), from: 1, to: 4 }];
    expect(verify(at(add(i, -2), guard))).toEqual([]);
    expectOne(at(add(i, -3), guard), 0, /index of input can be -1/);
    // An address that stays at the first element once and goes on, along two dimensions.
    const clamped = (of: Index) => sub(of, div(add(of, 15), 16));
    const both = (first: number) => add(clamped(index(i)), scale(clamped(index(group)), 8), first);
    expect(verify(at(both(0), []))).toEqual([]);
    expectOne(at(both(-1), []), 0, /index of input can be -1/);
    // Digits of 12 by 8 would count to 16.
    const wide = variable('c', 12);
    const write = add(scale(div(wide, 8), -8), wide);
    const turns = { ...copy(input, ping, { read: index(wide), write }), loops: [{ variable: wide }], lanes: wide };
    expect(verify(kernel(turns))).toEqual([]);
  });

  it('variables that are out of scope', () => {
    const stranger = variable('stranger', 4);
    expectOne(kernel(copy(input, output, { read: index(stranger) })), 0, /index of input uses stranger out of scope/);
    expectOne(kernel(copy(input, output, { write: add(group, stranger) })), 0, /index of output uses stranger/);
    const phase = copy(input, output);
    expectOne(kernel({ ...phase, lanes: stranger }), 0, /lane variable/);
  });

  it('arrays that are not declared, and tables that are written', () => {
    const table = { name: 'table', space: 'table', type: 'f32', length: 64, key: 'k', runs: () => [] } as const;
    expectOne(kernel(copy({ ...input, name: 'elsewhere' }, output)), 0, /array elsewhere is not declared/);
    expectOne({ ...kernel(copy(input, table)), tables: [table] }, 0, /writes the table/);
  });

  it('phases that may not be repeated although they say so', () => {
    expectOne(kernel(copy(input, input, { repeatable: true })), 0, /repeatable/);
  });
});
