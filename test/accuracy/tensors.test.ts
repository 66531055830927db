/** Tensors of one to six axes, with every way of laying them out that a problem has. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import { randomFor, uniform } from '../support/random.ts';
import { type CallMode, callModes, complaints, exhaustive, openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/tensors');
const precisions = ['single', 'double'] as const;
const layouts = ['interleaved', 'planar'] as const;

let device: Device;
beforeAll(async () => {
  device = await openWith({}, 1);
});
afterAll(() => device.close());

/** Of hundreds of cases each in one precision, every time another. */
async function check(input: ProblemInput, modes: readonly CallMode[] = ['host', 'alloc']): Promise<void> {
  for (const precision of exhaustive ? precisions : [random.pick(precisions)])
    expect(await complaints(device, { ...input, precision }, random, modes)).toEqual([]);
}

describe('several axes', () => {
  it.each([
    [[2, 2]],
    [[8, 8]],
    [[64, 64]],
    [[13, 7]],
    [[7, 13]],
    [[1, 20]],
    [[20, 1]],
    [[100, 3]],
    [[3, 100]],
    [[1000, 4]],
    [[5, 1024]],
    [[128, 96]],
    [[4, 4, 4]],
    [[16, 16, 16]],
    [[9, 5, 11]],
    [[32, 1, 6]],
    [[3, 4, 5, 6]],
    [[8, 2, 8, 4]],
    [[2, 3, 4, 5, 6]],
    [[6, 5, 4, 3, 2]],
    [[2, 3, 2, 5, 2, 3]],
    [[4, 4, 4, 4, 4, 4]],
    [[1, 7, 1, 5, 1, 2]],
    [[3, 2, 2, 2, 2, 2, 2, 2]],
  ])('%j', async (size) => {
    await check({ size });
    await check({ size, placement: 'in-place' }, ['host', 'alloc', 'enqueue']);
  });

  it.each([[[70000, 3]], [[3, 70000]], [[2, 1, 66000]]])('%j takes several uploads', async (size) => {
    await check({ size }, ['host']);
    await check({ size, placement: 'in-place' }, ['alloc']);
  });
});

describe('batches on every side of the axes', () => {
  const size = [12, 10];
  it.each<Omit<ProblemInput, 'size'>>([
    { batches: 5 },
    { leftBatches: 3 },
    { leftBatches: 4 },
    { leftBatches: 7, batches: 3 },
    { coordinates: 3 },
    { coordinates: 2, batches: 3 },
    { leftBatches: 2, coordinates: 3, batches: 2 },
    { leftBatches: 17, coordinates: 2, batches: 1 },
  ])('%j', async (batches) => {
    for (const shape of [size, [16], [1], [45], [1, 6], [3, 4, 5]]) {
      await check({ size: shape, ...batches }, [random.pick(callModes)]);
      await check({ size: shape, ...batches, placement: 'in-place' }, [random.pick(callModes)]);
    }
  });

  it.each([1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 100])('a tail of %i columns', async (columns) => {
    await check({ size: [24], leftBatches: columns });
    await check({ size: [columns, 24], omit: [true, false] });
    await check({ size: [6], batches: columns });
    await check({ size: [columns, 64], omit: [true, false], placement: 'in-place' });
  });
});

describe('planar and interleaved data in any mix', () => {
  it.each(layouts.flatMap((input) => layouts.map((output) => ({ input, output }))))('%j', async (layout) => {
    for (const size of [[1], [2], [60], [1024], [12, 18], [5, 4, 8], [70000]]) {
      await check({ size, layout, batches: size[0] === 70000 ? 1 : 3 }, size[0] === 70000 ? ['host'] : callModes);
      if (layout.input !== layout.output || size[0] === 70000) continue;
      await check({ size, layout, placement: 'in-place' }, ['host', 'alloc', 'work']);
    }
  });
});

