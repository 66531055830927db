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

/** V8 wants so many bytes to have been called. */
const BYTES_OF_V8 = 4e6;
const FEWEST_CALLS = 600;
const MOST_CALLS = 14_000;
/** JavaScriptCore wants between 1750 and 3000 calls. */
const CALLS_OF_JAVASCRIPTCORE = 4000;
/** SpiderMonkey wants two and a half to three calls for each byte. */
const CALLS_PER_BYTE = 3.5;
/** A call counts as fast below this part of what the first ones took. (With 0.4 WebKit's were taken for fast too soon.) */
const FAST_PART = 0.2;
/** Or below this multiple of the shortest one that was: engines know the same bytes again, and then first calls are fast. */
const FAST_MULTIPLE = 2.5;
/** A plan waits so long for its kernels at most, and so much longer for each after the first. */
const PATIENCE_MILLISECONDS = 10;
const PATIENCE_PER_KERNEL = 1.5;

/** On the audio thread there is no clock and no waiting: calls are used up, and that has to do. */
const canWait = typeof performance === 'object' && typeof setTimeout === 'function';

/**
 * Calls a kernel often enough for V8 to compile it well, on another thread, while planning goes on here. All that other
 * engines want would make plans some percent slower there.
 */
export function beginWarmUp(kernel: CpuKernel): void {
  if (kernel.warm) return;
  kernel.warm = true;
  const bytes = kernel.source.length;
  const calls = Math.min(MOST_CALLS, Math.max(FEWEST_CALLS, BYTES_OF_V8 / bytes));
  // Compiled quickly, where engines do that with what is called for the first time.
  kernel.idle(1);
  // Where nobody can wait later, as often as any engine wants.
  kernel.coldCall = millisecondsOfCall(
    kernel,
    canWait ? calls : Math.max(calls, CALLS_OF_JAVASCRIPTCORE, CALLS_PER_BYTE * bytes),
  );
}

/** The same when the caller has gone on: what is at hand at once is not to wait for it. */
export function warmUpLater(kernel: CpuKernel): void {
  if (canWait) setTimeout(() => beginWarmUp(kernel), 0);
  else beginWarmUp(kernel);
}

/**
 * Resolves when the kernels are compiled well, or when waiting longer would cost more than it brings. Plans that are made
 * at the same time and share a kernel wait for it together.
 */
export async function warmUp(kernels: readonly CpuKernel[]): Promise<void> {
  kernels.forEach(beginWarmUp);
  const cold = [...new Set(kernels)].filter((kernel) => !kernel.warming);
  if (cold.length > 0) {
    const warming = untilFast(cold);
    for (const kernel of cold) kernel.warming = warming;
  }
  await Promise.all(kernels.map((kernel) => kernel.warming));
}

async function untilFast(kernels: readonly CpuKernel[]): Promise<void> {
  if (!canWait) return;
  const start = performance.now();
  const patience = PATIENCE_MILLISECONDS + PATIENCE_PER_KERNEL * (kernels.length - 1);
  let waiting = kernels.filter(wantsTime);
  while (waiting.length > 0 && performance.now() - start < patience) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    waiting = waiting.filter((kernel) => !isFast(kernel));
  }
}

/** Calls a kernel as often as any engine wants. @returns false where it is compiled well before that is through. */
function wantsTime(kernel: CpuKernel): boolean {
  const wanted = Math.max(CALLS_OF_JAVASCRIPTCORE, CALLS_PER_BYTE * kernel.source.length);
  // The clock is too coarse to tell.
  if (kernel.coldCall === 0) {
    kernel.idle(wanted);
    return true;
  }
  for (let calls = 0; calls < wanted; calls += CALLS_OF_JAVASCRIPTCORE) if (isFast(kernel)) return false;
  return true;
}

/** Milliseconds of the shortest call that counted as fast; 0 where none did, or none could be timed. */
let shortest = 0;

function isFast(kernel: CpuKernel): boolean {
  const call = millisecondsOfCall(kernel, CALLS_OF_JAVASCRIPTCORE);
  if (call > FAST_PART * kernel.coldCall) return call <= FAST_MULTIPLE * shortest;
  shortest = shortest === 0 ? call : Math.min(shortest, call);
  return true;
}

/** Mean milliseconds of a number of calls. */
function millisecondsOfCall({ idle }: CpuKernel, calls: number): number {
  if (!canWait) {
    idle(calls);
    return 0;
  }
  const start = performance.now();
  idle(calls);
  return (performance.now() - start) / calls;
}
