/** Steps that are bound to memory. Arguments are laid out once, so that a launch is one call into the driver. */

import { FftError, show } from '../../problem/errors.ts';
import { requireAligned } from '../alignment.ts';
import { boundArguments } from '../bindings.ts';
import type { Binding, BoundProgram, Step } from '../device.ts';
import type { Counters } from './counters.ts';
import type { Driver, LaunchSetup } from './driver.ts';
import type { Job, Jobs } from './jobs.ts';
import { GpuKernel } from './kernel.ts';
import { GpuBuffer, type GpuMemory } from './memory.ts';
import type { SideStreams } from './side-streams.ts';
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
  readonly sides: SideStreams;
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

/** One launch of a kernel with its arguments: addresses, and the first group where there are several launches. */
interface Launch {
  readonly kernel: GpuKernel;
  readonly values: readonly bigint[];
}

/** Launches that do not depend on one another. */
interface BoundStep {
  readonly launches: readonly LaunchSetup[];
  readonly streams: number;
}

export class GpuProgram implements BoundProgram {
  private readonly machine: Machine;
  private readonly steps: readonly BoundStep[];
  /** Memory that others may free: all but tables. */
  private readonly buffers: readonly GpuBuffer[];
  /** The arguments; what the launches' addresses point to. */
  private readonly block: ArrayBuffer;
  /** What the groups of a pipelined kernel wait by, and whether a graph of the caller's holds it from now on. */
  private readonly counters: { readonly of: Counters; readonly address: bigint } | undefined;
  private captured = false;
  private generation = -1;
  private released = false;
  private runs = 0;
  private graph: bigint | undefined;
  private graphless = false;

  /** @param pipelined all steps as one kernel. */
  constructor(
    machine: Machine,
    steps: readonly Step[],
    slots: readonly (Binding | undefined)[],
    pipelined?: GpuKernel,
  ) {
    this.machine = machine;
    const buffers = new Set<GpuBuffer>();
    const separate = steps.map((step, number) => bindStep(machine, step, number, slots, buffers));
    this.buffers = [...buffers];
    if (pipelined?.counters) this.counters = { of: pipelined.counters, address: pipelined.counters.take(machine) };
    const bound =
      pipelined && this.counters ? [[together(separate.flat(), pipelined, this.counters.address)]] : separate;
    const count = bound.flat().reduce((sum, { values }) => sum + values.length, 0);
    this.block = new ArrayBuffer(16 * Math.max(1, count));
    const start = machine.addressOf(this.block);
    // First the values, then the pointers to them.
    const words = new BigUint64Array(this.block);
    let at = 0;
    machine.enter();
    this.steps = bound.map((launches) => ({
      streams: launches[0]!.kernel.streams,
      launches: launches.map(({ kernel, values }) => {
        const { groups, threads, sharedBytes } = kernel.program;
        const parameters = start + BigInt(8 * (count + at));
        for (const value of values) {
          words[at] = value;
          words[count + at] = start + BigInt(8 * at);
          at++;
        }
        return { entry: machine.entry(kernel), groups, threads, sharedBytes, parameters };
      }),
    }));
    this.graphless = bound.flat().length < 2;
  }

  run(): Promise<void> {
    return this.submit(() => this.launch());
  }

  runSync(): void {
    let failure: unknown;
    this.revalidate();
    this.machine.jobs.submit(
      this.job(
        () => this.launch(),
        (error) => (failure = error),
      ),
    );
    this.machine.drain();
    this.machine.requireOpen();
    if (failure !== undefined) throw failure;
  }

  /**
   * Appends to a stream of the caller's, by its handle.
   * @throws FftError `invalid-encoder`, `launch-failed`
   */
  encode(target: unknown): void {
    const { machine } = this;
    if (typeof target !== 'bigint' || target < 0n || target >= 2n ** 64n) {
      throw new FftError(
        'invalid-encoder',
        `The stream is ${show(target)}; the handle of a stream of this device's context is needed, a bigint.`,
      );
    }
    this.revalidate();
    if (!machine.jobs.idle) machine.drain();
    machine.requireOpen();
    machine.enter();
    machine.streams.append(target, this.buffers, (captured) => {
      this.captured ||= captured;
      this.launchIn(target, captured);
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
    const { graph, machine, counters } = this;
    if (counters && !this.captured) machine.retire(() => counters.of.give(counters.address));
    if (graph === undefined) return;
    machine.retire(() => {
      this.graph = undefined;
      machine.driver.destroyGraph(graph);
    });
  }

  private submit(launch: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.revalidate();
      this.machine.jobs.submit(this.job(launch, (failure) => (failure ? reject(failure) : resolve())));
    });
  }

  /** @param ended is told when what was launched has run, or what went wrong. */
  private job(launch: () => void, ended: (failure?: unknown) => void): Job {
    const { machine } = this;
    return {
      advance() {
        machine.requireOpen();
        machine.enter();
        launch();
        machine.timeline.touch();
        machine.timeline.after(ended);
        return true;
      },
      fail: ended,
    };
  }

  private launch(): void {
    const { driver, stream } = this.machine;
    // A program that runs once would pay for its graph and gain nothing.
    if (this.graph === undefined && !this.graphless && this.runs++ > 0) this.capture();
    if (this.graph !== undefined) driver.launchGraph(this.graph, stream);
    else this.launchIn(stream);
  }

  /** @param alone in this stream and no other. */
  private launchIn(stream: bigint, alone = false): void {
    const { driver, sides } = this.machine;
    for (const { launches, streams } of this.steps) {
      if (streams > 1 && launches.length > 1 && !alone) sides.spread(launches, streams, stream);
      else for (const setup of launches) driver.launch(setup, stream);
    }
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
      this.launchIn(stream);
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

/** One launch with the arguments of several. */
function together(launches: readonly Launch[], kernel: GpuKernel, counters: bigint): Launch {
  return { kernel, values: [...launches.flatMap(({ values }) => values), counters] };
}

function bindStep(
  machine: Machine,
  step: Step,
  number: number,
  slots: readonly (Binding | undefined)[],
  buffers: Set<GpuBuffer>,
): Launch[] {
  const { kernel } = step;
  if (!(kernel instanceof GpuKernel) || !kernel.belongsTo(machine) || kernel.discarded) {
    throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
  }
  const addresses = boundArguments(step, slots).map(({ buffer, byteOffset, what, fixed }, position) => {
    if (!(buffer instanceof GpuBuffer) || buffer.memory !== machine.memory) {
      throw new FftError('foreign-buffer', `What is bound for ${what} is not memory of this device.`);
    }
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for ${what} was freed.`);
    const address = buffer.address + BigInt(byteOffset);
    requireAligned(kernel.kernel, kernel.program, position, address);
    if (!fixed) buffers.add(buffer);
    return address;
  });
  const { launches, launchSize } = kernel.program;
  if (launches === 1) return [{ kernel, values: addresses }];
  return Array.from({ length: launches }, (_, n) => ({ kernel, values: [...addresses, BigInt(n * launchSize)] }));
}
