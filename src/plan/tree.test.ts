import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rankSplits } from '../../test/support/planned.ts';
import { configurations } from '../../test/support/problems.ts';
import { seedFor } from '../../test/support/random.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { normalizeProblem, tensorShape } from '../problem/index.ts';
import { targetOf } from './device/target.ts';
import { type DimensionStride, type LeafNode, leavesOf } from './tree/node.ts';
import { planTree } from './tree.ts';

const profiles = ['wasm-cpu', 'h200', 'rtx4090'] as const;
const options = (name: string) => ({ seed: seedFor(`plan/tree/${name}`) | 0, numRuns: 100 });
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
/** Problems of up to a thousand elements whose axes are passes alone, and a profile that splits them. */
const questions = fc.record({
  configuration: configurations(1000),
  name: fc.constantFrom(...profiles),
  // Little shared memory, for 13 columns of whole runs or more: short axes take several uploads.
  runs: fc.constantFrom(13, 50, 400),
  direction: fc.constantFrom('forward' as const, 'inverse' as const),
  sparing: fc.boolean(),
});

function treeOf({
  configuration,
  name,
  runs,
  direction,
  sparing,
}: typeof questions extends fc.Arbitrary<infer T> ? T : never) {
  const { profile: known } = namedProfiles[name];
  const profile = { ...known, sharedBytes: Math.min(2 * runs * known.coalescedBytes, known.sharedBytes) };
  const problem = normalizeProblem({ ...configuration.input, directions: 'both' });
  const [cheapest] = rankSplits(problem, profile, 1);
  return {
    problem,
    tree: planTree(problem, direction, targetOf(profile, problem.precision), cheapest!.value, { sparing }),
  };
}

/** The elements of the tensor that a leaf touches on one side, in the order of its loops. */
function touched({ axis, more = [], batch, coordinates, length, outputLength }: LeafNode, side: 'input' | 'output') {
  const shape = side === 'input' ? length : outputLength;
  const step = ({ dimension, stride: by }: DimensionStride) => by * product(shape.slice(0, dimension));
  const loops = [axis, ...more, ...batch, ...(coordinates ? [coordinates] : [])];
  return loops.reduce<number[]>(
    (places, { count, [side]: place }) =>
      places.flatMap((at) => Array.from({ length: count }, (_, n) => at + n * step(place))),
    [0],
  );
}

it('every launch reads each element of its tensor once, and writes each once', () => {
  fc.assert(
    fc.property(questions, (question) => {
      const { tree } = treeOf(question);
      for (const leaf of leavesOf(tree)) {
        for (const side of ['input', 'output'] as const) {
          const places = touched(leaf, side).sort((a, b) => a - b);
          expect(places, `${leaf.title}, ${side}`).toEqual(places.map((_, n) => n));
        }
        expect(touched(leaf, 'input')).toHaveLength(product(leaf.length));
      }
    }),
    options('elements'),
  );
});

it('the lengths that the launches transform multiply to those of the axes, and tensors fit together', () => {
  fc.assert(
    fc.property(questions, (question) => {
      const { problem, tree } = treeOf(question);
      const leaves = leavesOf(tree);
      const lengths = leaves.flatMap(({ axis, more = [] }) => [axis, ...more].map(({ count }) => count));
      expect(product(lengths)).toBe(product(problem.size.filter((_, axis) => !problem.omit[axis])));
      const ends = [tree.length, leaves[0]!.length, leaves.at(-1)!.outputLength, tree.outputLength];
      for (const end of ends) expect(end).toEqual(tensorShape(problem, 'input'));
      leaves.slice(1).forEach(({ length }, n) => expect(length).toEqual(leaves[n]!.outputLength));
    }),
    options('lengths'),
  );
});

it('of reals, the tensors of the launches lead from the one side to the other', () => {
  const reals = fc.record({
    size: fc.array(fc.constantFrom(1, 2, 3, 4, 6, 9, 16, 30, 64), { minLength: 1, maxLength: 3 }),
    batches: fc.constantFrom(1, 3, 16),
    transform: fc.constantFrom('r2c' as const, 'dct2' as const),
    name: fc.constantFrom(...profiles),
    direction: fc.constantFrom('forward' as const, 'inverse' as const),
  });
  fc.assert(
    fc.property(reals, ({ name, direction, ...input }) => {
      const problem = normalizeProblem(input);
      const { profile } = namedProfiles[name];
      const tree = planTree(
        problem,
        direction,
        targetOf(profile, problem.precision),
        rankSplits(problem, profile, 1)[0]!.value,
      );
      const sides = ['input', 'output'] as const;
      const [read, written] = direction === 'forward' ? sides : ([...sides].reverse() as ['output', 'input']);
      const leaves = leavesOf(tree);
      expect(leaves[0]!.length).toEqual(tensorShape(problem, read));
      expect(leaves.at(-1)!.outputLength).toEqual(tensorShape(problem, written));
      leaves.slice(1).forEach(({ length }, n) => expect(length).toEqual(leaves[n]!.outputLength));
    }),
    options('reals'),
  );
});
