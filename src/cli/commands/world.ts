/** `omnifft world explain`: explains how several ranks would compute a problem, without any ranks. */

import type { Command } from 'commander';
import { FftError, type ProblemInput } from '../../index.ts';
import { simulateWorld, type WorldProblemInput } from '../../world/index.ts';
import { positiveInteger, readProblem, withJson } from '../options.ts';

interface WorldFlags {
  readonly json: boolean;
  readonly ranks?: number;
  readonly gpus?: number;
  readonly perNode?: number;
}

export function addWorld(program: Command): void {
  const world = program.command('world').description('transforms over many ranks');
  const explain = world
    .command('explain')
    .description(
      'show how many ranks would share a problem out: decompositions, what is sent, and how long it would take',
    )
    .argument('<problem>', 'lengths such as 256x256x256, a bbfft descriptor, or the problem of a world as JSON')
    .option('--ranks <count>', 'ranks of the world, each with a processor', positiveInteger)
    .option('--gpus <count>', 'the same where each rank is a GPU like the H200', positiveInteger)
    .option('--per-node <count>', 'ranks of a node (default: all)', positiveInteger);
  withJson(explain).action(runWorld);
}

async function runWorld(text: string, flags: WorldFlags): Promise<void> {
  const { json, perNode, gpus } = flags;
  const ranks = flags.ranks ?? gpus;
  if (ranks === undefined || (flags.ranks !== undefined && gpus !== undefined))
    throw new FftError('invalid-usage', 'world explain takes either --ranks or --gpus.');
  const given = readProblem(text);
  const problem = text.trimStart().startsWith('{') ? (given as WorldProblemInput) : worldProblemOf(given);
  const told = await simulateWorld(problem, {
    ranks,
    ...(perNode === undefined ? {} : { perNode }),
    ...(gpus === undefined ? {} : { profile: 'h200' as const }),
  });
  const { explain, ...facts } = told;
  console.log(json ? JSON.stringify(facts, null, 2) : explain());
}

/** The fields of a descriptor that a problem of several ranks has, too. */
function worldProblemOf({ size, transform, precision, batches }: ProblemInput): WorldProblemInput {
  const kind = Array.isArray(transform) ? transform[0] : transform;
  return { size, transform: kind, precision, batches } as WorldProblemInput;
}
