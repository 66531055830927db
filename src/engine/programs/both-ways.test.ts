import { afterEach, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { complaints } from '../../../test/support/transforms.ts';
import { create as createCpuBackend } from '../../devices/cpu/index.ts';
import type { CompiledKernel } from '../../devices/device.ts';
import type { ProblemInput } from '../../problem/index.ts';
import { Device } from '../device.ts';
import type { Plan } from '../index.ts';

const random = randomFor('engine/both-ways');
const opened: Device[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});

/** A device that tells which kernels it holds. */
async function open(threads = 1): Promise<{ device: Device; held: Set<CompiledKernel> }> {
  const backend = await createCpuBackend({ threads });
  const held = new Set<CompiledKernel>();
  const { compile, discard } = backend;
  backend.compile = (...given) => {
    const kernel = compile.apply(backend, given);
    held.add(kernel);
    return kernel;
  };
  backend.discard = (kernel) => {
    expect(held.delete(kernel)).toBe(true);
    discard.call(backend, kernel);
  };
  const device = new Device(backend);
  opened.push(device);
  return { device, held };
}

function sourcesOf(plan: Plan, direction: 'forward' | 'inverse'): unknown[] {
  return plan.kernels.filter((kernel) => kernel.direction === direction).map(({ source }) => source);
}

const alike: ProblemInput[] = [
  { size: [1024] },
  { size: [2187], precision: 'double', batches: 3 },
  { size: [1024], normalize: true },
  { size: [1000], scale: { forward: 3, inverse: -0.25 }, batches: 5 },
  { size: [512], placement: 'in-place' },
  { size: [512], layout: { input: 'planar', output: 'planar' } },
  { size: [2 ** 17] },
  { size: [243, 343], placement: 'in-place' },
  { size: [64, 60, 48], placement: 'in-place', normalize: true },
];

it.each([1, 2])('one kernel does both directions of what is alike on both sides, on %i threads', async (threads) => {
  for (const input of alike) {
    const { device, held } = await open(threads);
    const plan = await device.plan(input);
    const forward = sourcesOf(plan, 'forward');
    expect(new Set(sourcesOf(plan, 'inverse'))).toEqual(new Set(forward));
    expect(held.size).toBe(forward.length);
    const modes = ['host', 'alloc-sync', 'work'] as const;
    expect(await complaints(device, input, random, modes), JSON.stringify(input)).toEqual([]);
  }
});

it.each<ProblemInput>([
  { size: [1024], layout: { input: 'planar' } },
  { size: [1024], offsets: { input: 2 } },
  // Two passes: nothing lies between them.
  { size: [16] },
])('and two kernels do those of %j', async (input) => {
  const { device } = await open();
  const plan = await device.plan(input);
  expect(sourcesOf(plan, 'inverse')).not.toEqual(sourcesOf(plan, 'forward'));
  expect(await complaints(device, input, random, ['host'])).toEqual([]);
});

it('plans for one direction share it, whichever was made first', async () => {
  const { device, held } = await open();
  const both = await device.plan({ size: [1024] });
  const inverse = await device.plan({ size: [1024], directions: 'inverse' });
  expect(held.size).toBe(1);
  expect(sourcesOf(inverse, 'inverse')).toEqual(sourcesOf(both, 'inverse'));

  const other = await open();
  await other.device.plan({ size: [1024], directions: 'inverse' });
  await other.device.plan({ size: [1024] });
  await other.device.plan({ size: [1024], directions: 'forward' });
  expect(other.held.size).toBe(2);
});

it('is given back once, when neither direction is kept any more', async () => {
  const { device, held } = await open();
  const forward = await device.plan({ size: [1024], directions: 'forward' });
  (await device.plan({ size: [512] })).destroy();
  forward.destroy();
  (await device.plan({ size: [1024] })).destroy();
  expect(held.size).toBeGreaterThan(0);
  device.close();
  expect(held.size).toBe(0);
});

it('while one direction is in use, the other may be forgotten', async () => {
  const { device, held } = await open();
  (await device.plan({ size: [1024] })).destroy();
  const [kernel] = held;
  const plan = await device.plan({ size: [1024], directions: 'inverse' });
  // More than the cache keeps unused.
  for (let n = 1; n <= 160; n++)
    (await device.plan({ size: [1024], offsets: { input: n }, directions: 'forward' })).destroy();
  expect(held.has(kernel!)).toBe(true);
  const x = new Float32Array(2048).map(() => random.unit());
  const [before, again] = [plan.inverseSync(x), await device.plan({ size: [1024] })];
  expect(again.inverseSync(x)).toEqual(before);
  expect(again.forwardSync(x)).not.toEqual(before);
  device.close();
  expect(held.size).toBe(0);
});
