/** Steps that are bound to memory. Arguments are laid out once, so that a launch is one call into the driver. */
import { FftError } from '../../problem/errors.ts';
import { requireAligned } from '../alignment.ts';
import type { Argument, Binding, BoundProgram, Step } from '../device.ts';
import type { Driver, LaunchSetup } from './driver.ts';
import type { Jobs } from './jobs.ts';
import { GpuKernel } from './kernel.ts';
import { GpuBuffer, type GpuMemory } from './memory.ts';
import type { CallerStreams } from './streams.ts';
import type { Timeline } from './timeline.ts';

/** What programs need of their device. */
export interface Machine {
  readonly driver: Driver;
  readonly stream: bigint;
  readonly memory: GpuMemory;
  readonly jobs: Jobs;
  readonly timeline: Timeline;
  readonly streams: CallerStreams;
  /** Makes the device's context current; the own stream then comes after all that was appended elsewhere. */
  enter(): void;
  /** @throws FftError `device-closed`, `device-lost` */
  requireOpen(): void;
  /** The entry point of a kernel. */
  entry(kernel: GpuKernel): bigint;
  addressOf(block: ArrayBuffer): bigint;
  /** Submits all that waits, and waits for it. */
  drain(): void;
  retire(action: () => void): void;
}

export class GpuProgram implements BoundProgram {
  private readonly machine: Machine;
  private readonly launches: readonly LaunchSetup[];
  /** Memory that others may free: all but tables. */
  private readonly buffers: readonly GpuBuffer[];
  /** The arguments; what the launches' addresses point to. */
  private readonly block: ArrayBuffer;
  private generation = -1;
  private released = false;
  private runs = 0;
  private graph: bigint | undefined;
  private graphless = false;

  constructor(machine: Machine, steps: readonly Step[], slots: readonly (Binding | undefined)[]) {
    this.machine = machine;
    const buffers = new Set<GpuBuffer>();
    const bound = steps.map((step, number) => bindStep(machine, step, number, slots, buffers));
    this.buffers = [...buffers];
    const count = bound.reduce((sum, { addresses }) => sum + addresses.length, 0);
    this.block = new ArrayBuffer(16 * Math.max(1, count));
    const start = machine.addressOf(this.block);
    // First the values, then the pointers to them.
    const words = new BigUint64Array(this.block);
    let at = 0;
    machine.enter();
    this.launches = bound.map(({ kernel, addresses }) => {
      const { groups, threads, sharedBytes } = kernel.program;
      const parameters = start + BigInt(8 * (count + at));
      for (const address of addresses) {
        words[at] = address;
        words[count + at] = start + BigInt(8 * at);
        at++;
      }
      return { entry: machine.entry(kernel), groups, threads, sharedBytes, parameters };
    });
    this.graphless = this.launches.length < 2;
  }

  run(): Promise<void> {
    return this.submit(() => this.launch());
  }

  /**
   * Appends to a stream of the caller's, by its handle.
   * @throws FftError `invalid-encoder`, `launch-failed`
   */
  encode(target: unknown): void {
    const { machine } = this;
    if (typeof target !== 'bigint' || target < 0n) {
      throw new FftError(
        'invalid-encoder',
        `The stream is ${String(target)}; the handle of a stream of this device's context is needed, a bigint.`,
      );
    }
    this.revalidate();
    if (!machine.jobs.idle) machine.drain();
    machine.requireOpen();
    machine.enter();
    machine.streams.append(target, this.buffers, () => {
      for (const setup of this.launches) machine.driver.launch(setup, target);
    });
  }

  async time(repeats: number): Promise<number> {
    const { driver, stream } = this.machine;
    if (!(Number.isSafeInteger(repeats) && repeats >= 1)) {
      throw new FftError('invalid-argument', `The repeats are ${repeats}; a whole number from 1 up is needed.`);
    }
    this.machine.requireOpen();
    this.machine.enter();
    const [start, end] = [driver.createEvent(true), driver.createEvent(true)];
    try {
      await this.submit(() => {
        // What happens at first only is over before the clock starts.
        if (this.graph === undefined && !this.graphless) this.capture();
        this.launch();
        driver.recordEvent(start, stream);
        for (let n = 0; n < repeats; n++) this.launch();
        driver.recordEvent(end, stream);
      });
      this.machine.enter();
      return driver.elapsed(start, end) / repeats;
    } finally {
      driver.destroyEvent(start);
      driver.destroyEvent(end);
    }
  }

