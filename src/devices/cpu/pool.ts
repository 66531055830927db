/**
 * Worker threads that share the groups of a step with the calling thread.
 *
 * A job lies open in shared memory: a worker that is awake joins it and takes groups, from its own share first. The calling thread
 * works too, closes the job when no group is left, and waits only for the workers that have joined: a worker
 * that starts late, sleeps long or still lacks the kernel costs nothing.
 */
import { FftError } from '../../problem/errors.ts';
import { nodeModule } from './host.ts';
import type { CpuKernel } from './kernel.ts';
import { launchFailure, type Scratch } from './launch.ts';
import { CONTROL_ADDRESS, type CpuAllocator } from './memory.ts';
import { DONE } from './queue.ts';
import {
  CONTROL,
  JOINED_MASK,
  type Message,
  MOST_POINTERS,
  OPEN_BIT,
  shareOut,
  takeGroups,
  takePart,
  workerMain,
} from './worker.ts';

/** Polls of a word of shared memory before a worker goes to sleep, about 10 ns each: together longer than most gaps between two steps. */
const WORKER_SPINS = 5000;
/** The time for which the calling thread polls before it returns to its event loop. */
const SPIN_MILLISECONDS = 0.05;
const SPINS_PER_CLOCK_READ = 64;
/**
 * The time for which the calling thread polls if it may not return to its event loop, where alone it would hear that a worker has died.
 * No chunk takes nearly as long.
 */
const PATIENCE_MILLISECONDS = 10_000;
/** The most time that counts between two reads of the clock, because the whole process may have been suspended. */
const LONGEST_CLOCK_STEP_MILLISECONDS = 1;
/** The most time that a plan waits for workers to start. They may still join later. */
const START_MILLISECONDS = 500;

/** The common interface of workers in Node and in browsers. */
interface Thread {
  post(message: Message): void;
  terminate(): void;
}

export class Pool {
  private readonly memory: CpuAllocator;
  private readonly scratch: Scratch;
  private readonly workers: number;
  private control: Int32Array;
  private readonly ids = new Map<CpuKernel, number>();
  private nextId = 1;
  private threads: Thread[] = [];
  private started = false;
  private closed = false;
  /** Set when threads cannot be had, or were lost: the calling thread then works alone. */
  private broken = false;
  /** Messages that wait for the threads to exist. */
  private backlog: Message[] = [];
  /** Workers in the job that was closed last. */
  private joined = 0;
  /** The failure of the calling thread in that job. */
  private failure: FftError | undefined;

  /** @param threads including the calling one, at least 2. */
  constructor(memory: CpuAllocator, scratch: Scratch, threads: number) {
    this.memory = memory;
    this.scratch = scratch;
    this.workers = threads - 1;
    this.control = new Int32Array(memory.buffer, CONTROL_ADDRESS, CONTROL.words);
  }

  /** Whether the control block has room for the arguments. */
  takes(pointers: readonly number[]): boolean {
    return pointers.length <= MOST_POINTERS;
  }

  /** Sends a kernel to the workers, which are started by the first one. */
  prepare(kernel: CpuKernel): void {
    if (this.broken || this.closed || kernel.discarded || this.ids.has(kernel)) return;
    const id = this.nextId++;
    this.ids.set(kernel, id);
    if (!this.started) {
      this.started = true;
      void this.start();
    }
    this.post({ kind: 'kernel', id, module: kernel.module });
  }

