/** Sides of which a random axis lies in blocks, as ranks leave what they send: some equal, some shorter, with or without gaps between them. */
import {
  normalizeProblem,
  type Problem,
  type ProblemInput,
  type SplitAxis,
  tensorShape,
  withSplitAxes,
} from '../../src/problem/index.ts';
import type { Random } from './random.ts';

type Side = 'input' | 'output';

/** Packed strides of a block. */
function packed(shape: readonly number[]): number[] {
  let next = 1;
  return shape.map((count) => {
    const stride = next;
    next *= count;
    return stride;
  });
}

/** Lengths that add up to a number: equal but for the last, equal but for one more in the first ones, or any. */
function lengthsOf(random: Random, count: number): number[] {
  const blocks = random.integer(1, Math.min(count, 5));
  const kind = random.integer(0, 2);
  const length = Math.ceil(count / blocks);
  const lengths: number[] = [];
  for (let left = count; left > 0; left -= lengths.at(-1)!) {
    const balanced = Math.ceil(left / (blocks - lengths.length));
    lengths.push(Math.min(left, [length, balanced, random.integer(1, left)][kind]!));
  }
  return lengths;
}

function splitSide(random: Random, problem: Problem, side: Side): { split: SplitAxis; strides: readonly number[] } {
  const shape = tensorShape(problem, side);
  const dimension = random.pick([...shape.keys()].filter((d) => shape[d]! > 1));
  const gap = random.integer(0, 1) * random.integer(0, 5);
  const runs: { -readonly [K in keyof SplitAxis['runs'][number]]: SplitAxis['runs'][number][K] }[] = [];
  let next = 0;
  for (const length of lengthsOf(random, shape[dimension]!)) {
    const counts = shape.map((count, d) => (d === dimension ? length : count));
    const apart = counts.reduce((a, b) => a * b, 1) + gap;
    const last = runs.at(-1);
    if (last?.length === length) last.blocks++;
    else runs.push({ blocks: 1, length, offset: next, apart, strides: packed(counts) });
    next += apart;
  }
  return { split: { dimension, runs }, strides: runs[0]!.strides };
}

/** The problem out of place, with an axis of one side or of both in blocks; undefined where no axis has two points. */
export function inBlocks(random: Random, input: ProblemInput): Problem | undefined {
  const { strides: _, offsets: __, ...packedInput } = input;
  const problem = normalizeProblem({ ...packedInput, placement: 'out-of-place', offsets: { input: 3, output: 1 } });
  if (tensorShape(problem, 'input').every((count) => count === 1)) return undefined;
  const chosen = random.pick([['input'], ['output'], ['input', 'output']] as const);
  const sides = { input: undefined as SplitAxis | undefined, output: undefined as SplitAxis | undefined };
  const strides = { ...problem.strides };
  for (const side of chosen) {
    if (tensorShape(problem, side).every((count) => count === 1)) continue;
    const own = splitSide(random, problem, side);
    sides[side] = own.split;
    strides[side] = own.strides;
  }
  return withSplitAxes({ ...problem, strides }, sides);
}
