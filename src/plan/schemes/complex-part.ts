/** The kinds of problems, and the complex transforms inside a real one. */
import {
  hermitianLength,
  isRealTransform,
  type Problem,
  splitAxisOf,
  tensorShape,
  withSplitAxes,
} from '../../problem/index.ts';

/** Whether a problem has reals on one side, and on the other one the bins up to the half. */
export function isReal({ transform }: Pick<Problem, 'transform'>): boolean {
  return transform[0] === 'r2c';
}

/**
 * The complex part of a problem. For a real problem that is the transforms along all axes but the first one, between the bins of the first one.
 * Any other problem is returned unchanged.
 */
export function complexPart(problem: Problem): Problem {
  if (!isReal(problem)) return problem;
  let part = complexParts.get(problem);
  if (!part) complexParts.set(problem, (part = complexPartOf(problem)));
  return part;
}

const complexParts = new WeakMap<Problem, Problem>();

function complexPartOf(problem: Problem): Problem {
  const { output } = problem.strides;
  const split = splitAxisOf(problem, 'output');
  return {
    ...withSplitAxes(problem, { input: split, output: split }),
    transform: problem.size.map(() => 'c2c'),
    size: [hermitianLength(problem.size[0]!), ...problem.size.slice(1)],
    omit: [true, ...problem.omit.slice(1)],
    strides: { input: output, output },
    offsets: { input: problem.offsets.output, output: problem.offsets.output },
  };
}

/**
 * Whether, in place, the reals of every line lie in the memory of the line's own bins. A launch may then read one and write the other, line by
 * line.
 */
export function sharesRows(problem: Problem): boolean {
  const { input, output } = problem.strides;
  const counts = tensorShape(problem, 'input');
  const others = input.flatMap((stride, d) => (d === 1 || counts[d] === 1 ? [] : [{ stride, bins: output[d]! }]));
  const alike = others.every(({ stride, bins }) => stride === 2 * bins && bins >= hermitianLength(counts[1]!));
  return input[1] === 1 && output[1] === 1 && alike && problem.offsets.input === 2 * problem.offsets.output;
}

/** The first axis of a real problem as a complex one of some length; its bins come in natural order, even where the problem is unordered. */
export function asComplex(problem: Problem, length: number): Problem {
  const whole = complexPart(problem);
  return {
    ...whole,
    size: [length, ...whole.size.slice(1)],
    omit: [false, ...whole.omit.slice(1)],
    unordered: false,
  };
}

/** Whether a problem has reals on both sides. */
export function isR2r({ transform }: Pick<Problem, 'transform'>): boolean {
  return isRealTransform(transform[0]);
}
