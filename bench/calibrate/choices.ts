/** How good the planner's choices are: random problems, the plan by price against the fastest of its best candidates. */

import type { Device, Plan } from '../../src/engine/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import type { ProblemInput } from '../../src/problem/index.ts';
import type { Random } from '../../test/support/random.ts';

export interface Choice {
  readonly problem: ProblemInput;
  /** Candidates that were timed. */
  readonly candidates: number;
  /** What the plan by price takes over what the fastest candidate takes, timed anew in turns: 1 where they are the same. */
  readonly ratio: number;
  readonly chosen: string;
  readonly fastest: string;
}

const LONGEST_PRIME = 13;

/** A length with small primes, short ones as likely as long ones. */
export function lengthUpTo(most: number, random: Random): number {
  for (;;) {
    const length = Math.floor(2 ** (1 + random.unit() * Math.log2(most / 2)));
    if (largestPrimeFactor(length) <= LONGEST_PRIME) return length;
  }
}

/** Shorter problems, of so many times fewer elements, have one candidate worth the name. */
const SHORTEST = 2 ** 10;

/** @param most elements of a problem */
export function randomProblem(
  most: number,
  random: Random,
  precisions: readonly ('single' | 'double')[],
): ProblemInput {
  const axes = random.pick([1, 1, 1, 2, 2, 3]);
  let size: number[];
  let elements: number;
  do {
    size = Array.from({ length: axes }, () => lengthUpTo(most ** (1 / axes), random));
    elements = size.reduce((a, b) => a * b, 1);
  } while (elements * SHORTEST < most);
  return {
    size,
    batches: random.pick([1, Math.max(1, Math.floor(most / elements / 4))]),
    precision: random.pick(precisions),
    placement: random.pick(['in-place', 'out-of-place']),
  };
}

/** Times of either plan, in turns. */
const ROUNDS = 9;
/** Milliseconds of one of these, roughly, and transforms at most. */
const TURN = 5;
const MOST_REPEATS = 500;

/** What one plan takes over what another one takes. */
async function ratioOf(one: Plan, other: Plan): Promise<number> {
  const ratios: number[] = [];
  const timeOf = async (plan: Plan, repeats: number) => {
    let sum = 0;
    for (const direction of plan.directions) sum += await plan.measure(direction, { repeats });
    return sum;
  };
  const repeats = Math.min(MOST_REPEATS, Math.ceil(TURN / (await timeOf(other, 1))));
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [one, other] : [other, one];
    const [a, b] = [await timeOf(first, repeats), await timeOf(second, repeats)];
    ratios.push(first === one ? a / b : b / a);
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
}

/** @returns undefined where there is nothing to choose from. */
export async function choiceFor(problem: ProblemInput, device: Device): Promise<Choice | undefined> {
  const fastest = await device.plan({ ...problem, strategy: 'measure' });
  const { list } = fastest.toJSON().candidates;
  const timed = list.filter(({ milliseconds }) => milliseconds !== undefined);
  const textOf = (one: (typeof list)[number] | undefined) => JSON.stringify(one?.splits);
  const [chosen, best] = [textOf(list[0]), textOf(list.find((one) => one.chosen))];
  try {
    if (timed.length < 2) return undefined;
    const same = chosen === best;
    const plan = same ? fastest : await device.plan(problem);
    const ratio = same ? 1 : await ratioOf(plan, fastest);
    if (!same) plan.destroy();
    return { problem, candidates: timed.length, ratio, chosen, fastest: best };
  } finally {
    fastest.destroy();
  }
}
