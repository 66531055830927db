/**
 * A progress bar on stderr, for people: it shows only on a terminal, and only for work that takes over a second.
 */

import { SingleBar } from 'cli-progress';

const PATIENCE_MS = 1000;

export interface Progress {
  /** Says how far the work is. */
  readonly update: (done: number, total: number, step?: string) => void;
  /** Clears the bar. To be called in any case. */
  readonly stop: () => void;
}

export function startProgress(what: string): Progress {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const started = performance.now();
  let bar: SingleBar | undefined;
  return {
    update(done, total, step = what) {
      if (bar === undefined && performance.now() - started >= PATIENCE_MS) {
        const format = '{step} {bar} {percentage} % · {duration_formatted}';
        bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true, hideCursor: true });
        bar.start(total, done, { step });
      }
      bar?.update(done, { step });
    },
    stop() {
      bar?.stop();
    },
  };
}
