/** Shared memory that holds one part at a time. */
import { describe, expect, it } from 'vitest';
import { type ArrayRef, add, Expressions, index, type Kernel, type Phase, scale, variable } from '../../../ir/index.ts';
import { emitCuda } from '../../cuda/index.ts';

const group = variable('group', 2);
const [i, j] = [variable('i', 8), variable('j', 8)];
const n = variable('n', 4);
const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
const shared: ArrayRef = { name: 'shared', space: 'shared', type: 'f32', length: 16, partLength: 8 };

function kernelOf(second: (x: Expressions) => Phase['stores'], extra: Phase['stores'] = []): Kernel {
  const x = new Expressions();
  const at = add(i, scale(group, 8));
  const halves = [0, 8].map((start) => ({ array: shared, index: add(i, start), value: x.load(input, add(at, start)) }));
  const phase = { repeatable: false, readsFirst: true, exchange: 'group' } as const;
  return {
    name: 'halves',
    precision: 'f32',
    group,
    threads: 4,
    globals: [input],
    tables: [],
    shared: [shared],
    phases: [
      { ...phase, loops: [{ variable: i }], lanes: i, stores: [...halves, ...extra] },
      { ...phase, loops: [{ variable: j }], lanes: j, stores: second(new Expressions()) },
    ],
  };
}

describe('halves', () => {
  it('lose nothing that a phase stores elsewhere', () => {
    const elsewhere = { array: input, index: add(i, scale(group, 8), 32), value: new Expressions().constant(7) };
    const back = (x: Expressions) => [{ array: input, index: index(j), value: x.load(shared, j) }];
    expect(emitCuda(kernelOf(back, [elsewhere])).source.split('7.0f').length).toBe(3);
  });

  it('are both needed by a sum over what lies in either', () => {
    const total = (from: number) => (x: Expressions) => [
      { array: input, index: index(j), value: x.sum(n, x.load(shared, add(n, from))) },
    ];
    expect(() => emitCuda(kernelOf(total(6)))).toThrow(/all of them in memory/);
    // What lies in one half is added up while that is there: before the barrier after which the other half is written.
    const { source } = emitCuda(kernelOf(total(4)));
    expect(source.lastIndexOf('for (')).toBeGreaterThan(0);
    expect(source.lastIndexOf('__syncthreads();')).toBeGreaterThan(source.lastIndexOf('for ('));
  });
});
