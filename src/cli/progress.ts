/** A progress bar on stderr. It shows only on a terminal, and only after the command has run for a second. */

import { SingleBar } from 'cli-progress';
import { beforeInterrupt } from './interrupts.ts';

const PATIENCE_MS = 1000;

export interface Progress {
  /** Reports the progress. */
  readonly update: (done: number, total: number, step?: string) => void;
  /** Removes the bar; has to be called in any case. */
  readonly stop: () => void;
}

/** Seconds since the process began, which include loading modules and files. */
export function secondsSinceStart(): number {
  return performance.now() / 1000;
}

export function startProgress(what: string): Progress {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const format = '{step} {bar} {percentage} % · {seconds} s';
  const seconds = () => Math.round(secondsSinceStart());
  let bar: { readonly update: SingleBar['update']; readonly stop: () => void } | undefined;
  let last = { done: 0, total: 1, step: what };
  const show = () => {
    if (bar) return;
    const shown = new SingleBar({ format, stream: process.stderr, clearOnComplete: true, hideCursor: true });
    // The bar hides the cursor and disables line wrapping until it is stopped.
    const clear = () => shown.stop();
    const forget = beforeInterrupt(clear);
    bar = {
      update: shown.update.bind(shown),
      stop() {
        clear();
        forget();
      },
    };
    shown.start(last.total, last.done, { step: last.step, seconds: seconds() });
  };
  // The only step may take longer than the delay.
  const patience = setTimeout(show, Math.max(0, PATIENCE_MS - performance.now()));
  return {
    update(done, total, step = what) {
      last = { done, total, step };
      if (bar === undefined && performance.now() >= PATIENCE_MS) show();
      else bar?.update(done, { step, seconds: seconds() });
    },
    stop() {
      clearTimeout(patience);
      bar?.stop();
      bar = undefined;
    },
  };
}
