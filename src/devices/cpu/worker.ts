/**
 * The main function of worker threads: it sleeps, joins the open job, takes groups until none is left, and leaves.
 *
 * `workerMain`, `takePart` and `takeGroups` are started from their own text, so that they work from sources, from a build and from a bundle
 * alike: they must not refer to anything outside themselves. All data arrives as arguments and messages.
 */

import { MOST_THREADS } from './host.ts';

/** The layout of the control block, as indices of 32-bit words. Each word that threads contend for has a cache line of its own. */
export const CONTROL = {
  /** Bits 0–9: workers that have joined the job. Bit 10: a job is open. Higher bits: a count of changes. */
  state: 0,
  /** Workers that have left the job. */
  left: 16,
  /** Messages posted to each worker so far. */
  posted: 32,
  quit: 33,
  /** Set when a worker's kernel has failed. */
  failed: 34,
  /** Messages that all workers together have dealt with. */
  seen: 35,
  /** The job: kernel, range of groups, and arguments. */
  kernel: 48,
  begin: 49,
  end: 50,
  scratch: 51,
  stride: 52,
  count: 53,
  /** The number of contiguous shares that its groups are divided into. */
  shares: 54,
  /** The divisor by which a thread takes a part of the groups left in its share. */
  parts: 55,
  pointers: 56,
  /** The first group of each share that no thread has taken yet, one word per share on a cache line of its own. */
  next: 192,
  nextApart: 16,
  /** The number of words of the control block. */
  words: 192 + 32 * 16,
} as const;

export const JOINED_MASK = MOST_THREADS;
export const OPEN_BIT = 1024;
/** The most pointers that fit into the control block. */
export const MOST_POINTERS = CONTROL.next - CONTROL.pointers;
const MOST_SHARES = (CONTROL.words - CONTROL.next) / CONTROL.nextApart;

type ControlLayout = typeof CONTROL;

export type Message =
  | { readonly kind: 'memory'; readonly memory: WebAssembly.Memory; readonly address: number; readonly thread: number }
  | { readonly kind: 'kernel'; readonly id: number; readonly module: WebAssembly.Module }
  | { readonly kind: 'discard'; readonly id: number };

/** The worker's end of its message channel: `self` in browsers, `parentPort` in Node. */
interface Port {
  onmessage: ((event: { data: Message }) => void) | null;
  close(): void;
}

/** A thread takes the rest of a share, divided by this number for each thread that begins at the share. */
const SHARE_DIVISOR = 2;

/** Divides the groups of a job into shares: one for each thread or, if there are many threads, for several. */
export function shareOut(control: Int32Array, begin: number, end: number, threads: number): void {
  const shares = Math.min(threads, MOST_SHARES);
  control[CONTROL.begin] = begin;
  control[CONTROL.end] = end;
  control[CONTROL.shares] = shares;
  control[CONTROL.parts] = SHARE_DIVISOR * Math.ceil(threads / shares);
  for (let share = 0; share < shares; share++) {
    control[CONTROL.next + share * CONTROL.nextApart] = begin + Math.floor(((end - begin) * share) / shares);
  }
}

/**
 * Takes groups of the job until none is left: first from this thread's share, which covers the same part of every job, so that
 * its data stays in the thread's own cache; then from the others' shares.
 *
 * A thread takes a part of the rest of a share, again and again (“guided self-scheduling”, Polychronopoulos and Kuck 1987). At first
 * these are many adjacent groups, because threads that share cache lines and pages slow each other down; then fewer
 * and fewer, so that the wait for the last one is short. From others' shares a thread takes less, since several threads may help there.
 */
export function takeGroups(
  control: Int32Array,
  at: ControlLayout,
  thread: number,
  run: (first: number, last: number) => void,
): void {
  const begin = control[at.begin] as number;
  const groups = (control[at.end] as number) - begin;
  const shares = control[at.shares] as number;
  const parts = control[at.parts] as number;
  for (let ahead = 0; ahead < shares; ahead++) {
    const share = (thread + ahead) % shares;
    const divisor = ahead === 0 ? parts : parts * shares;
    const next = at.next + share * at.nextApart;
    const end = begin + Math.floor((groups * (share + 1)) / shares);
    for (let first = Atomics.load(control, next); first < end; first = Atomics.load(control, next)) {
      const last = first + Math.ceil((end - first) / divisor);
      if (Atomics.compareExchange(control, next, first, last) !== first) continue;
      try {
        run(first, last);
      } catch (cause) {
        // After a failure no thread needs to continue.
        for (let other = 0; other < shares; other++)
          Atomics.store(control, at.next + other * at.nextApart, begin + groups);
        throw cause;
      }
    }
  }
}

/**
 * Takes part in the job that this worker has joined, and leaves it. Without the kernel (it could not be built here) the others do
 * its share.
 */
export function takePart(
  control: Int32Array,
  at: ControlLayout,
  thread: number,
  run: KernelFunction | undefined,
  take: typeof takeGroups,
): void {
  if (run) {
    const scratch = (control[at.scratch] as number) + thread * (control[at.stride] as number);
    const pointers = Array.from(control.subarray(at.pointers, at.pointers + (control[at.count] as number)));
    try {
      take(control, at, thread, (first, last) => run(first, last, scratch, ...pointers));
    } catch {
      Atomics.store(control, at.failed, 1);
    }
  }
  Atomics.add(control, at.left, 1);
  Atomics.notify(control, at.left);
}

type KernelFunction = (first: number, last: number, shared: number, ...pointers: number[]) => void;

export function workerMain(
  port: Port,
  at: ControlLayout,
  openBit: number,
  spins: number,
  take: typeof takeGroups,
  part: typeof takePart,
): void {
  const kernels = new Map<number, KernelFunction>();
  let memory: WebAssembly.Memory;
  let control = new Int32Array(0);
  let thread = 0;
  let received = 0;

  // A method, because compilers that preserve names wrap other functions in a helper, which is not part of this text.
  const server = {
    serve() {
      let finished = -1;
      for (;;) {
        const state = Atomics.load(control, at.state);
        if (Atomics.load(control, at.quit) !== 0) return port.close();
        // A blocked thread receives nothing: go back to the event loop, which calls again when the message is there.
        if (Atomics.load(control, at.posted) !== received) return;
        const job = state & -openBit;
        if ((state & openBit) !== 0 && job !== finished) {
          if (Atomics.compareExchange(control, at.state, state, state + 1) === state) {
            part(control, at, thread, kernels.get(control[at.kernel] as number), take);
            finished = job;
          }
          continue;
        }
        // The next step of a program usually follows at once, and waking up takes longer than that.
        let spin = 0;
        while (spin < spins && Atomics.load(control, at.state) === state) spin++;
        if (spin === spins) Atomics.wait(control, at.state, state);
      }
    },
  };

  port.onmessage = ({ data }) => {
    received++;
    if (data.kind === 'memory') {
      memory = data.memory;
      control = new Int32Array(memory.buffer, data.address, at.words);
      thread = data.thread;
    } else if (data.kind === 'kernel') {
      try {
        const instance = new WebAssembly.Instance(data.module, { env: { memory } });
        kernels.set(data.id, instance.exports.run as KernelFunction);
      } catch {
        kernels.delete(data.id);
      }
    } else kernels.delete(data.id);
    Atomics.add(control, at.seen, 1);
    server.serve();
  };
}
