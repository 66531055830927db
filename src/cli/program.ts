/**
 * The command line `omnifft`: its commands, its exit codes and how it reports errors.
 */

import { Command, CommanderError } from 'commander';
import { FftError, version } from '../index.ts';
import { addAotGenerate } from './commands/aot-generate.ts';
import { addBench } from './commands/bench.ts';
import { addBuild } from './commands/build.ts';
import { addDeviceFunction } from './commands/device-function.ts';
import { addDevices } from './commands/devices.ts';
import { addExplain } from './commands/explain.ts';
import { addOfflineGenerate } from './commands/offline-generate.ts';
import { addSpectrogram } from './commands/spectrogram.ts';
import { addTransform } from './commands/transform.ts';
import { addVerify } from './commands/verify.ts';
import { addWorld } from './commands/world.ts';
import { complain, wantsJson } from './failures.ts';

/** 0: done; 1: it was understood but failed; 2: it was not understood. */
export type ExitCode = 0 | 1 | 2;

/** Errors about what was written on the command line, as opposed to what came of it. */
const USAGE: ReadonlySet<string> = new Set([
  'invalid-usage',
  'invalid-argument',
  'invalid-descriptor',
  'invalid-field',
  'unknown-field',
  'unknown-device',
  'invalid-size',
  'invalid-batches',
  'invalid-strides',
  'overlapping-strides',
  'invalid-offset',
  'overlapping-bricks',
  'incomplete-bricks',
  'too-few-points',
]);

/** Runs one command. Results go to stdout, an error to stderr. */
export async function runCommand(args: readonly string[]): Promise<ExitCode> {
  const json = wantsJson(args);
  try {
    const root = commandLine(json);
    await root.parseAsync(understood(root, args), { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said what it did not understand.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(error, json);
    return error instanceof FftError && USAGE.has(error.code) ? 2 : 1;
  }
}

/** @param json whether errors are to be JSON */
function commandLine(json: boolean): Command {
  const root = new Command('omnifft')
    .description('Fast Fourier transforms, planned and compiled at run time for the device they run on.')
    .version(version, '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
    // Commander closes with a hint on a second line; one line is what was promised.
    .configureOutput({
      outputError: (text) => complain(new FftError('invalid-usage', text.replace(/^error: /, '')), json),
    });
  addTransform(root);
  addSpectrogram(root);
  addExplain(root);
  addBuild(root);
  addAotGenerate(root);
  addOfflineGenerate(root);
  addDeviceFunction(root);
  addDevices(root);
  addBench(root);
  addVerify(root);
  addWorld(root);
  addHelp(root);
  return root;
}

/** Commander answers `--help` before it looks at the command: an unknown one is refused with it, too. */
function understood(root: Command, args: readonly string[]): readonly string[] {
  const [name] = args;
  const isUnknown = name !== undefined && !name.startsWith('-') && !commandOf(root, name);
  return isUnknown ? ['--', name] : args;
}

function commandOf(root: Command, name: string): Command | undefined {
  return root.commands.find((known) => known.name() === name);
}

/** Commander's own `help` answers an unknown command with the help for all of them. */
function addHelp(root: Command): void {
  root
    .helpCommand(false)
    .command('help')
    .description('show what a command does and takes')
    .argument('[command]')
    .action(async (name?: string) => {
      const command = name === undefined ? root : commandOf(root, name);
      if (command) command.help();
      // Refused as it is without `help`: with the command that may have been meant.
      else await root.parseAsync(['--', name!], { from: 'user' });
    });
}