  release(): void {
    if (this.released) return;
    this.released = true;
    this.generation = -1;
    this.graphless = true;
    const { graph, machine } = this;
    if (graph === undefined) return;
    machine.retire(() => {
      this.graph = undefined;
      machine.driver.destroyGraph(graph);
    });
  }

  private submit(launch: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const { machine } = this;
      this.revalidate();
      machine.jobs.submit({
        advance() {
          machine.requireOpen();
          machine.enter();
          launch();
          machine.timeline.touch();
          machine.timeline.after((failure) => (failure ? reject(failure) : resolve()));
          return true;
        },
        fail: reject,
      });
    });
  }

  private launch(): void {
    const { driver, stream } = this.machine;
    // A program that runs once would pay for its graph and gain nothing.
    if (this.graph === undefined && !this.graphless && this.runs++ > 0) this.capture();
    if (this.graph !== undefined) driver.launchGraph(this.graph, stream);
    else for (const setup of this.launches) driver.launch(setup, stream);
  }

  /** Where something cannot be captured, steps are launched one by one as before. */
  private capture(): void {
    const { driver, stream } = this.machine;
    try {
      driver.beginCapture(stream);
    } catch {
      this.graphless = true;
      return;
    }
    try {
      for (const setup of this.launches) driver.launch(setup, stream);
    } catch (error) {
      this.graphless = true;
      endQuietly(driver, stream);
      throw error;
    }
    try {
      this.graph = driver.endCapture(stream);
    } catch {
      this.graphless = true;
    }
  }

  /** Memory was freed, or the device closed, since the last run: ours? */
  private revalidate(): void {
    const { machine } = this;
    machine.requireOpen();
    if (this.generation === machine.memory.generation) return;
    if (this.released)
      throw new FftError('destroyed', 'This program was released and cannot run any more; bind it anew.');
    if (this.buffers.some((buffer) => buffer.freed)) {
      throw new FftError('destroyed', 'Device memory that this program is bound to was freed; bind it to live memory.');
    }
    this.generation = machine.memory.generation;
  }
}

function endQuietly(driver: Driver, stream: bigint): void {
  try {
    driver.destroyGraph(driver.endCapture(stream));
  } catch {
    // What was being captured is broken already.
  }
}

function bindStep(
  machine: Machine,
  step: Step,
  number: number,
  slots: readonly (Binding | undefined)[],
  buffers: Set<GpuBuffer>,
): { readonly kernel: GpuKernel; readonly addresses: readonly bigint[] } {
  const { kernel } = step;
  if (!(kernel instanceof GpuKernel) || !kernel.belongsTo(machine) || kernel.discarded) {
    throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
  }
  const { globals, tables, name } = kernel.kernel;
  const arrays = [...globals, ...tables];
  if (step.arguments.length !== arrays.length) {
    throw new FftError(
      'internal-error',
      `Kernel ${name} takes ${arrays.length} arrays, ${step.arguments.length} were bound.`,
    );
  }
  const addresses = step.arguments.map((argument, position) => {
    const what = `array ${arrays[position]!.name} of kernel ${name}`;
    const binding = bindingOf(argument, slots);
    if (!binding) throw new FftError('missing-buffer', `Nothing is bound for ${what}.`);
    const { buffer, byteOffset } = binding;
    if (!(buffer instanceof GpuBuffer) || buffer.memory !== machine.memory) {
      throw new FftError('foreign-buffer', `What is bound for ${what} is not memory of this device.`);
    }
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for ${what} was freed.`);
    const address = buffer.address + BigInt(byteOffset);
    requireAligned(kernel.kernel, kernel.program, position, address);
    if (!('fixed' in argument)) buffers.add(buffer);
    return address;
  });
  return { kernel, addresses };
}

function bindingOf(argument: Argument, slots: readonly (Binding | undefined)[]): Binding | undefined {
  if ('fixed' in argument) return argument.fixed;
  const slot = slots[argument.slot];
  return slot && { buffer: slot.buffer, byteOffset: slot.byteOffset + argument.byteOffset };
}
