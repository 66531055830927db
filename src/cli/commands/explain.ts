/** `omnifft explain`: how a problem would be computed, without computing it. */

import type { Command } from 'commander';
import { type DeviceOptions, readProblem, useDevice, withDevice, withJson } from '../options.ts';

interface ExplainOptions extends DeviceOptions {
  readonly json: boolean;
}

export function addExplain(program: Command): void {
  const command = program
    .command('explain')
    .description('show the plan for a problem: its tree, buffers, kernels and the bytes they move')
    .argument('<problem>', 'bbfft descriptor such as scfo1024*16, or the problem object as JSON');
  withJson(withDevice(command)).action(explain);
}

async function explain(text: string, options: ExplainOptions): Promise<void> {
  const problem = readProblem(text);
  await useDevice(options, async (device) => {
    const plan = await device.plan(problem);
    try {
      console.log(options.json ? JSON.stringify(plan.toJSON(), null, 2) : plan.explain());
    } finally {
      plan.destroy();
    }
  });
}
