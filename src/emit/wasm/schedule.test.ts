import { describe, expect, it } from 'vitest';
import {
  type ArrayRef,
  add,
  Expressions,
  index,
  type Loop,
  type Phase,
  reachable,
  scale,
  sub,
  variable,
} from '../../ir/index.ts';
import { type LoopNode, schedule, statementsOf } from './schedule.ts';

/** Doubles what lies in rows of eight numbers. */
function rows(count: number, change: Partial<Loop> = {}): Phase {
  const row = variable('row', count);
  const i = variable('i', 8);
  const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
  const x = new Expressions();
  const at = add(scale(row, 8), i);
  const value = x.load(input, at);
  return {
    loops: [{ variable: row, ...change }, { variable: i }],
    lanes: i,
    stores: [{ array: { ...input, name: 'output' }, index: at, value: x.add(value, value) }],
    repeatable: true,
    exchange: 'group',
  };
}

function kindsOf(nodes: readonly LoopNode[]): string[] {
  return nodes.map(({ kind }) => kind);
}

describe('nests of loops', () => {
  it('of a few iterations in all are unrolled whole, one body for each of the outer ones', () => {
    // Two vectors in each row: eight in four rows.
    expect(kindsOf(schedule(rows(4), 4))).toEqual(['body', 'body', 'body', 'body']);
    expect(kindsOf(schedule(rows(5), 4))).toEqual(['loop']);
    expect(kindsOf(schedule(rows(2), 2))).toEqual(['body', 'body']);
    expect(kindsOf(schedule(rows(3), 2))).toEqual(['loop']);
  });

  it('are not where their end is known at run time only, or somebody says how they are to be unrolled', () => {
    expect(kindsOf(schedule(rows(4, { limit: index(3) }), 4))).toEqual(['clip']);
    // Rows side by side in one body.
    expect(kindsOf(schedule(rows(4, { unroll: 4 }), 4))).toEqual(['body']);
  });
});

describe('lane loops', () => {
  /** Reads up to some number, and backwards from there. */
  function turning(count: number, at: number): Phase {
    const i = variable('i', count);
    const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
    const x = new Expressions();
    const [first, second] = [
      x.load(input, index(i), [{ index: index(i), from: 0, to: at }]),
      x.load(input, sub(count, i), [{ index: index(i), from: at, to: count }]),
    ];
    return {
      loops: [{ variable: i }],
      lanes: i,
      stores: [{ array: { ...input, name: 'output' }, index: index(i), value: x.add(first, second) }],
      repeatable: true,
      exchange: 'group',
    };
  }
  const guarded = (nodes: readonly LoopNode[], phase: Phase): number[] =>
    nodes.flatMap((node) => {
      if (node.kind !== 'body') return guarded(node.children, phase);
      const values = reachable(statementsOf(node, phase).stores.map(({ value }) => value));
      return values.filter((value) => value.op === 'load' && value.guard?.length).length;
    });

  it('are cut where guards turn, so that only vectors in which they do ask for them', () => {
    const even = turning(64, 32);
    expect(guarded(schedule(even, 4), even).every((loads) => loads === 0)).toBe(true);
    const torn = turning(64, 31);
    expect(guarded(schedule(torn, 4), torn).filter((loads) => loads > 0)).toEqual([2]);
  });
});
