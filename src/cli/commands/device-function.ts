/** `omnifft device-function`: writes the transform of one line as the source of a device function, for kernels of the caller's. */

import type { Command } from 'commander';
import type { DeviceFunctionLanguage, Direction } from '../../index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { checkOutput, reportDone, writeOutput } from '../files.ts';
import {
  type DeviceFlags,
  neededPrecision,
  outputPath,
  positiveInteger,
  readProblem,
  useDevice,
  withDevice,
  withJson,
} from '../options.ts';

interface FunctionFlags extends Omit<DeviceFlags, 'language'> {
  readonly json: boolean;
  readonly output?: string;
  readonly language: string;
  readonly inverse: boolean;
  readonly name?: string;
  readonly lines?: number;
}

export function addDeviceFunction(program: Command): void {
  const command = program
    .command('device-function')
    .description(
      'write the transform of a line as a function that a kernel of yours can call, for CUDA, HIP, OpenCL or WGSL',
    )
    .argument('<problem>', 'a length such as 256, r2c:512, a descriptor, or the problem object as JSON')
    .requiredOption('--language <name>', 'what it is written in: cuda, hip, opencl or wgsl')
    .option('--profile <name>', 'instead of a device, the profile of one: h200, mi250x, webgpu-default …')
    .option('--inverse', 'the inverse transform', false)
    .option('--name <name>', 'what the function is called (default: such as fft256_forward)')
    .option('--lines <count>', 'wgsl: lines that a work-group transforms at once (default: 1)', positiveInteger)
    .option(
      '-o, --output <file>',
      'where to write it (default: standard output)',
      outputPath('.cuh', '.cu', '.hip', '.h', '.cl', '.wgsl'),
    );
  withJson(withDevice(command)).action(deviceFunction);
}

async function deviceFunction(text: string, options: FunctionFlags): Promise<void> {
  const problem = normalizeProblem(readProblem(text));
  const { json, output, language, inverse, name, lines, ...flags } = options;
  if (output !== undefined) await checkOutput(output);
  await useDevice({ ...flags, precision: neededPrecision(problem) }, async (device) => {
    const plan = await device.plan(problem);
    try {
      const direction: Direction = inverse ? 'inverse' : 'forward';
      const written = plan.deviceFunction({ language: language as DeviceFunctionLanguage, direction, name, lines });
      const { source, call, requirements, threads, registers, sharedBytes } = written;
      const facts = `${threads} threads a line, ${registers} registers a thread, ${sharedBytes} bytes of shared memory a line`;
      const notes = [`Call: ${call}`, `Takes ${facts}.`, ...requirements].map((note) => `// ${note}\n`).join('');
      if (output !== undefined) await writeOutput(output, new TextEncoder().encode(notes + source));
      if (json) {
        const tables = written.tables.map((table) => ({ ...table, data: [...table.data] }));
        console.log(JSON.stringify({ ...written, tables }, null, 2));
      } else if (output === undefined) console.log(notes + source);
      else reportDone(output, `${written.name}: ${facts}`);
    } finally {
      plan.destroy();
    }
  });
}
