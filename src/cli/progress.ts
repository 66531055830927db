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
  const format = '{step} {bar} {percentage} % · {seconds} s';
  const seconds = () => Math.round((performance.now() - started) / 1000);
  let bar: SingleBar | undefined;
  let last = { done: 0, total: 1, step: what };
  const show = () => {
    if (bar) return;
    bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true, hideCursor: true });
    bar.start(last.total, last.done, { step: last.step, seconds: seconds() });
  };
  // A step may be all that there is and take longer than the patience.
  const patience = setTimeout(show, PATIENCE_MS);
  return {
    update(done, total, step = what) {
      last = { done, total, step };
      if (bar === undefined && performance.now() - started >= PATIENCE_MS) show();
      else bar?.update(done, { step, seconds: seconds() });
    },
    stop() {
      clearTimeout(patience);
      bar?.stop();
    },
  };
}
