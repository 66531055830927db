/**
 * Copies of the elements of a strided tensor in an array that also holds other data, which stay untouched.
 */
import { copyInto, subarrayOf } from '../input/bytes.ts';
import type { Problem, Side } from '../problem.ts';
import { blocksOf, elementKind, tensorShape, wordsOf } from './layout.ts';

/** Steps of one dimension. After the first `before` steps, `skip` further ones are left out, as for a block of zeros. */
export interface ElementSteps {
  readonly count: number;
  readonly stride: number;
  readonly before: number;
  readonly skip: number;
}

/** The places of elements, in numbers of a host array: runs of `length` from `start` on, one run for each combination of steps. */
export interface ElementRuns {
  readonly start: number;
  readonly length: number;
  /** The steps of all dimensions, longest strides first. */
  readonly steps: readonly ElementSteps[];
}

/** The elements of one side in each of its arrays: interleaved complex numbers, or the reals of a plane. */
export function elementRuns(problem: Problem, side: Side): ElementRuns {
  const parts = elementKind(problem, side) === 'complex' && problem.layout[side] !== 'planar' ? 2 : 1;
  const unit = parts * wordsOf(problem.edgeStorage);
  const strides = problem.strides[side];
  const blocks = blocksOf(problem, side);
  let start = unit * problem.offsets[side];
  const steps = tensorShape(problem, side)
    .map((all, d): ElementSteps => {
      // Blocks of zeros are not copied.
      const { from = all, to = all } = blocks[d - 1] ?? {};
      const [stride, skip] = [unit * strides[d]!, to - from];
      if (stride >= 0) return { count: all - skip, stride, before: from, skip };
      // Backwards from the last element, the places are the same as forwards from the first.
      start += (all - 1) * stride;
      return { count: all - skip, stride: -stride, before: all - to, skip };
    })
    .filter(({ count, skip, stride }) => (count > 1 || skip > 0) && stride > 0)
    .sort((a, b) => b.stride - a.stride);
  let length = unit;
  while (steps.at(-1)?.stride === length && steps.at(-1)!.skip === 0) length *= steps.pop()!.count;
  return { start, length, steps };
}

/** A typed array, as far as copies need it. */
interface NumberArray {
  [n: number]: number;
  set(from: ArrayLike<number>, at?: number): void;
  subarray(from: number, to: number): ArrayLike<number>;
}

/** The longest run that is copied here, element by element: the engine copies longer ones, but takes some time to begin. */
const SHORT_RUN = 32;

/** Copies the elements from one array to the same places in another. */
export function copyElements<T extends NumberArray>(to: T, from: T, runs: ElementRuns): void {
  const { start, length, steps } = runs;
  const last = steps.length - 1;
  const copy = (at: number): void => {
    if (length > SHORT_RUN) return copyInto(subarrayOf(to, at, at + length), subarrayOf(from, at, at + length));
    for (let n = at; n < at + length; n++) to[n] = from[n]!;
  };
  const walk = (depth: number, at: number): void => {
    if (depth > last) return copy(at);
    const { count, stride, before, skip } = steps[depth]!;
    if (depth < last || length > 2 || skip > 0) {
      for (let n = 0; n < count; n++) walk(depth + 1, at + (n < before ? n : n + skip) * stride);
      return;
    }
    // Runs of two elements are the most common ones; they are copied without a call for each element.
    const two = length === 2;
    for (let n = 0, place = at; n < count; n++, place += stride) {
      to[place] = from[place]!;
      if (two) to[place + 1] = from[place + 1]!;
    }
  };
  walk(0, start);
}
