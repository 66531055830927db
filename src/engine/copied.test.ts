import { afterAll, expect, it } from 'vitest';
import { randomFor, uniform } from '../../test/support/random.ts';
import { openDevice } from './index.ts';

const device = await openDevice('cpu', { threads: 1 });
afterAll(() => device.close());

/** Everything in it is replaced, however deep it lies. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(value)) {
    spoil(field);
    if (typeof field !== 'object') (value as Record<string, unknown>)[name] = typeof field === 'number' ? 2 * field : 7;
  }
}

it('what is done to reports reaches no later plan', async () => {
  const x = Float32Array.from(uniform(randomFor('engine/copied'), 2 * 8 * 6 * 3, 'single'));
  const problem = { size: [8, 6], batches: 3 };
  const plan = await device.plan(problem);
  const [result, text] = [await plan.forward(x), plan.explain()];
  spoil(plan.toJSON());
  spoil(device.profile);
  plan.destroy();
  const again = await device.plan(problem);
  expect(again.explain()).toBe(text);
  expect(await again.forward(x)).toEqual(result);
  expect((await device.plan({ size: [4096] })).toJSON().directions[0]!.launches.length).toBe(1);
});
