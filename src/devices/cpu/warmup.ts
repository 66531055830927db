/**
 * Warming up kernels, so that the first transform runs at full speed.
 *
 * Engines compile WebAssembly twice: quickly at first, to code that is four to five times slower (JavaScriptCore even
 * interprets it), and well once a function has been used enough. Calls over an empty range of groups count as use, and
 * touch no data. V8 counts the bytes of a function at every call, JavaScriptCore counts calls; SpiderMonkey needs more calls
 * for longer functions. A call of the optimized function is several times shorter, because it does not clear its
 * locals: by this the switch to optimized code is noticed.
 */
import type { CpuKernel } from './kernel.ts';

/** The bytes of called functions after which V8 optimizes. */
const BYTES_OF_V8 = 4e6;
const FEWEST_CALLS = 600;
const MOST_CALLS = 14_000;
/** Calls that are enough for JavaScriptCore, which optimizes after 1750 to 3000 calls. */
const CALLS_OF_JAVASCRIPTCORE = 4000;
/** Calls per byte that are enough for SpiderMonkey, which optimizes after two and a half to three calls per byte. */
const CALLS_PER_BYTE = 3.5;
/** A call counts as fast if it takes less than this part of the first calls' time. (With 0.4, calls in WebKit counted as fast too soon.) */
const FAST_PART = 0.2;
/** A call also counts as fast below this multiple of the shortest fast call so far: engines recognise code, whose first calls are fast then. */
const FAST_MULTIPLE = 2.5;
/** The most time that a plan waits for its first kernel, and the additional time for each further kernel. */
const PATIENCE_MILLISECONDS = 10;
const PATIENCE_PER_KERNEL = 1.5;

/** Whether there are a clock and timers. The audio thread has neither, so a fixed number of calls has to be enough there. */
const canWait = typeof performance === 'object' && typeof setTimeout === 'function';

/**
 * Calls a kernel often enough for V8 to optimize it on another thread, while planning continues here. The calls that other
 * engines need would make planning some percent slower there.
 */
export function beginWarmUp(kernel: CpuKernel): void {
  if (kernel.warm) return;
  kernel.warm = true;
  const bytes = kernel.source.length;
  const calls = Math.min(MOST_CALLS, Math.max(FEWEST_CALLS, BYTES_OF_V8 / bytes));
  // The first call makes engines that compile lazily compile the function quickly.
  kernel.idle(1);
  // If waiting later is not possible, the kernel is called as often as any engine needs.
  kernel.coldCall = millisecondsOfCall(
    kernel,
    canWait ? calls : Math.max(calls, CALLS_OF_JAVASCRIPTCORE, CALLS_PER_BYTE * bytes),
  );
}

/** Begins to warm up a kernel after the caller has returned, so that a plan from the cache is not delayed. */
export function warmUpLater(kernel: CpuKernel): void {
  if (canWait) setTimeout(() => beginWarmUp(kernel), 0);
  else beginWarmUp(kernel);
}

/**
 * Resolves when the kernels are optimized, or when waiting longer would cost more than it gains. Plans that are made
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

/** Calls a kernel as often as any engine needs. @returns false if the kernel is optimized before the calls are used up. */
function wantsTime(kernel: CpuKernel): boolean {
  const wanted = Math.max(CALLS_OF_JAVASCRIPTCORE, CALLS_PER_BYTE * kernel.source.length);
  // The clock is too coarse to time a call.
  if (kernel.coldCall === 0) {
    kernel.idle(wanted);
    return true;
  }
  for (let calls = 0; calls < wanted; calls += CALLS_OF_JAVASCRIPTCORE) if (isFast(kernel)) return false;
  return true;
}

/** The shortest call that counted as fast, in milliseconds; 0 if there was none, or none could be timed. */
let shortest = 0;

function isFast(kernel: CpuKernel): boolean {
  const call = millisecondsOfCall(kernel, CALLS_OF_JAVASCRIPTCORE);
  if (call > FAST_PART * kernel.coldCall) return call <= FAST_MULTIPLE * shortest;
  shortest = shortest === 0 ? call : Math.min(shortest, call);
  return true;
}

/** The mean time of calls in milliseconds. */
function millisecondsOfCall({ idle }: CpuKernel, calls: number): number {
  if (!canWait) {
    idle(calls);
    return 0;
  }
  const start = performance.now();
  idle(calls);
  return (performance.now() - start) / calls;
}
