import { describe, expect, it } from 'vitest';
import { planDirection } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import { replay } from '../../test/support/replay.ts';
import { openWith } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';

const profiles = { h200: namedProfiles.h200.profile, cpu: namedProfiles['wasm-cpu'].profile };

function temps(name: keyof typeof profiles, input: ProblemInput, strategy: 'fast' | 'least-memory'): number[] {
  const problem = normalizeProblem({ ...input, strategy });
  return (['forward', 'inverse'] as const).map((direction) => {
    const plan = planDirection(problem, direction, profiles[name], false);
    if (plan.tempElements < 2 ** 16) replay(plan, problem, false);
    return plan.assignment.temps;
  });
}

describe('strategy: least-memory', () => {
  it.each<[keyof typeof profiles, ProblemInput]>([
    ['h200', { size: [2 ** 20] }],
    ['h200', { size: [30030], batches: 2 }],
    ['cpu', { size: [64, 65536] }],
    ['cpu', { size: [2, 16384] }],
    ['cpu', { size: [4, 16384, 3], layout: 'planar' }],
  ])('on %s does without the temp buffer that speed would take for %o', (name, input) => {
    expect(temps(name, input, 'fast')).toEqual([1, 1]);
    expect(temps(name, input, 'least-memory')).toEqual([0, 0]);
  });

  it('takes no more than the fast plan where nothing can be saved, and no padding', () => {
    for (const placement of ['in-place', 'out-of-place'] as const) {
      for (const size of [[2 ** 20], [2 ** 26], [512, 512], [17, 65536]]) {
        for (const name of ['h200', 'cpu'] as const) {
          const [fast] = temps(name, { size, placement }, 'fast');
          const [least] = temps(name, { size, placement }, 'least-memory');
          expect(least).toBeLessThanOrEqual(fast!);
        }
      }
    }
    const long = { size: [64, 65536], placement: 'in-place' } as const;
    const [fast, least] = (['fast', 'least-memory'] as const).map(
      (strategy) => planDirection(normalizeProblem({ ...long, strategy }), 'forward', profiles.cpu, false).tempElements,
    );
    expect(fast).toBeGreaterThan(64 * 65536);
    expect(least).toBe(64 * 65536);
  });

  it('computes what the fast plan does, and can be saved', async () => {
    const device = await openWith({});
    const problem = { size: [8, 16384], precision: 'double' } as const;
    const random = randomFor('plan/strategy');
    const data = Float64Array.from({ length: 2 * 8 * 16384 }, () => random.unit());
    const fast = await device.plan(problem);
    const least = await device.plan({ ...problem, strategy: 'least-memory' });
    const saved = await device.plan({ ...problem, strategy: 'least-memory' }, { from: least.serialize() });
    expect(fast.bytes.temp).toBeGreaterThan(0);
    expect([least.bytes.temp, saved.bytes.temp]).toEqual([0, 0]);
    const [expected, found, again] = await Promise.all([fast, least, saved].map((plan) => plan.forward(data)));
    const scale = Math.hypot(expected![0]!, expected![1]!);
    const worst = found!.reduce((most, value, n) => Math.max(most, Math.abs(value - expected![n]!)), 0);
    expect(worst).toBeLessThan(1e-13 * scale);
    expect(again).toEqual(found);
    device.close();
  });
});
