/** The command line `omnifft`: its commands, exit codes and error reports. */

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
import { reportError, wantsJson } from './failures.ts';

/** 0: success; 1: the command failed; 2: the command line was not understood. */
export type ExitCode = 0 | 1 | 2;

/** Codes of errors about the command line itself. */
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
    // Commander has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    reportError(error, json);
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
    // Commander adds a hint on a second line, but errors are one line.
    .configureOutput({
      outputError: (text) => reportError(new FftError('invalid-usage', text.replace(/^error: /, '')), json),
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

/** Commander obeys `--help` before it checks the command, so an unknown command is refused here. */
function understood(root: Command, args: readonly string[]): readonly string[] {
  const [name] = args;
  const isUnknown = name !== undefined && !name.startsWith('-') && !commandOf(root, name);
  return isUnknown ? ['--', name] : args;
}

function commandOf(root: Command, name: string): Command | undefined {
  return root.commands.find((known) => known.name() === name);
}

/** Commander's own `help` answers an unknown command with the help for all commands. */
function addHelp(root: Command): void {
  root
    .helpCommand(false)
    .command('help')
    .description('show what a command does and takes')
    .argument('[command]')
    .action(async (name?: string) => {
      const command = name === undefined ? root : commandOf(root, name);
      if (command) command.help();
      // An unknown command is refused as it is without `help`, with a suggestion.
      else await root.parseAsync(['--', name!], { from: 'user' });
    });
}
