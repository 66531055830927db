/**
 * Ctrl-C (SIGINT) and SIGTERM. State that a command has changed outside of its process, such as the terminal's, is restored before the process ends.
 * The exit code is then 128 plus the number of the signal, as in shells: 130 and 143.
 * Handlers in JavaScript wait for the event loop, while a signal without a handler ends the process at once. So handlers are installed only while
 * there is something to restore.
 */

import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The functions to call before the process ends. */
const pending = new Set<() => void>();

/**
 * Registers a function to be called if a signal ends the process. The function must be synchronous.
 * @returns a function that removes it, which has to be called in any case, so that signals regain their default effect.
 */
export function beforeInterrupt(restore: () => void): () => void {
  if (pending.size === 0) for (const signal of SIGNALS) process.on(signal, end);
  pending.add(restore);
  return () => {
    pending.delete(restore);
    if (pending.size === 0) for (const signal of SIGNALS) process.off(signal, end);
  };
}

function end(signal: (typeof SIGNALS)[number]): void {
  for (const restore of pending) {
    try {
      restore();
    } catch {
      // Nobody would see the error, and the other functions still have to be called.
    }
  }
  process.exit(128 + constants.signals[signal]);
}
