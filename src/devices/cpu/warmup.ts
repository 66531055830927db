/**
 * Full speed from the first transform on.
 *
 * Engines compile WebAssembly twice: quickly at first, to code that is four to five times slower (JavaScriptCore even
 * interprets it), and well once a function has been used enough. Calls over an empty range of groups count as use, and
 * touch no data. V8 counts the bytes of a function at every call, JavaScriptCore calls; SpiderMonkey wants the more calls
 * the longer a function is. A call of the well compiled function is also several times shorter, because it does not
 * clear its locals: that is how its arrival is noticed.
 */
import type { CpuKernel } from './kernel.ts';

/** JavaScriptCore wants 3400 calls, twice over. */
const CALLS = 4000;
/** V8 wants so many bytes to have been called. */
const BUDGET_BYTES = 4e6;
const MOST_CALLS = 14_000;
/** SpiderMonkey wants two and a half to three calls for each byte. */
const CALLS_PER_BYTE = 3.5;
/** A call counts as fast below this part of what the first ones took. */
const FAST = 0.4;
const PATIENCE_MILLISECONDS = 10;
const PATIENCE_PER_KERNEL = 1.5;

/** On the audio thread there is no clock and no waiting: calls are used up, and that has to do. */
const canWait = typeof performance === 'object' && typeof setTimeout === 'function';

/** Calls a kernel often enough for most engines to compile it well, on another thread, while planning goes on here. */
export function beginWarmUp(kernel: CpuKernel): void {
  const bytes = kernel.source.length;
  const calls = Math.max(CALLS, Math.min(MOST_CALLS, BUDGET_BYTES / bytes));
  // Compiled quickly, where engines do that with what is called for the first time.
  kernel.idle(1);
  // Where nobody can wait later, as often as any engine wants.
  kernel.coldCall = millisecondsOfCall(kernel, canWait ? calls : Math.max(calls, CALLS_PER_BYTE * bytes));
}

/** Resolves when the kernels are compiled well, or when waiting longer would cost more than it brings. */
export async function warmUp(kernels: readonly CpuKernel[]): Promise<void> {
  let waiting = [...new Set(kernels)].filter((kernel) => !kernel.warm);
  if (waiting.length === 0) return;
  for (const kernel of waiting) kernel.warm = true;
  if (!canWait) return;
  const start = performance.now();
  const patience = PATIENCE_MILLISECONDS + PATIENCE_PER_KERNEL * (waiting.length - 1);
  for (const { idle, source } of waiting) idle(CALLS_PER_BYTE * source.length);
  for (;;) {
    // Where the clock is too coarse for the first calls, nothing can be told.
    waiting = waiting.filter((kernel) => !(millisecondsOfCall(kernel, CALLS) < FAST * kernel.coldCall));
    if (waiting.length === 0 || performance.now() - start > patience) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** The mean of so many. */
function millisecondsOfCall({ idle }: CpuKernel, calls: number): number {
  if (!canWait) {
    idle(calls);
    return 0;
  }
  const start = performance.now();
  idle(calls);
  return (performance.now() - start) / calls;
}
