/** Problems of every kind with callbacks in them, on trial. */
import type { Device, Precision, ProblemInput } from '../../src/index.ts';
import type { Tried } from './accuracy.ts';
import { type Called, randomCalled, shapesOf } from './called.ts';
import { complexProblem, triedComplex } from './complex.ts';
import type { Random } from './random.ts';
import * as real from './real.ts';
import * as sums from './sums.ts';

export const calledKinds = ['c2c', 'r2c', 'sums'] as const;
export type CalledKind = (typeof calledKinds)[number];
const KINDS = { c2c: triedComplex, r2c: real.triedReal, sums: sums.triedSums } as const;

/** A random problem to be given callbacks. @param varied of other profiles, blocks of sums are no matter of callbacks. */
export function calledProblem(
  random: Random,
  kind: CalledKind,
  most: number,
  precisions: readonly Extract<Precision, 'single' | 'double'>[],
  varied = false,
): ProblemInput {
  const blocked = random.integer(0, 3) === 0;
  if (kind === 'c2c') return complexProblem(random, most, precisions);
  if (kind === 'r2c') {
    const problem = { ...real.realProblem(random, most, precisions), transform: 'r2c' } as ProblemInput;
    return blocked ? real.withBlocks(random, problem) : problem;
  }
  const problem = sums.sumsProblem(random, most, precisions);
  return blocked && !varied ? sums.withBlocks(random, problem) : problem;
}

function calledFor(kind: CalledKind, problem: ProblemInput, random: Random): Called {
  const complex = { input: kind === 'c2c', output: kind !== 'sums' };
  return randomCalled(random, { problem, shapes: shapesOf(problem), complex });
}

/** Each direction that a problem is planned for, with random callbacks. */
export async function triedCalled(
  device: Device,
  kind: CalledKind,
  problem: ProblemInput,
  random: Random,
): Promise<Tried[]> {
  const called = calledFor(kind, problem, random);
  const tried: Tried[] = [];
  const { directions = 'both' } = problem;
  for (const direction of directions === 'both' ? (['forward', 'inverse'] as const) : [directions]) {
    tried.push(await KINDS[kind](device, problem, direction, random, called));
  }
  return tried;
}
