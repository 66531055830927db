/** Numbers that are stored narrower than they are computed with, on trial: at the edges, between launches, or both. */
import type { Device, ProblemInput } from '../../src/index.ts';
import { referenceTransform } from '../reference/transform.ts';
import { hasLargePrimes, relativeError, type Tried, tolerance } from './accuracy.ts';
import { fromHalf, toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';

type Stored = 'half' | 'single' | 'double';

/** An array of what a problem stores, and what it stands for. */
function stored(values: Float64Array, storage: Stored): Uint16Array | Float32Array | Float64Array {
  if (storage === 'half') return Uint16Array.from(values, toHalf);
  return storage === 'single' ? Float32Array.from(values) : values;
}

function numbers(array: ArrayLike<number>, storage: Stored): Float64Array {
  return Float64Array.from(array, storage === 'half' ? fromHalf : (value) => value);
}

/** One direction of a plan. */
export async function triedStorage(
  device: Device,
  input: ProblemInput,
  direction: 'forward' | 'inverse',
  random: Random,
): Promise<Tried> {
  const plan = await device.plan({ ...input, debug: true });
  const { edgeStorage, storage, precision, size, batches, layout, placement } = plan.problem;
  const points = size.reduce((a, b) => a * b, 1);
  const count = points * batches;
  const values = uniform(random, 2 * count);
  // So that halves neither overflow nor underflow.
  const data = stored(values, edgeStorage as Stored);
  const exact = numbers(data, edgeStorage as Stored);
  const planar = layout.input === 'planar';
  const part = (array: typeof data, odd: number) => array.filter((_, n) => n % 2 === odd) as typeof data;
  const given = planar ? { re: part(data, 0), im: part(data, 1) } : data;
  const result = await (placement === 'in-place'
    ? plan[direction](given as never, given as never)
    : plan[direction](given as never));
  const flat = planar
    ? numbers(data, edgeStorage as Stored).map((_, n) => {
        const { re, im } = result as unknown as { re: typeof data; im: typeof data };
        return numbers([(n % 2 === 0 ? re : im)[n >> 1]!], edgeStorage as Stored)[0]!;
      })
    : numbers(result as never, edgeStorage as Stored);
  const expected = referenceTransform({ size, batches, direction }, exact);
  const error = relativeError(flat, expected.hi, expected.lo);
  const { launches } = plan.toJSON().directions[0]!;
  plan.destroy();
  const all = [edgeStorage, ...(launches.length > 1 ? [storage] : []), precision];
  const narrowest = all.includes('half') ? 'half' : all.includes('single') ? 'single' : 'double';
  const factor = hasLargePrimes(size) ? 5 : 1;
  const allowed = factor * tolerance(narrowest, points);
  return { what: `${JSON.stringify(input)} ${direction}`, error, allowed, damage: [] };
}

/** Some of everything; those in double precision last. */
export const storageProblems: readonly ProblemInput[] = [
  { size: [64], precision: 'half' },
  { size: [60], precision: 'half', batches: 3 },
  { size: [105], edgeStorage: 'half', layout: 'planar' },
  { size: [1000], edgeStorage: 'half', placement: 'in-place' },
  { size: [24, 18], precision: 'half' },
  { size: [17], edgeStorage: 'half', batches: 5 },
  { size: [12, 10, 6], storage: 'half', edgeStorage: 'single' },
  { size: [512], precision: 'double', edgeStorage: 'single' },
  { size: [30, 20], precision: 'double', storage: 'single' },
  { size: [100], precision: 'double', edgeStorage: 'half', storage: 'double' },
];
