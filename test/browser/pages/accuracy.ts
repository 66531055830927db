/**
 * Runs in the page: whole transforms on a device of the browser, against the reference, as the accuracy suite does in Node.
 */
import { openDevice, type ProblemInput } from '../../../src/index.ts';
import { type Random, randomFrom } from '../../support/random.ts';
import { complaints } from '../../support/transforms.ts';

export interface AccuracyReport {
  readonly device: string;
  readonly problems: number;
  readonly complaints: readonly string[];
}

/** Few and short: SwiftShader takes seconds to compile the kernel of a longer one. */
const LENGTHS = [1, 2, 3, 5, 7, 11, 13, 16, 60, 256, 1024];
const SMOOTH = Array.from({ length: 500 }, (_, i) => i + 1).filter((n) => {
  for (const p of [2, 3, 5, 7, 11, 13]) while (n % p === 0) n /= p;
  return n === 1;
});

function problems(random: Random): ProblemInput[] {
  return [
    ...LENGTHS.map((length) => ({ size: [length], batches: random.integer(1, 5) })),
    ...Array.from({ length: 2 }, () => ({ size: [random.pick(SMOOTH)], batches: random.integer(1, 9) })),
    { size: [24, 10], batches: 3 },
    { size: [8, 6, 5], leftBatches: 2, coordinates: 3 },
    { size: [96], batches: 4, layout: 'planar', normalize: true },
    { size: [60], batches: 3, placement: 'in-place' },
    { size: [32], batches: 5, strides: { input: [1, 3, 100], output: [1, 1, 40] }, offsets: { input: 7, output: 2 } },
    { size: [48, 20], omit: [true, false], layout: { input: 'planar', output: 'interleaved' } },
  ];
}

export async function measureAccuracy(kind: 'cpu' | 'webgpu', seed: number): Promise<AccuracyReport> {
  const random = randomFrom(seed);
  const device = await openDevice(kind);
  const found: string[] = [];
  const asked = problems(random);
  try {
    for (const asks of asked) {
      // One direction, chosen by the seed: both would take twice as long.
      const problem: ProblemInput = { directions: random.pick(['forward', 'inverse'] as const), ...asks };
      found.push(...(await complaints(device, problem, random)));
      if (kind === 'cpu') found.push(...(await complaints(device, { ...problem, precision: 'double' }, random)));
    }
  } finally {
    device.close();
  }
  return { device: device.name, problems: asked.length, complaints: found };
}

/** What the test finds in the page. */
export interface AccuracyPage {
  accuracyOn: typeof measureAccuracy;
}

Object.assign(globalThis, { accuracyOn: measureAccuracy } satisfies AccuracyPage);
