#!/usr/bin/env node
import { complain, wantsJson } from './failures.ts';
import { fileError } from './files.ts';
import { runCommand } from './program.ts';

const args = process.argv.slice(2);

// A reader that has seen enough (`omnifft devices | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  complain(fileError('unwritable-output', 'Cannot write to standard output', error), wantsJson(args));
  process.exit(1);
});

// The exit code is set, not forced, so that what was printed gets out.
process.exitCode = await runCommand(args);
