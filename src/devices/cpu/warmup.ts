/**
 * Full speed from the first transform on.
 *
 * Engines compile WebAssembly twice: quickly at first, to code that is four to five times slower, and well once a
 * function has used up a budget. The budget is charged for code that was passed, also when a function returns at once,
 * so calls over an empty range of groups use it up without touching any data. A call of the well compiled function is
 * also several times shorter, because it does not clear its locals: that is how its arrival is noticed.
 */
import type { CpuKernel, Run } from './kernel.ts';

const CALLS_PER_ROUND = 200;
/** Charged bytes that use up any budget met so far, in bytes of WebAssembly. */
const BUDGET_BYTES = 4e6;
const FEWEST_CALLS = 600;
const MOST_CALLS = 6000;
/** Kernels of fewer bytes are so short that timing an empty call says little; they get a fixed time. */
const SMALL_BYTES = 3000;
const SMALL_MILLISECONDS = 1;
/** An empty call counts as fast below this multiple of a call to an empty function. */
const FAST = 2;
const PATIENCE_MILLISECONDS = 6;
const PATIENCE_PER_KERNEL = 1.5;

/** A module with one empty function of ten i32 parameters, exported as `run`. */
const EMPTY_MODULE = [
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 14, 1, 0x60, 10, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0,
  3, 2, 1, 0, 7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0, 10, 4, 1, 2, 0, 0x0b,
];

let emptyFunction: Run | undefined;

/** On the audio thread there is no clock and no waiting: the budget is used up, and that has to do. */
const canWait = typeof performance === 'object' && typeof setTimeout === 'function';

/** Uses up a kernel's budget: the engine begins to compile it well, on another thread, while planning goes on here. */
export function beginWarmUp({ idle, source }: CpuKernel): void {
  idle(Math.min(MOST_CALLS, Math.max(FEWEST_CALLS, Math.ceil(BUDGET_BYTES / source.length))));
}

/** Resolves when the kernels are compiled well, or when waiting longer would cost more than it brings. */
export async function warmUp(kernels: readonly CpuKernel[]): Promise<void> {
  const cold = [...new Set(kernels)].filter((kernel) => !kernel.warm);
  if (cold.length === 0) return;
  for (const kernel of cold) kernel.warm = true;
  if (!canWait) return;
  const start = performance.now();
  emptyFunction ??= new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(EMPTY_MODULE))).exports.run as Run;
  call(emptyFunction, FEWEST_CALLS);
  const patience = PATIENCE_MILLISECONDS + PATIENCE_PER_KERNEL * (cold.length - 1);
  let waiting = cold;
  for (;;) {
    const fast = FAST * fastest(emptyFunction);
    const elapsed = performance.now() - start;
    waiting = waiting.filter(({ run, source }) =>
      source.length < SMALL_BYTES ? elapsed < SMALL_MILLISECONDS : fastest(run, fast) > fast,
    );
    if (waiting.length === 0 || elapsed > patience) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function call(run: Run, times: number): void {
  for (let i = 0; i < times; i++) run(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/** Milliseconds of a round of empty calls: the best of three, or the first that is good enough. */
function fastest(run: Run, enough = 0): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && best > enough; round++) {
    const start = performance.now();
    call(run, CALLS_PER_ROUND);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
