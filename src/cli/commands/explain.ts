/** `omnifft explain`: how a problem would be computed, without computing it. */

import { join } from 'node:path';
import type { Command } from 'commander';
import type { Plan } from '../../index.ts';
import { makeFolder, writeOutput } from '../files.ts';
import { type DeviceOptions, readProblem, useDevice, withDevice, withJson } from '../options.ts';

interface ExplainOptions extends DeviceOptions {
  readonly json: boolean;
  readonly source?: string;
}

export function addExplain(program: Command): void {
  const command = program
    .command('explain')
    .description('show the plan for a problem: its tree, buffers, kernels and the bytes they move')
    .argument('<problem>', 'bbfft descriptor such as scfo1024*16, or the problem object as JSON')
    .option('--source <folder>', 'write the kernels there, as the device gets them');
  withJson(withDevice(command)).action(explain);
}

async function explain(text: string, options: ExplainOptions): Promise<void> {
  const problem = readProblem(text);
  await useDevice(options, async (device) => {
    const plan = await device.plan(problem);
    try {
      if (options.source !== undefined) await writeKernels(plan, options.source);
      console.log(options.json ? JSON.stringify(plan.toJSON(), null, 2) : plan.explain());
    } finally {
      plan.destroy();
    }
  });
}

/** One file for each different kernel, named after it. */
async function writeKernels(plan: Plan, folder: string): Promise<void> {
  await makeFolder(folder);
  for (const { direction, name, language, source } of plan.kernels) {
    const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
    await writeOutput(join(folder, `${direction}-${name}.${language}`), bytes);
  }
}
