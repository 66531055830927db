/** What `run.mjs test` tries on a device, in groups that can be asked for by name. */
import { type Device, FftError, type ProblemInput } from '../../src/index.ts';
import { blocksSample, triedBlocks } from '../support/blocks.ts';
import { calledKinds, calledProblem, triedCalled } from '../support/called-problems.ts';
import { convolutionProblem, triedConvolution } from '../support/convolution.ts';
import { complexProblem, triedPairs } from '../support/paired.ts';
import type { Random } from '../support/random.ts';
import { realProblem, triedReal, withBlocks } from '../support/real.ts';
import { storageProblems, triedStorage } from '../support/stored.ts';
import { sumsProblem, triedSums } from '../support/sums.ts';
import {
  blockSizes,
  convolvedProblems,
  largeProblems,
  longCalledProblems,
  smallProblems,
  tunedProblems,
} from './cases.ts';
import { checkClosedForms, checkLarge, checkSmall, openReference, type Verdict } from './correctness.ts';

/** What the groups share. */
export interface Trials {
  readonly device: Device;
  readonly random: Random;
  /** Those asked for that the device has. */
  readonly precisions: readonly ('single' | 'double')[];
  /** Few of each. */
  readonly quick: boolean;
  attempt(what: string, work: () => Promise<Verdict[]>): Promise<void>;
}

const directions = ['forward', 'inverse'] as const;

/** A part of them, where few are wanted. */
function chosen<T>({ quick, random }: Trials, all: readonly T[]): T[] {
  return all.filter(() => !quick || random.unit() < 0.3);
}

async function small(trials: Trials): Promise<void> {
  const { device, random, precisions, attempt } = trials;
  for (const precision of precisions) {
    for (const problem of [...chosen(trials, smallProblems()), ...tunedProblems(device.kind)]) {
      const full = { ...problem, precision };
      await attempt(JSON.stringify(full), () => checkSmall(device, full, random));
    }
    for (const length of [8, 60, 1024, 4096, 10000, 2 ** 15, 2 ** 20]) {
      await attempt(`closed forms ${length}`, () => checkClosedForms(device, length, precision, random));
    }
  }
}

async function blocks({ device, random, precisions, quick, attempt }: Trials): Promise<void> {
  for (const precision of precisions) {
    for (let round = 0; round < (quick ? 4 : 20); round++) {
      const sample = blocksSample(random, blockSizes(), true);
      const full = { ...sample, problem: { ...sample.problem, precision } };
      for (const direction of directions) {
        await attempt(JSON.stringify(full.problem), async () => [await triedBlocks(device, full, direction, random)]);
      }
    }
  }
}

async function large(trials: Trials): Promise<void> {
  const { device, random, precisions, attempt } = trials;
  const cpu = await openReference();
  for (const precision of precisions) {
    for (const problem of chosen(trials, largeProblems())) {
      await attempt(JSON.stringify(problem), () => checkLarge(device, cpu, problem, precision, random));
    }
  }
  cpu.close();
}

const REALS = [2 ** 13, 2 ** 15, 2 ** 17, 2 ** 20, 3 ** 9, 3 ** 12, 10007, 20014, 100_003, 200_006, 50_050];
/** Odd ones that a cluster takes whole. */
const REALS_IN_PLACE = [8581, 12_547, 3 ** 9, 13 ** 4];

async function real({ device, random, precisions, quick, attempt }: Trials): Promise<void> {
  const problems = Array.from({ length: quick ? 10 : 60 }, (_, round) => {
    const problem = realProblem(random, 20_000, precisions);
    return round % 3 === 0 ? withBlocks(random, problem) : problem;
  });
  for (const length of REALS) problems.push({ size: [length], precision: random.pick(precisions) });
  for (const precision of precisions) {
    for (const length of REALS_IN_PLACE) {
      problems.push({ size: [length], batches: 3, precision, placement: 'in-place' });
    }
  }
  for (const problem of problems) {
    for (const direction of directions) {
      await attempt(`real ${JSON.stringify(problem)}`, async () => [
        await triedReal(device, problem, direction, random),
      ]);
    }
  }
}

async function sums({ device, random, precisions, quick, attempt }: Trials): Promise<void> {
  for (let round = 0; round < (quick ? 10 : 60); round++) {
    const problem = sumsProblem(random, 20_000, precisions);
    for (const direction of directions) {
      await attempt(`sums ${JSON.stringify(problem)}`, async () => [
        await triedSums(device, problem, direction, random),
      ]);
    }
  }
}

/** Numbers that are pairs of the device's own: double-doubles, or doubles where it has none. */
async function pairs({ device, random, quick, attempt }: Trials): Promise<void> {
  const precision = device.profile.precisions?.includes('double') === false ? 'double' : 'double-double';
  const fixed = [
    { size: [64] },
    { size: [100], batches: 9 },
    { size: [127] },
    { size: [34], transform: 'r2c' },
  ] as const;
  const complex = Array.from({ length: quick ? 2 : 12 }, () => complexProblem(random, 600));
  for (const problem of [...fixed, ...complex]) {
    const full = { ...problem, precision } as ProblemInput;
    for (const direction of directions) {
      await attempt(`pairs ${JSON.stringify(full)}`, async () => [
        await triedPairs(device, full, direction, random, 'single-pair'),
      ]);
    }
  }
}

async function storage({ device, random, precisions, attempt }: Trials): Promise<void> {
  const doubles = precisions.includes('double');
  for (const problem of storageProblems.filter(({ precision }) => doubles || precision !== 'double')) {
    for (const direction of directions) {
      await attempt(JSON.stringify(problem), async () => [await triedStorage(device, problem, direction, random)]);
    }
  }
}

/** Of its plan only the convolution is tried: the transforms of one are those of any other. */
async function convolution(trials: Trials): Promise<void> {
  const { device, random, precisions, quick, attempt } = trials;
  const problems = [
    ...Array.from({ length: quick ? 6 : 24 }, () => convolutionProblem(random, precisions)),
    ...Array.from({ length: quick ? 2 : 12 }, () => convolutionProblem(random, precisions, 8192)),
    ...chosen(trials, convolvedProblems(quick ? 2 ** 15 : 2 ** 18)).map((problem) => ({
      ...{ precision: random.pick(precisions), ...problem },
    })),
  ] as ProblemInput[];
  for (const problem of problems) {
    const full = { ...problem, directions: 'forward' } as ProblemInput;
    await attempt(`convolution ${JSON.stringify(full)}`, () =>
      whereFits(async () => [await triedConvolution(device, full, random)]),
    );
  }
}

async function callbacks(trials: Trials): Promise<void> {
  const { device, random, precisions, quick, attempt } = trials;
  for (const kind of calledKinds) {
    const problems = [
      ...Array.from({ length: quick ? 3 : 16 }, () => calledProblem(random, kind, 3000, precisions)),
      ...(quick ? [] : longCalledProblems[kind].map((one) => ({ precision: random.pick(precisions), ...one }))),
    ] as ProblemInput[];
    for (const problem of problems) {
      await attempt(`callbacks ${JSON.stringify(problem)}`, () =>
        whereFits(() => triedCalled(device, kind, problem, random)),
      );
    }
  }
}

/** Devices with little memory have no plan for some random problems. */
async function whereFits(work: () => Promise<Verdict[]>): Promise<Verdict[]> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FftError && error.code === 'device-limit') return [];
    throw error;
  }
}

export const groups = { small, blocks, large, real, sums, pairs, storage, convolution, callbacks } as const;