describe('strides, offsets and gaps', () => {
  it.each<ProblemInput>([
    { size: [30], strides: { input: [1, 2, 60] } },
    { size: [30], strides: { output: [1, 3, 90] } },
    { size: [64], batches: 5, strides: { input: [1, 5, 1], output: [1, 1, 64] } },
    { size: [64], batches: 5, strides: { input: [1, 1, 64], output: [1, 5, 1] } },
    { size: [64], batches: 5, strides: { input: [1, 1, 67], output: [1, 1, 70] } },
    { size: [64], batches: 5, offsets: { input: 3, output: 11 } },
    {
      size: [7],
      leftBatches: 3,
      batches: 2,
      strides: { input: [1, 4, 40], output: [20, 2, 1] },
      offsets: { input: 1 },
    },
    { size: [12, 10], strides: { input: [1, 10, 1, 120], output: [1, 1, 12, 120] } },
    {
      size: [12, 10],
      batches: 3,
      strides: { input: [1, 1, 13, 131], output: [1, 35, 3, 500] },
      offsets: { output: 7 },
    },
    { size: [6, 5, 4], strides: { input: [1, 20, 4, 1, 120], output: [1, 1, 30, 6, 120] } },
    { size: [16, 16], coordinates: 2, batches: 2, strides: { input: [1, 4, 64, 2, 1], output: [1, 1, 17, 300, 700] } },
    { size: [2048], strides: { input: [1, 16, 40000], output: [1, 1, 2048] } },
    { size: [3, 4, 2, 5], strides: { input: [1, 40, 10, 5, 1, 120] } },
  ])('%j', async (input) => {
    await check(input, callModes);
    await check({ ...input, preserveInput: false }, ['host', 'alloc']);
    await check({ ...input, layout: { input: 'planar', output: 'interleaved' } }, ['host', 'alloc']);
  });

  it.each<ProblemInput>([
    { size: [30], strides: { input: [1, 2, 60] } },
    { size: [64], batches: 5, strides: { input: [1, 5, 1] } },
    { size: [12, 10], batches: 2, strides: { input: [1, 1, 13, 131] }, offsets: { input: 5, output: 5 } },
    { size: [12, 10], strides: { input: [1, 11, 1, 120] } },
    { size: [8, 5, 4], strides: { output: [1, 26, 5, 1, 210] }, layout: 'planar' },
  ])('in place: %j', async (input) => {
    await check({ ...input, placement: 'in-place' }, callModes);
  });
});

describe('omitted axes, scale and normalisation', () => {
  it.each([
    [true, false],
    [false, true],
    [true, true],
  ])('omits %s, %s', async (...omit) => {
    await check({ size: [15, 16], omit, scale: { forward: 3 } });
    await check({ size: [17, 16], omit: [true, omit[1]], placement: 'in-place' });
    await check({ size: [15, 16], omit, layout: { input: 'planar' }, normalize: true });
  });

  it('omits axes whose length could not be transformed', async () => {
    await check({ size: [19, 12, 23], omit: [true, false, true], batches: 2 });
  });

  it.each<Omit<ProblemInput, 'size'>>([
    { normalize: true },
    { scale: { forward: Math.fround(1 / 3), inverse: Math.fround(-0.1) } },
    { normalize: true, scale: { inverse: Math.fround(1e-20) } },
    { scale: { forward: Math.fround(1e12) } },
    { scale: { inverse: Math.fround(Math.SQRT1_2) }, directions: 'inverse' },
    { scale: { forward: 2 ** -40 }, directions: 'forward' },
  ])('%j', async (more) => {
    // A factor is applied by one of two launches alike, whatever it is: every time another one is.
    const long = exhaustive || random.unit() < 0.3 ? [[66000]] : [];
    for (const size of [[1], [2], [7], [100], [1024], [6, 10], ...long]) await check({ size, ...more }, ['host']);
    await check({ size: [1, 1], batches: 9, ...more });
  });

  it('scales by more than a single can be', async () => {
    const size = [60];
    const x = Float32Array.from(uniform(random, 120, 'single'), (value) => value * 2 ** -100);
    const plain = await (await device.plan({ size })).forward(x);
    const plan = await device.plan({ size, scale: { forward: -(2 ** 170) } });
    expect(await plan.forward(x)).toEqual(plain.map((value) => value * -(2 ** 85) * 2 ** 85));
    expect((await plan.forward(new Float32Array(120))).every((value) => value === 0)).toBe(true);
  });
});
