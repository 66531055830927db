import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { randomSide, randomSize, randomWorldProblem, Symbolic, worldProblem } from '../../../test/support/world.ts';
import type { WorldProblem, WorldProblemInput } from '../../problem/world/index.ts';
import { normalizeRedistribution } from '../../problem/world/index.ts';
import { decompositionsOf, redistributionSchedule, scheduleOf, trafficOf } from './index.ts';

const random = randomFor('plan/world');
const ways = ['blocks', 'types', 'pairs'] as const;

/** A random way to compute a problem. */
function scheduled(problem: WorldProblem) {
  const all = decompositionsOf(problem);
  return scheduleOf(problem, { decomposition: random.pick(all), chunks: random.integer(1, 3), way: random.pick(ways) });
}

function whatOf(input: WorldProblemInput, ranks: number): string {
  return `${ranks} ranks ${JSON.stringify(input)}`;
}

describe('a schedule', () => {
  it('brings every element where each pass and the caller expect it, in both directions', () => {
    for (let round = 0; round < 150; round++) {
      const ranks = random.integer(1, 9);
      const input = randomWorldProblem(random, ranks, 400, 'c2c');
      const schedule = scheduled(worldProblem(input, ranks));
      const what = `${whatOf(input, ranks)} ${JSON.stringify(schedule.passes!.decomposition)} ${schedule.way}`;
      expect(new Symbolic(schedule).run('forward'), what).toEqual([]);
      expect(new Symbolic(schedule).run('inverse'), what).toEqual([]);
    }
  });

  it.each([
    [64, [16, 16, 12], 'slab'],
    [1024, [33, 33, 34], [32, 32]],
    [1024, [8, 8, 8], 'auto'],
  ] as const)('holds for %i ranks of %j, decomposed %j', (ranks, size, decomposition) => {
    const problem = worldProblem(
      {
        size,
        decomposition: decomposition === 'slab' ? 'auto' : decomposition,
        input: { split: decomposition === 'auto' || decomposition === 'slab' ? 'slab' : [1, ...decomposition] },
        output: 'any',
      },
      ranks,
    );
    const kind = decomposition === 'auto' || decomposition === 'slab' ? 'slab' : 'pencils';
    const [first] = decompositionsOf(problem).filter((one) => one.kind === kind);
    const schedule = scheduleOf(problem, { decomposition: first!, chunks: 1, way: 'blocks' });
    expect(new Symbolic(schedule).run('forward')).toEqual([]);
  });

  it('sends as many elements and messages as the counts say that the costs rest on', () => {
    for (let round = 0; round < 60; round++) {
      const ranks = random.integer(2, 8);
      const input = randomWorldProblem(random, ranks, 300, 'c2c');
      const schedule = scheduled(worldProblem(input, ranks));
      const run = new Symbolic(schedule);
      run.run('forward');
      const perNode = random.integer(1, ranks);
      const told = schedule.reshapes.map((reshape) => trafficOf(reshape, perNode));
      const nodeOf = (rank: number) => Math.floor(rank / perNode);
      const leaving = run.messages.filter(({ from, to }) => nodeOf(from) !== nodeOf(to));
      const what = `${whatOf(input, ranks)} ${JSON.stringify(schedule.passes!.decomposition)}`;
      expect(
        told.reduce((sum, { elements }) => sum + elements, 0),
        what,
      ).toBe(run.sent.elements);
      expect(
        told.reduce((sum, { messages }) => sum + messages, 0),
        what,
      ).toBe(run.sent.messages);
      expect(
        told.reduce((sum, { leaving }) => sum + leaving, 0),
        `${what} between nodes of ${perNode}`,
      ).toBe(leaving.reduce((sum, { elements }) => sum + elements, 0));
    }
  });

  it('of a redistribution moves every element, whatever bricks there are', () => {
    for (let round = 0; round < 60; round++) {
      const ranks = random.integer(1, 7);
      const size = randomSize(random, 300);
      const shape = [...size, 1];
      const input = { size, input: randomSide(random, shape, ranks), output: randomSide(random, shape, ranks) };
      const move = normalizeRedistribution(input, ranks);
      const schedule = redistributionSchedule(move.input, move.output, ranks, random.pick(ways));
      expect(new Symbolic(schedule).run('forward'), JSON.stringify(input)).toEqual([]);
      expect(new Symbolic(schedule).run('inverse'), JSON.stringify(input)).toEqual([]);
    }
  });

  it('between cut axes needs no copies: passes write what is sent and read what was received', () => {
    const problem = worldProblem({ size: [15, 14, 13], input: { split: [1, 2, 3] }, output: 'any' }, 6);
    for (const decomposition of decompositionsOf(problem)) {
      const schedule = scheduleOf(problem, { decomposition, chunks: 2, way: 'blocks' });
      const inner = schedule.reshapes.map((_, n) => n).filter((n) => n > 0 || !schedule.reshapesFirst);
      for (const { plan } of new Symbolic(schedule).ranks) {
        for (const step of plan.steps) {
          if (step.kind === 'exchange' && inner.includes(step.reshape))
            expect([...step.pack, ...step.unpack]).toEqual([]);
        }
      }
    }
  });
});

describe('decompositions', () => {
  it('are those of batches, slabs and pencils of every R times C', () => {
    const kinds = decompositionsOf(worldProblem({ size: [8, 8, 8], batches: 3 }, 12)).map(
      ({ kind, ranks }) => `${kind} ${ranks}`,
    );
    expect(new Set(kinds)).toEqual(
      new Set(['none 3,1', 'slab 12,1', 'pencils 2,6', 'pencils 3,4', 'pencils 4,3', 'pencils 6,2']),
    );
  });

  it('that leave ranks without points are refused only where they were asked for', () => {
    expect(() => decompositionsOf(worldProblem({ size: [4, 4, 3], decomposition: 'slab' }, 8))).toThrow(
      expect.objectContaining({ code: 'too-few-points' }),
    );
    expect(() => decompositionsOf(worldProblem({ size: [4, 4], decomposition: [2, 2] }, 4))).toThrow(
      expect.objectContaining({ code: 'unsupported-feature' }),
    );
    expect(decompositionsOf(worldProblem({ size: [4, 4], decomposition: 'slab' }, 1))).toHaveLength(1);
    expect(decompositionsOf(worldProblem({ size: [4, 4, 3] }, 8)).length).toBeGreaterThan(1);
  });
});
