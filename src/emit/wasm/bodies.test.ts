import { describe, expect, it } from 'vitest';
import { type ArrayRef, add, Expressions, mod, type Phase, scale, variable } from '../../ir/index.ts';
import { prepareBody } from './bodies.ts';
import { type LoopNode, schedule } from './schedule.ts';

const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
const output: ArrayRef = { name: 'output', space: 'global', type: 'f32' };

/** Items copy from a signal of 64 numbers that goes round, `shift` numbers before theirs. */
function roundAbout(shift: number): Phase {
  const [q, i] = [variable('q', 8), variable('i', 8)];
  const at = add(scale(q, 8), i);
  const stores = [{ array: output, index: at, value: new Expressions().load(input, mod(add(at, 64 - shift), 64)) }];
  return { loops: [{ variable: q }, { variable: i }], lanes: i, stores, repeatable: true, exchange: 'group' };
}

function bodiesOf(phase: Phase) {
  const bodies = (nodes: readonly LoopNode[]): Extract<LoopNode, { kind: 'body' }>[] =>
    nodes.flatMap((node) => (node.kind === 'body' ? [node] : bodies(node.children)));
  return bodies(schedule(phase, 4)).map((body) => prepareBody(body, phase, 4, {}));
}

describe('a body', () => {
  it('is repeated where what goes round does so between its vectors', () => {
    for (const shift of [0, 8, 24]) {
      const [body, ...others] = bodiesOf(roundAbout(shift));
      expect(others).toEqual([]);
      expect(body).toMatchObject({ repetitions: 2 });
      const [load] = body!.accesses.loads.values();
      expect(load!.access).toMatchObject({ stride: 1, repeat: 4 });
    }
  });

  it('is written out where it may do so among them', () => {
    const [body] = bodiesOf(roundAbout(4));
    expect(body).toMatchObject({ repetitions: 1 });
    expect(body!.accesses.stores).toHaveLength(2);
  });
});