  /**
   * Resolves when the workers run and know all kernels that were prepared, or when that takes too long. Starting a
   * thread needs iterations of the event loop, which a caller who only awaits transforms may never give.
   */
  async ready(): Promise<void> {
    const { control } = this;
    for (const start = performance.now(); performance.now() - start < START_MILLISECONDS; ) {
      const posted = Atomics.load(control, CONTROL.posted);
      const known = this.threads.length > 0 && Atomics.load(control, CONTROL.seen) >= posted * this.workers;
      if (known || !this.started || this.broken || this.closed) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  discard(kernel: CpuKernel): void {
    const id = this.ids.get(kernel);
    if (id === undefined) return;
    this.ids.delete(kernel);
    this.post({ kind: 'discard', id });
  }

  /** Runs the groups from `begin` to `end` with the workers that join. `settled` then tells when they have left. */
  launch(kernel: CpuKernel, begin: number, end: number, pointers: readonly number[]): void {
    const { control, scratch } = this;
    this.prepare(kernel);
    this.failure = undefined;
    this.joined = 0;
    Atomics.store(control, CONTROL.failed, 0);
    if (this.broken) {
      try {
        return kernel.run(begin, end, scratch.address, ...pointers);
      } catch (cause) {
        throw launchFailure(cause);
      }
    }
    control[CONTROL.kernel] = this.ids.get(kernel) ?? 0;
    control[CONTROL.scratch] = scratch.address;
    control[CONTROL.stride] = scratch.stride;
    control[CONTROL.count] = pointers.length;
    control.set(pointers, CONTROL.pointers);
    Atomics.store(control, CONTROL.left, 0);
    shareOut(control, begin, end, this.workers + 1);
    this.setOpen(true);
    try {
      takeGroups(control, CONTROL, 0, (first, last) => kernel.run(first, last, scratch.address, ...pointers));
    } catch (cause) {
      // `settled` throws the failure, when no thread works on the job any more.
      this.failure = launchFailure(cause);
    } finally {
      this.joined = this.setOpen(false);
    }
  }

  /**
   * Whether all workers have left the job.
   * @param blocking whether to poll until they have, or a worker is given up for lost; if not, polling ends after 50 µs.
   * @throws FftError `launch-failed` when a kernel has failed, `device-lost` when a worker that had joined is gone.
   */
  settled(blocking: boolean): boolean {
    const { control } = this;
    let looked = performance.now();
    let waited = 0;
    for (let spin = 1; Atomics.load(control, CONTROL.left) < this.joined && !this.broken; spin++) {
      if (spin % SPINS_PER_CLOCK_READ !== 0) continue;
      const now = performance.now();
      waited += Math.min(now - looked, LONGEST_CLOCK_STEP_MILLISECONDS);
      looked = now;
      if (!blocking && waited > SPIN_MILLISECONDS) return false;
      if (waited > PATIENCE_MILLISECONDS) this.lose();
    }
    if (this.failure) throw this.failure;
    if (Atomics.load(control, CONTROL.left) < this.joined) {
      throw new FftError('device-lost', 'A worker thread of the CPU device ended while it was at work.');
    }
    if (Atomics.load(control, CONTROL.failed) !== 0) {
      throw new FftError('launch-failed', 'A kernel failed on a worker thread of the CPU device.');
    }
    return true;
  }

  /** The number of workers that joined the last job. */
  get helpers(): number {
    return this.joined;
  }

  /** Resolves when a worker has left, or a little later. */
  async wait(): Promise<void> {
    const { control } = this;
    const left = Atomics.load(control, CONTROL.left);
    if (left >= this.joined) return DONE;
    await sleep(control, left);
  }

  /** Ends the workers, each after the group that it works on. */
  close(): void {
    this.closed = true;
    this.ids.clear();
    this.backlog = [];
    Atomics.store(this.control, CONTROL.quit, 1);
    this.setOpen(false);
    Atomics.notify(this.control, CONTROL.left);
    this.threads = [];
    // Workers keep their own views until they end; this one would keep the device's memory alive.
    this.control = new Int32Array(0);
  }

  /** Opens or closes a job, and wakes all threads that wait for a change. @returns the number of workers that had joined before */
  private setOpen(open: boolean): number {
    const { control } = this;
    const before = Atomics.load(control, CONTROL.state);
    const cleared = before & ~JOINED_MASK;
    const isOpen = (before & OPEN_BIT) !== 0;
    const after = (cleared + (isOpen === open ? 2 * OPEN_BIT : OPEN_BIT)) | 0;
    const joined = Atomics.exchange(control, CONTROL.state, after) & JOINED_MASK;
    // Closing a job wakes no worker, except to quit or to read messages.
    if (open || !isOpen) Atomics.notify(control, CONTROL.state);
    return joined;
  }

  private post(message: Message): void {
    if (this.broken || this.closed) return;
    if (this.threads.length === 0) this.backlog.push(message);
    else this.send(() => message);
  }

  /** Sends a message to each worker. All get the same number of messages, which they compare with the count in the control block. */
  private send(message: (thread: number) => Message): void {
    // The message is counted before it is sent: a worker that got ahead of the count would go to sleep in its event loop.
    Atomics.add(this.control, CONTROL.posted, 1);
    this.threads.forEach((thread, number) => thread.post(message(number + 1)));
    this.setOpen(false);
  }

  private async start(): Promise<void> {
    try {
      const known = [JSON.stringify(CONTROL), OPEN_BIT, WORKER_SPINS, takeGroups, takePart].join(', ');
      const text = `(${workerMain})(port, ${known});`;
      const start = await threadFactory(text, () => this.lose());
      if (this.closed) return;
      this.threads = Array.from({ length: this.workers }, start);
      const { memory } = this.memory;
      this.send((thread) => ({ kind: 'memory', memory, address: CONTROL_ADDRESS, thread }));
      for (const message of this.backlog.splice(0)) this.send(() => message);
    } catch {
      this.lose();
    }
  }

  /** Continues without workers. A job that a lost worker has joined fails. */
  private lose(): void {
    if (this.closed || this.broken) return;
    this.broken = true;
    this.backlog = [];
    for (const thread of this.threads.splice(0)) thread.terminate();
    Atomics.notify(this.control, CONTROL.left);
  }
}

/** Returns a function that starts a thread from its source text. @param lost is called when a thread ends or cannot start */
async function threadFactory(text: string, lost: () => void): Promise<() => Thread> {
  const node = await nodeModule<typeof import('node:worker_threads')>('node:worker_threads');
  if (node) {
    // Deno's port lacks `close`: its workers are web workers.
    const start = `const port = require('node:worker_threads').parentPort; port.close ??= () => close(); ${text}`;
    return () => {
      const worker = new node.Worker(start, { eval: true, execArgv: [], env: node.SHARE_ENV, name: 'omnifft' });
      // A device that is no longer used must not keep the process alive; only waiting for a job does (see `sleep`).
      worker.unref();
      worker.on('error', lost);
      worker.on('exit', lost);
      return { post: (message) => worker.postMessage(message), terminate: () => void worker.terminate() };
    };
  }
  const source = new Blob([`const port = self; ${text}`], { type: 'text/javascript' });
  const url = URL.createObjectURL(source);
  return () => {
    const worker = new Worker(url, { name: 'omnifft' });
    worker.onerror = lost;
    return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  };
}

/** Waits until the number of workers that have left changes from `left`. */
async function sleep(control: Int32Array, left: number): Promise<void> {
  const { waitAsync } = Atomics as unknown as {
    waitAsync?: (array: Int32Array, at: number, value: number) => { async: boolean; value: unknown };
  };
  if (!waitAsync) return new Promise((resolve) => setTimeout(resolve, 0));
  const waiting = waitAsync(control, CONTROL.left, left);
  if (!waiting.async) return;
  // Waiting for shared memory does not keep a process alive, a timer does.
  const alive = setInterval(() => {}, 1000);
  try {
    await waiting.value;
  } finally {
    clearInterval(alive);
  }
}
