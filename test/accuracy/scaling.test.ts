/** Factors so small that they are no normal numbers, or none once the inverse is normalised, on data that they suit. */
import { afterAll, expect, it } from 'vitest';
import { type ComplexData, type Device, openDevice, type ProblemInput } from '../../src/index.ts';
import { elementsOf, referenceTransform } from '../reference/transform.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import { repeated } from '../support/optional.ts';
import { randomFor, uniform } from '../support/random.ts';
import { exhaustive, isConvolved } from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/scaling');
const opened: Device[] = [];
afterAll(() => {
  for (const device of opened.splice(0)) device.close();
});

interface Small {
  readonly factor: number;
  /** Data is multiplied by two to this power, so that results are near 1. */
  readonly exponent: number;
}

/** Beside a small factor, on the other direction of a plan. */
const USUAL: Small = { factor: -0.75, exponent: 0 };

const small: Readonly<Record<'single' | 'double', readonly Small[]>> = {
  single: [
    { factor: 3e-39, exponent: 120 },
    { factor: -1e-38, exponent: 110 },
    { factor: 2 ** -149, exponent: 115 },
    { factor: 2.5e-55, exponent: 116 },
  ],
  double: [
    { factor: 1e-320, exponent: 1000 },
    { factor: -2e-308, exponent: 1000 },
    { factor: Number.MIN_VALUE, exponent: 1000 },
  ],
};

const shapes: readonly ProblemInput[] = [
  { size: [1] },
  { size: [12], batches: 5 },
  { size: [1024] },
  { size: [1000], placement: 'in-place' },
  { size: [729], layout: { input: 'planar' } },
  { size: [34, 3] },
  { size: [15, 16], omit: [false, true] },
  { size: [24, 20], layout: { output: 'planar' } },
  { size: [2 ** 17] },
];

/** Errors, over the bound, of both directions; the inverse is normalised. */
async function excess(
  device: Device,
  shape: ProblemInput,
  precision: 'single' | 'double',
  small: Small,
): Promise<number[]> {
  const ways = { forward: random.pick([small, USUAL, small]), inverse: small };
  const normalize = true;
  const plan = await device.plan({
    ...shape,
    precision,
    normalize,
    scale: { forward: ways.forward.factor, inverse: ways.inverse.factor },
  });
  const { size, omit, batches = 1 } = plan.problem;
  const points = size.reduce((all, n, axis) => (omit[axis] ? all : all * n), 1);
  const count = elementsOf({ size, batches });
  const plain = uniform(random, 2 * count, precision);
  const numbers = precision === 'single' ? Float32Array : Float64Array;
  const errors: number[] = [];
  for (const direction of ['forward', 'inverse'] as const) {
    const { factor, exponent } = ways[direction];
    const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    const { layout } = plan.problem;
    const data = numbers.from(plain.map((value) => value * 2 ** exponent));
    const result: ComplexData = await plan[direction]<ComplexData>(layout[read] === 'planar' ? planes(data) : data);
    const actual = layout[written] === 'planar' ? pairs(result as Planes) : (result as typeof data);
    // The power of two moves from the data to the factor, and makes a normal number of it.
    const scale = (factor * 2 ** exponent) / (direction === 'inverse' ? points : 1);
    const { hi, lo } = referenceTransform({ size, omit, batches, direction, scale }, plain);
    // A rounding more for the factor, and where it was divided.
    errors.push(relativeError(actual, hi, lo) / (2 * tolerance(precision, points, isConvolved(plan.problem) ? 5 : 1)));
  }
  plan.destroy();
  return errors;
}

interface Planes {
  readonly re: Float32Array;
  readonly im: Float32Array;
}

function planes<T extends Float32Array | Float64Array>(data: T): { re: T; im: T } {
  const part = (which: number) => data.filter((_, n) => n % 2 === which) as T;
  return { re: part(0), im: part(1) };
}

function pairs({ re, im }: Planes): Float64Array {
  return Float64Array.from({ length: 2 * re.length }, (_, n) => (n % 2 ? im : re)[n >> 1]!);
}

/** Each factor with a sample of the shapes. @param from the shapes to take it from */
async function check(device: Device, precision: 'single' | 'double', from = shapes): Promise<void> {
  opened.push(device);
  for (const one of small[precision]) {
    for (const shape of from.filter(() => exhaustive || random.unit() < 0.6)) {
      for (const error of await excess(device, shape, precision, one)) {
        expect(error, JSON.stringify({ ...one, ...shape })).toBeLessThanOrEqual(1);
      }
    }
  }
}

it.skipIf(repeated).each(['single', 'double'] as const)('small factors in %s precision', async (precision) => {
  await check(await openDevice('cpu', { threads: 1 }), precision);
});

it.skipIf(noWebGpu)('small factors on WebGPU', async () => {
  await check(await openWebGpu(), 'single', shapes.slice(0, 3));
});
