/** What comes of one line of a batch depends on that line alone, bit for bit, whatever the other lines hold. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { Direction, TransformKind } from '../../src/problem/index.ts';
import { dependences, linesProblem, lineTransforms } from '../support/independence.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('properties/independence');

/** Where kernels take seconds to compile: one of each way in which reals are transformed. */
const compiled: readonly TransformKind[] = exhaustive
  ? lineTransforms
  : ['r2c', random.pick(['dct1', 'dst1']), random.pick(['dct2', 'dst3']), random.pick(['dct4', 'dst4'])];

const directions = ['forward', 'inverse'] as const;

async function check(device: Device, input: ProblemInput, ways: readonly Direction[] = directions): Promise<void> {
  const found: string[] = [];
  for (const direction of ways) {
    found.push(...(await dependences(device, input, direction, random)));
  }
  expect(found).toEqual([]);
}

/** Random problems, each planned for one direction, every time another: that halves what is compiled. */
async function checkSome(device: Device, transform: TransformKind, count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    const way = random.pick(directions);
    await check(device, { ...linesProblem(random, transform, precisionsOf(device)), directions: way }, [way]);
  }
}

describe('a line of a batch is transformed as if it were alone', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWith({});
  });
  afterAll(() => device.close());

  it.each(lineTransforms)('%s on the CPU', (transform) => checkSome(device, transform, exhaustive ? 200 : 10));

  it.each<ProblemInput>([
    { size: [23], batches: 2, transform: 'r2c' },
    { size: [97], batches: 2, transform: 'r2c' },
    { size: [441], batches: 3, transform: 'r2c' },
    { size: [15], batches: 4, transform: 'dct2' },
    { size: [16], batches: 4, transform: 'dct1' },
  ])('%j, which went through transforms of two lines', (input) => check(device, { ...input, precision: 'single' }));
});

describe.skipIf(noWebGpu)('a line of a batch is transformed as if it were alone on WebGPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWebGpu();
  });
  afterAll(() => device?.close());

  it.each(compiled)('%s', (transform) => checkSome(device, transform, exhaustive ? 20 : 1));
});

describe.skipIf(noOpenCl)('a line of a batch is transformed as if it were alone on OpenCL', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openOpenCl();
  });
  afterAll(() => device?.close());

  it.each(compiled)('%s', (transform) => checkSome(device, transform, exhaustive ? 20 : 1));
});
