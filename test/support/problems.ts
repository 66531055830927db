/** Random problems over the whole space of what a problem can say, for fast-check. */
import fc from 'fast-check';
import type { ProblemInput } from '../../src/problem/index.ts';
import { type CallMode, callModes } from './transforms.ts';

/** A problem to try, and how. */
export interface Configuration {
  readonly input: ProblemInput;
  /** A number that chooses the device. */
  readonly device: number;
  readonly mode: CallMode;
}

const smooth = (most: number): number[] =>
  Array.from({ length: most }, (_, i) => i + 1).filter((n) => {
    for (const p of [2, 3, 5, 7, 11, 13]) while (n % p === 0) n /= p;
    return n === 1;
  });
const short = smooth(40);
const long = smooth(4000);

/** Mostly 1, sometimes more. */
const few = (most: number) => fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: most }));

/** Cuts counts, first ones first, until their product is at most `most`. */
function limited(counts: readonly number[], most: number): number[] {
  let room = most;
  return counts.map((count) => {
    const kept = count <= room ? count : 1;
    room = Math.floor(room / kept);
    return kept;
  });
}

const sizes = (others: readonly number[]) =>
  fc.oneof(
    fc.array(fc.constantFrom(...short, ...others), { minLength: 1, maxLength: 6 }),
    fc.array(fc.constantFrom(...smooth(9)), { minLength: 3, maxLength: 6 }),
    fc.tuple(fc.constantFrom(...long), few(8)).map(([n, other]) => [n, other]),
    fc.tuple(few(12), fc.constantFrom(...long)).map(([other, n]) => [other, n]),
    fc.constantFrom(...long).map((n) => [n]),
  );

/** A random order of the dimensions from fast to slow, and the elements left out before each. */
const arrangement = fc.record({
  order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 9 }),
  gaps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4 })), { minLength: 9, maxLength: 9 }),
  backwards: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)), {
    minLength: 9,
    maxLength: 9,
  }),
});

interface Arrangement {
  readonly order: readonly number[];
  readonly gaps: readonly number[];
  readonly backwards: readonly boolean[];
}

/**
 * Strides under which no two elements meet: each steps over all that the faster dimensions occupy, some of them backwards.
 * @returns with them how many elements lie in front of the one of index 0
 */
function stridesOf(counts: readonly number[], { order, gaps, backwards }: Arrangement) {
  const strides = counts.map(() => 1);
  let [span, before] = [1, 0];
  for (const d of order) {
    const count = counts[d];
    if (count === undefined) continue;
    strides[d] = span + (gaps[d] as number);
    const reach = (strides[d] as number) * (count - 1);
    span += reach;
    if (!backwards[d]) continue;
    before += reach;
    strides[d] = -(strides[d] as number);
  }
  return { strides, before };
}

// Like data, factors are numbers of the problem's precision: what rounding them loses is not the transform's error.
const scales = fc.constantFrom(...[1, 1, 1, 0.3, -2, 1 / 7, 1e-6].map(Math.fround));
const layout = fc.constantFrom('interleaved' as const, 'planar' as const);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/**
 * @param most elements of a tensor.
 * @param others lengths of axes beside those that passes alone transform.
 */
export function configurations(most: number, others: readonly number[] = []): fc.Arbitrary<Configuration> {
  return fc
    .record({
      size: sizes(others),
      batches: fc.record({
        left: few(5),
        coordinates: few(3),
        right: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20 })),
      }),
      omit: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.boolean()), {
        minLength: 6,
        maxLength: 6,
      }),
      precision: fc.constantFrom('single' as const, 'double' as const),
      layout: fc.record({ input: layout, output: layout }),
      placement: fc.constantFrom('out-of-place' as const, 'in-place' as const),
      preserveInput: fc.boolean(),
      unordered: fc.boolean(),
      strategy: fc.constantFrom('fast' as const, 'fast' as const, 'least-memory' as const),
      directions: fc.constantFrom('both' as const, 'both' as const, 'forward' as const, 'inverse' as const),
      normalize: fc.boolean(),
      scale: fc.record({ forward: scales, inverse: scales }),
      strides: fc.record({ input: maybe(arrangement), output: maybe(arrangement) }),
      offsets: fc.record({ input: fc.integer({ min: 0, max: 9 }), output: fc.integer({ min: 0, max: 9 }) }),
      device: fc.nat({ max: 1000 }),
      mode: fc.constantFrom(...callModes),
    })
    .map(({ size, batches, omit, strides, offsets, layout, device, mode, ...rest }) => {
      const kept = limited([...size, batches.left, batches.coordinates, batches.right], most);
      const axes = kept.slice(0, size.length);
      const [leftBatches, coordinates, right] = kept.slice(size.length) as [number, number, number];
      const counts = [leftBatches, ...axes, coordinates, right];
      const inPlace = rest.placement === 'in-place';
      const input = strides.input && stridesOf(counts, strides.input);
      const output = inPlace ? input : strides.output && stridesOf(counts, strides.output);
      const problem: ProblemInput = {
        ...rest,
        size: axes,
        leftBatches,
        coordinates,
        batches: right,
        omit: omit.slice(0, size.length),
        layout: inPlace ? layout.input : layout,
        strides: { ...(input ? { input: input.strides } : {}), ...(output ? { output: output.strides } : {}) },
        offsets: {
          input: offsets.input + (input?.before ?? 0),
          output: (inPlace ? offsets.input : offsets.output) + (output?.before ?? 0),
        },
      };
      return { input: problem, device, mode };
    });
}
