/**
 * Ctrl-C (SIGINT) and SIGTERM. What a command has changed outside of itself, such as the terminal, is put right before the
 * process ends; its exit code is then 128 plus the number of the signal, as shells have it: 130 and 143.
 *
 * Handlers in JavaScript wait for the event loop, while a signal without one ends the process at once: so there are
 * handlers only as long as there is something to put right.
 */

import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The functions to call before the process ends. */
const pending = new Set<() => void>();

/**
 * Has something done if a signal ends the process. It must not wait for anything.
 * @returns forgets it. To be called in any case, so that signals do again what they always do.
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
      // An error here has no reader any more, and must not keep the other functions from being called.
    }
  }
  process.exit(128 + constants.signals[signal]);
}
