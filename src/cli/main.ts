#!/usr/bin/env node
import { reportError, wantsJson } from './failures.ts';
import { fileError } from './files.ts';
import { runCommand } from './program.ts';

const args = process.argv.slice(2);

// A reader that closes the pipe early (`omnifft devices
// head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  reportError(fileError('unwritable-output', 'Cannot write to standard output', error), wantsJson(args));
  process.exit(1);
});

// The exit code is set instead of calling `process.exit`, so that buffered output is still written.
process.exitCode = await runCommand(args);
