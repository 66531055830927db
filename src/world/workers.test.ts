import { afterAll, expect, it } from 'vitest';
import { randomFor } from '../../test/support/random.ts';
import { randomWorldProblem } from '../../test/support/world.ts';
import { triedOnWorld } from '../../test/support/world-trial.ts';
import { openDevice } from '../engine/index.ts';
import { openWorld } from './index.ts';

const random = randomFor('world/workers');
const alone = await openDevice('cpu', { threads: 1 });
afterAll(() => alone.close());

it.each([1, 2, 3, 4, 6])('%i ranks transform what one device transforms, however they share it', async (ranks) => {
  const world = await openWorld('workers', { ranks });
  try {
    for (let round = 0; round < 10; round++) {
      const problem = randomWorldProblem(random, ranks, random.pick([60, 400, 1500]));
      for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
        expect(damage, what).toEqual([]);
        expect(error, what).toBeLessThanOrEqual(allowed);
      }
    }
  } finally {
    await world.close();
  }
});
