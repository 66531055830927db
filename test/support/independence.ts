/** Whether a line of a batch depends on its neighbours: one line stays as it is, all others change, and its result is compared bit by bit. */
import type { Device, ProblemInput } from '../../src/index.ts';
import { elementKind, type TransformKind, tensorShape } from '../../src/problem/index.ts';
import type { Random } from './random.ts';
import { type Direction, elementsOf } from './trial.ts';

export const lineTransforms: readonly TransformKind[] = [
  ...(['c2c', 'r2c'] as const),
  ...(['dct1', 'dct2', 'dct3', 'dct4'] as const),
  ...(['dst1', 'dst2', 'dst3', 'dst4', 'dht'] as const),
];

/** A number in [−1, 1). */
const uniform = (random: Random) => 2 * random.unit() - 1;

/** What the other lines hold. The first one is what the others are compared with. */
const NEIGHBOURS: readonly ((random: Random) => number)[] = [
  uniform,
  () => Number.NaN,
  (random) => random.pick([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
  (random) => 1e12 * uniform(random),
];

/** A problem with several lines of one axis, which lie beside one another in one of the ways that there are. */
export function linesProblem(random: Random, transform: TransformKind, precisions: readonly string[]): ProblemInput {
  const length = random.pick([random.integer(1, 130), random.integer(1, 130), random.integer(131, 1500)]);
  const n = transform === 'dct1' ? Math.max(2, length) : length;
  const count = random.integer(2, 9);
  const beside = random.pick<Partial<ProblemInput>>([
    { batches: count },
    { leftBatches: count },
    { coordinates: count },
    { coordinates: 2, batches: count, leftBatches: random.pick([1, 3]) },
    { size: [n, count], omit: [false, true] },
    // The first axis of reals is always transformed.
    ...(transform === 'r2c' ? [] : [{ size: [count, n], omit: [true, false] }]),
  ]);
  return {
    size: [n],
    ...beside,
    transform,
    precision: random.pick(precisions),
    placement: random.pick(['in-place', 'out-of-place'] as const),
  } as ProblemInput;
}

/** What of a line's result changes with its neighbours. @returns one complaint for each kind of neighbours at the most. */
export async function dependences(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
): Promise<string[]> {
  const plan = await device.plan(input as ProblemInput & { size: readonly number[] });
  try {
    const { problem } = plan as unknown as { problem: Parameters<typeof elementsOf>[0] };
    const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    const dimensions = tensorShape(problem, 'input');
    const isLine = dimensions.map((_, d) => d > 0 && d <= problem.size.length && !problem.omit[d - 1]);
    const own = dimensions.map((count) => random.integer(0, count - 1));
    const isOwn = (coordinates: readonly number[]) => coordinates.every((c, d) => isLine[d] || c === own[d]);
    const parts = (side: 'input' | 'output') => (elementKind(problem, side) === 'real' ? 1 : 2);
    const words = (side: 'input' | 'output') =>
      elementsOf(problem, side)
        .filter(({ coordinates }) => isOwn(coordinates))
        .flatMap(({ at }) => Array.from({ length: parts(side) }, (_, part) => parts(side) * at + part));
    const line = words(read).map((at) => [at, uniform(random)] as const);
    const kept = words(written);
    const numbers = (length: number, at: (n: number) => number): Float32Array | Float64Array =>
      problem.precision === 'single'
        ? Float32Array.from({ length }, (_, n) => at(n))
        : Float64Array.from({ length }, (_, n) => at(n));
    const lengths = { input: plan.input.length * parts('input'), output: plan.output.length * parts('output') };
    const inPlace = problem.placement === 'in-place';
    const call = (plan[direction] as (x: object, y?: object) => Promise<object>).bind(plan);
    const results: Uint8Array[] = [];
    for (const neighbour of NEIGHBOURS) {
      const length = inPlace ? Math.max(lengths.input, lengths.output) : lengths[read];
      const x = numbers(length, () => neighbour(random));
      for (const [at, value] of line) x[at] = value;
      const y = inPlace ? x : numbers(lengths[written], () => Number.NaN);
      await (inPlace ? call(x) : call(x, y));
      results.push(new Uint8Array(numbers(kept.length, (n) => y[kept[n]!]!).buffer));
    }
    return results.flatMap((bytes, n) => {
      if (bytes.every((byte, at) => byte === results[0]![at])) return [];
      return [`${direction} ${JSON.stringify(input)}: line ${own} depends on neighbours of kind ${n}`];
    });
  } finally {
    plan.destroy();
  }
}
