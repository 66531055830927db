/** Numbers whose parts are neighbouring lanes: `swap` and `conj`, as WebAssembly and by an interpreter. */
import { describe, expect, it } from 'vitest';
import { expectSame } from '../../../test/support/wasm.ts';
import {
  type ArrayRef,
  add,
  div,
  type ElementType,
  Expressions,
  type Kernel,
  mod,
  type Phase,
  scale,
  variable,
  verify,
} from '../../ir/index.ts';

/** Numbers in pairs of lanes, rotated by a quarter and stored row by row; `members` numbers are stored side by side. */
function inPairs(type: ElementType, items: number, members: number, turned: number): Kernel {
  const [input, output] = ['input', 'output'].map((name): ArrayRef => ({ name, space: 'global', type }));
  const x = new Expressions();
  const part = variable('part', 2 * items);
  const lane = { variable: part };
  const stores = Array.from({ length: members }, (_, m) => {
    const value = x.load(input!, add(part, 2 * items * m));
    const one = x.add(value, x.conj(x.mul(x.constant(0.75), x.swap(value))));
    const other = x.sub(x.swap(x.conj(x.mul(value, x.load(input!, add(part, m))))), value);
    const index = add(scale(div(part, 2), members + turned), scale(mod(part, 2), 500), m);
    return { array: output!, index, value: m % 2 === 0 ? one : other };
  });
  const phase: Phase = { loops: [lane], lanes: part, stores, repeatable: true, exchange: 'group' };
  const group = variable('group', 1);
  const globals = [input!, output!];
  return { name: 'pairs', precision: type, group, threads: 1, globals, tables: [], shared: [], phases: [phase] };
}

describe('numbers in pairs of lanes', () => {
  it.each(['f32', 'f64'] as const)('are exchanged and conjugated, %s', (type) => {
    for (let items = 1; items <= 13; items++) {
      for (let members = 1; members <= 9; members++) {
        expectSame(inPairs(type, items, members, items % 3), { input: 260, output: 1000 });
      }
    }
  });

  it('are refused where an item is without its neighbour', () => {
    const { phases, ...kernel } = inPairs('f32', 3, 1, 0);
    const [phase] = phases as [Phase];
    const odd = { ...phase, loops: [{ variable: variable('part', 7) }] };
    const wrong = [
      { ...phase, repeatable: false },
      { ...phase, loops: [{ ...phase.loops[0]!, limit: add(5) }] },
      { ...odd, lanes: odd.loops[0]!.variable },
    ];
    for (const one of wrong) {
      expect(verify({ ...kernel, phases: [one] })).toContain('pairs, phase 0: an item may be without its neighbour');
    }
  });
});
