#!/usr/bin/env node
import { run } from './program.ts';

// A reader that has seen enough (`omnifft devices | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// The exit code is set, not forced, so that what was printed gets out.
process.exitCode = await run(process.argv.slice(2));
