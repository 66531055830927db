/** `omnifft explain`: explains how a problem would be computed, without computing it. */

import { join } from 'node:path';
import type { Command } from 'commander';
import type { Plan } from '../../index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { checkOutput, makeFolder, reportDone, writeOutput } from '../files.ts';
import {
  type DeviceFlags,
  neededPrecision,
  outputPath,
  readProblem,
  useDevice,
  withDevice,
  withJson,
  withProfile,
} from '../options.ts';
import { planSvg } from '../picture/plan-picture.ts';

interface ExplainOptions extends DeviceFlags {
  readonly json: boolean;
  readonly source?: string;
  readonly svg?: string;
}

export function addExplain(program: Command): void {
  const command = program
    .command('explain')
    .description('show the plan for a problem: its tree, buffers, kernels and the bytes they move')
    .argument(
      '<problem>',
      'lengths such as 1024 or 256x256, a bbfft descriptor such as scfo1024*16, or the problem object as JSON',
    )
    .option('--source <folder>', 'write the kernels there, as the device gets them')
    .option('--svg <file.svg>', 'draw the plan there, too; - for standard output', outputPath('.svg'));
  withJson(withProfile(withDevice(command))).action(explain);
}

async function explain(text: string, options: ExplainOptions): Promise<void> {
  const problem = normalizeProblem(readProblem(text));
  const { svg } = options;
  if (svg !== undefined) await checkOutput(svg);
  await useDevice({ ...options, precision: neededPrecision(problem) }, async (device) => {
    const plan = await device.plan(problem);
    try {
      if (options.source !== undefined) await writeKernels(plan, options.source);
      if (svg !== undefined) await writeOutput(svg, new TextEncoder().encode(planSvg(plan.toJSON())));
      const said = options.json ? JSON.stringify(plan.toJSON(), null, 2) : plan.explain();
      if (svg === undefined) console.log(said);
      else reportDone(svg, said);
    } finally {
      plan.destroy();
    }
  });
}

/** Extensions of files by language; other languages have their own name as the extension. */
const EXTENSIONS: Readonly<Record<string, string>> = { cuda: 'cu', opencl: 'cl', spirv: 'spv', msl: 'metal' };

/** Writes one file for each distinct kernel, named after the direction that runs it first. */
async function writeKernels(plan: Plan, folder: string): Promise<void> {
  await makeFolder(folder);
  const written = new Set<string>();
  const taken = new Map<string, number>();
  for (const { direction, name, language, source } of plan.kernels) {
    const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
    const contents = Buffer.from(bytes).toString('latin1');
    if (written.has(contents)) continue;
    written.add(contents);
    const stem = `${direction}-${name}`;
    const number = (taken.get(stem) ?? 0) + 1;
    taken.set(stem, number);
    const file = `${stem}${number === 1 ? '' : `-${number}`}.${EXTENSIONS[language] ?? language}`;
    await writeOutput(join(folder, file), bytes);
  }
}
