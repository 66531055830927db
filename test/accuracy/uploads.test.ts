/** Axes too long for one upload: four-step plans of two, three and more, ordered and not, along memory and across it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, Plan, ProblemInput } from '../../src/index.ts';
import { randomFor } from '../support/random.ts';
import { type CallMode, callModes, complaints, exhaustive, openWith, someOf, testKind } from '../support/transforms.ts';

const random = randomFor('accuracy/uploads');
const precisions = ['single', 'double'] as const;

/** Of six devices. */
const SOME = 2;

/** Launches that each axis takes forward. */
function uploadsOf(plan: Plan): number {
  return plan.toJSON().directions[0]?.launches.length ?? 0;
}

async function check(device: Device, input: ProblemInput, modes: readonly CallMode[]): Promise<void> {
  // Of hundreds of cases each in one precision, every time another.
  for (const precision of exhaustive ? precisions : [random.pick(precisions)])
    expect(await complaints(device, { ...input, precision }, random, modes)).toEqual([]);
}

describe('with little shared memory', () => {
  const small: Device[] = [];
  const shared = [1024, 2048, 4096, 16384];
  beforeAll(async () => {
    for (const sharedBytes of shared) small.push(await openWith({ sharedBytes, coalescedBytes: 32 }));
    small.push(await openWith({ sharedBytes: 4096, coalescedBytes: 64, sharedFormat: 'planes' }));
    small.push(await openWith({ sharedBytes: 8192, coalescedBytes: 128, doubleBuffered: false, registers: 32 }));
  });
  afterAll(() => {
    for (const device of small) device.close();
  });

  /** Every case goes to some of them, and all of them to some. */
  const some = () => someOf(random, small, SOME);

  it('plans two, three and more uploads', async () => {
    const seen = new Set<number>();
    for (const size of [[64], [256], [1024], [4096], [46656]]) {
      const plan = await (small[0] as Device).plan({ size });
      seen.add(uploadsOf(plan));
      plan.destroy();
    }
    // Threads have room for longer uploads than vectors.
    const most = testKind === 'cpu' ? 4 : 2;
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(most);
    for (let count = 1; count < most; count++) expect(seen).toContain(count);
  });

  const lengths = [
    72, 128, 210, 243, 256, 360, 512, 625, 720, 1000, 1024, 1155, 1716, 2048, 2401, 3000, 4096, 8192, 20736,
  ];
  const chosen = exhaustive ? lengths : lengths.filter((n) => n > 8000 || random.unit() < 0.5);
  it.each(chosen)('length %i', async (n) => {
    for (const device of some()) {
      for (const unordered of [false, true]) {
        await check(device, { size: [n], unordered, normalize: true }, [random.pick(callModes)]);
        await check(device, { size: [n], unordered, placement: 'in-place' }, [random.pick(callModes)]);
      }
    }
  });

  it.each<ProblemInput>([
    { size: [6, 512] },
    { size: [512, 6] },
    { size: [256, 256] },
    { size: [3, 720, 5] },
    { size: [500], leftBatches: 3, batches: 2 },
    { size: [500], leftBatches: 16 },
    { size: [500], leftBatches: 5, coordinates: 2, batches: 3 },
    { size: [1000], batches: 4, layout: 'planar' },
    { size: [1000], batches: 2, layout: { input: 'planar', output: 'interleaved' } },
    { size: [4, 1000], layout: { input: 'interleaved', output: 'planar' } },
    { size: [600], strides: { input: [1, 3, 2000], output: [1, 1, 600] }, offsets: { output: 9 } },
    { size: [600], batches: 7, strides: { input: [1, 7, 1], output: [1, 8, 1] } },
    { size: [20, 600], strides: { input: [1, 600, 1, 12000] }, preserveInput: false },
    { size: [1024, 5], omit: [false, true], scale: { forward: 0.375 } },
    { size: [5, 1024], omit: [true, false], preserveInput: false },
  ])('%j', async (input) => {
    for (const device of some()) {
      for (const unordered of [false, true]) {
        await check(device, { ...input, unordered }, [random.pick(callModes), random.pick(callModes)]);
      }
    }
  });

  it('one direction alone, unordered, knows where its bins lie', async () => {
    for (const device of some()) {
      for (const directions of ['forward', 'inverse'] as const) {
        await check(device, { size: [1000, 60], unordered: true, directions }, ['host', 'work']);
      }
    }
  });
});

describe('with the device’s own shared memory', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWith({}, 2);
  });
  afterAll(() => device.close());

  it.each([2 ** 17, 3 ** 11, 100_000])('%i points unordered, both ways', async (n) => {
    const plan = await device.plan({ size: [n], unordered: true });
    const places = new Set(Array.from({ length: n }, (_, k) => plan.output.order(k)));
    expect([uploadsOf(plan) > 1, places.size, Math.min(...[...places].slice(0, 9))]).toEqual([true, n, 0]);
    plan.destroy();
    await check(device, { size: [n], unordered: true, normalize: true }, ['alloc']);
  });

  it('strided axes unordered', async () => {
    await check(device, { size: [4, 2 ** 16], unordered: true }, ['host']);
    await check(device, { size: [70000, 2], unordered: true, placement: 'in-place' }, ['alloc']);
  });
});
