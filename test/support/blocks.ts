/** Blocks of zeros on trial: not read, whatever is there; not written, whatever was there; zero where they count. */
import type { Device, ProblemInput } from '../../src/index.ts';
import { referenceTransform } from '../reference/transform.ts';
import { hasLargePrimes, relativeError, type Tried, tolerance } from './accuracy.ts';
import { type Random, uniform } from './random.ts';

type Block = { readonly from: number; readonly to: number } | null;

function blockOf(pick: Random, length: number): Block {
  if (length < 2 || pick.integer(0, 3) === 0) return null;
  const size = pick.integer(1, length - 1);
  const from = pick.pick([0, length - size, pick.integer(0, length - size)]);
  return { from, to: from + size };
}

/** Which elements of a packed tensor lie in a block. */
function blocked({ size, batches = 1 }: ProblemInput, blocks: readonly Block[]): boolean[] {
  const points = size.reduce((a, b) => a * b, 1);
  return Array.from({ length: points * batches }, (_, n) => {
    let rest = n % points;
    return size.some((length, axis) => {
      const at = rest % length;
      rest = Math.floor(rest / length);
      const block = blocks[axis];
      return block ? at >= block.from && at < block.to : false;
    });
  });
}

/** A problem with blocks, and these. */
export interface BlocksSample {
  readonly problem: ProblemInput;
  readonly space: readonly Block[];
  readonly frequency: readonly Block[];
}

/** @param both blocks on both sides, otherwise on one. */
export function blocksSample(random: Random, sizes: readonly (readonly number[])[], both: boolean): BlocksSample {
  const size = random.pick(sizes);
  const blocks = () => size.map((length) => blockOf(random, length));
  const none = size.map(() => null);
  const [space, frequency] = both ? [blocks(), blocks()] : random.integer(0, 1) ? [blocks(), none] : [none, blocks()];
  const problem: ProblemInput = {
    size,
    batches: random.integer(1, 3),
    placement: random.pick(['out-of-place', 'in-place'] as const),
    zeroPadding: { space, frequency },
    debug: true,
  };
  return { problem, space, frequency };
}

const POISON = -12345.678;

const norm = (values: Float64Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));

/** One direction of a plan with blocks. */
export async function triedBlocks(
  device: Device,
  { problem, space, frequency }: BlocksSample,
  direction: 'forward' | 'inverse',
  random: Random,
): Promise<Tried> {
  const precision = problem.precision === 'double' ? 'double' : 'single';
  const [read, written] = direction === 'forward' ? [space, frequency] : [frequency, space];
  const [absent, spared] = [blocked(problem, read), blocked(problem, written)];
  const reals = 2 * absent.length;
  const Numbers = precision === 'single' ? Float32Array : Float64Array;
  const input = new Numbers(uniform(random, reals, precision));
  const clean = Float64Array.from(input, (value, n) => (absent[n >> 1] ? 0 : value));
  absent.forEach((hidden, n) => {
    if (hidden) input[2 * n] = input[2 * n + 1] = Number.NaN;
  });
  const inPlace = problem.placement === 'in-place';
  const output = inPlace ? input : new Numbers(reals).fill(POISON);
  const before = output.slice();
  const plan = await device.plan(problem);
  await plan[direction](input as never, output as never);
  const { size, batches = 1 } = problem;
  const expected = referenceTransform({ size, batches, direction }, clean);
  const what = JSON.stringify({ problem, direction });
  const kept = spared.every(
    (hidden, n) => !hidden || [0, 1].every((part) => Object.is(output[2 * n + part], before[2 * n + part])),
  );
  const pick = (values: ArrayLike<number>) =>
    Float64Array.from(spared.flatMap((hidden, n) => (hidden ? [] : [values[2 * n]!, values[2 * n + 1]!])));
  const picked = pick(expected.hi);
  // Rounding spreads over all results alike: those that are left answer for their part of it, however small they came out.
  const part = Math.sqrt(picked.length / reals) * norm(expected.hi);
  const error = relativeError(pick(output), picked, pick(expected.lo)) * (norm(picked) / part);
  const points = size.reduce((a, b) => a * b, 1);
  plan.destroy();
  // A few of many results may share less than their part of the error; large primes are convolved.
  const factor = hasLargePrimes(size) ? 5 : 2;
  const allowed = factor * tolerance(precision, points);
  return { what, error, allowed, damage: kept ? [] : [`${what} wrote into a block`] };
}
