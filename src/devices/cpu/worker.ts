/**
 * What a worker thread does: sleep, join the job that is open, take groups until none is left, leave.
 *
 * `workerMain` is started from its own text, so that it works from sources, from a build and from a bundle alike: it
 * must not refer to anything outside itself. What it needs to know arrives as arguments and messages.
 */

/** Where the words of the control block lie, as indices of 32-bit words. Words that threads contend for have a cache line each. */
export const CONTROL = {
  /** Bits 0–9: workers that have joined the job. Bit 10: a job is open. All above: counts changes. */
  state: 0,
  /** The next group that nobody has taken. */
  next: 16,
  /** Workers that have left the job. */
  left: 32,
  /** Messages posted to each worker so far. */
  posted: 48,
  quit: 49,
  /** Set when a worker's kernel has failed. */
  failed: 50,
  /** Messages that all workers together have dealt with. */
  seen: 51,
  /** The job. */
  kernel: 64,
  end: 65,
  /** The next chunk is what is left, divided by this. */
  parts: 66,
  scratch: 67,
  stride: 68,
  count: 69,
  pointers: 70,
} as const;

export const JOINED_MASK = 1023;
export const OPEN_BIT = 1024;
/** Pointers that fit into the control block. */
export const MOST_POINTERS = 128;

export type ControlLayout = typeof CONTROL;

export type Message =
  | { readonly kind: 'memory'; readonly memory: WebAssembly.Memory; readonly address: number; readonly thread: number }
  | { readonly kind: 'kernel'; readonly id: number; readonly module: WebAssembly.Module }
  | { readonly kind: 'discard'; readonly id: number };

/** The worker's end of its message channel: `self` in browsers, `parentPort` in Node. */
interface Port {
  onmessage: ((event: { data: Message }) => void) | null;
  close(): void;
}

export function workerMain(port: Port, at: ControlLayout, openBit: number, spins: number): void {
  type KernelFunction = (first: number, last: number, shared: number, ...pointers: number[]) => void;
  const kernels = new Map<number, KernelFunction>();
  let memory: WebAssembly.Memory;
  let control = new Int32Array(0);
  let thread = 0;
  let received = 0;

  // Methods, because compilers that preserve names wrap other functions in a helper, which is not part of this text.
  const server = {
    work() {
      const run = kernels.get(control[at.kernel] as number);
      // Without the kernel (it could not be built here) the other threads do this one's share.
      if (run) {
        const end = control[at.end] as number;
        const parts = control[at.parts] as number;
        const scratch = (control[at.scratch] as number) + thread * (control[at.stride] as number);
        const pointers = Array.from(control.subarray(at.pointers, at.pointers + (control[at.count] as number)));
        try {
          for (let first = Atomics.load(control, at.next); first < end; first = Atomics.load(control, at.next)) {
            const last = first + Math.ceil((end - first) / parts);
            if (Atomics.compareExchange(control, at.next, first, last) === first)
              run(first, last, scratch, ...pointers);
          }
        } catch {
          Atomics.store(control, at.failed, 1);
          Atomics.store(control, at.next, end);
        }
      }
      Atomics.add(control, at.left, 1);
      Atomics.notify(control, at.left);
    },

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
            this.work();
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
      control = new Int32Array(memory.buffer, data.address, 256);
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
