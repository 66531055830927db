/** Prices of worlds against times on two H200s of one host, in place, single precision, output 'any' (docs/world.md). */
import { expect, it } from 'vitest';
import { rankDecompositions } from '../../plan/world/index.ts';
import { normalizeWorldProblem } from '../../problem/world/index.ts';
import { simulateWorld } from '../simulate.ts';
import { namedMachine, pricesOf } from './pricing.ts';

/** The largest allowed ratio of a price to a time, and of a time to a price. */
const NEAR = 1.25;

function expectNear(seconds: number, milliseconds: number): void {
  expect(1e3 * seconds).toBeLessThan(NEAR * milliseconds);
  expect(1e3 * seconds).toBeGreaterThan(milliseconds / NEAR);
}

it.each([
  [256, 'c2c', 0.156, 0.169],
  [512, 'c2c', 1.32, 1.66],
  [1024, 'c2c', 10.5, 13.2],
  [256, 'r2c', 0.116, undefined],
  [512, 'r2c', 0.83, undefined],
  [1024, 'r2c', 6.6, undefined],
] as const)('%i³ %s is simulated to take %s ms by stores into peers', async (n, transform, milliseconds, alone) => {
  const problem = { size: [n, n, n], transform, output: 'any', decomposition: 'slab' } as const;
  const told = await simulateWorld(problem, { ranks: 2, profile: 'h200' });
  expect(told.exchange).toBe('stores into the memory of peers');
  expectNear(told.chosen.seconds, milliseconds);
  if (alone === undefined) return;
  expectNear((await simulateWorld(problem, { ranks: 1, profile: 'h200' })).chosen.seconds, alone);
});

it.each([
  [256, 2, 0.226],
  [512, 4, 1.47],
  [1024, 4, 12.2],
] as const)('%i³ by copies in %i chunks is priced to take %s ms', async (n, chunks, milliseconds) => {
  const problem = normalizeWorldProblem({ size: [n, n, n], output: 'any', decomposition: 'slab' }, 2);
  const machine = await namedMachine('h200');
  const priceOfPass = pricesOf(problem.whole, machine.profile);
  const question = { problem, machine, perNode: 2, chunks, priceOfPass } as const;
  const [best] = rankDecompositions({ ...question, sending: () => 'copies' });
  expectNear(best!.seconds, milliseconds);
});

it('runs that are too short to be stored are told as copies', async () => {
  const told = await simulateWorld(
    { size: [8, 8], output: 'any', decomposition: 'slab' },
    { ranks: 8, profile: 'h200' },
  );
  expect(told.exchange).toBe('copies between devices');
});
