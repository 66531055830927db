/** The launches of a program. Their arguments are laid out once, so that each launch is one call of the driver. */
import { type BoundStep, requireAligned } from '../common/program.ts';
import type { Launches } from '../native/driver.ts';
import type { NativeBuffer } from '../native/memory.ts';
import type { CudaDriver, CudaLaunch } from './driver.ts';
import type { CudaKernel } from './kernel.ts';

/** A launch and its arguments: addresses, and the number of the first group if a kernel takes several launches. */
interface LaunchArguments {
  readonly kernel: CudaKernel;
  readonly values: readonly bigint[];
}

/** Launches that do not depend on one another. */
interface IndependentLaunches {
  readonly launches: readonly CudaLaunch[];
  readonly streams: number;
}

export class CudaLaunches implements Launches {
  private readonly driver: CudaDriver;
  private readonly steps: readonly IndependentLaunches[];
  /** The memory of all arguments, to which the launches' pointers point. */
  private readonly block: ArrayBuffer;
  private readonly pipelined: CudaKernel | undefined;
  /** The counters of a pipelined kernel, and whether a graph of the caller's refers to them from now on. */
  private readonly counters: bigint | undefined;
  private captured = false;
  private runs = 0;
  private graph: bigint | undefined;
  private graphless: boolean;

  /** @param pipelined one kernel that does the work of all steps. */
  constructor(driver: CudaDriver, steps: readonly BoundStep<NativeBuffer, CudaKernel>[], pipelined?: CudaKernel) {
    this.driver = driver;
    const separate = steps.map(launchArguments);
    this.pipelined = pipelined;
    this.counters = pipelined?.counters?.take();
    const bound =
      pipelined && this.counters !== undefined
        ? [[{ kernel: pipelined, values: [...separate.flat().flatMap(({ values }) => values), this.counters] }]]
        : separate;
    this.graphless = bound.flat().length < 2;
    const count = bound.flat().reduce((sum, { values }) => sum + values.length, 0);
    this.block = new ArrayBuffer(16 * Math.max(1, count));
    this.steps = this.layOut(bound, count);
  }

  submit(): undefined {
    const { driver } = this;
    // A graph pays off from the second run on, so the first run is not captured.
    if (this.graph === undefined && !this.graphless && this.runs++ > 0) this.capture();
    if (this.graph === undefined) this.launchIn(driver.stream);
    else driver.api.call('GraphLaunch', this.graph, driver.stream);
  }

  append(stream: bigint, captured: boolean): void {
    this.captured ||= captured;
    this.launchIn(stream, captured);
  }

  time(repeats: number, submit: (work: () => undefined) => Promise<void>): Promise<number> {
    return this.driver.timed(
      repeats,
      (work) =>
        submit(() => {
          // The graph is captured before the clock starts, because that happens once only.
          if (this.graph === undefined && !this.graphless) this.capture();
          return work();
        }),
      () => this.submit(),
    );
  }

  release(whenUnused: (action: () => void) => void): void {
    this.graphless = true;
    const { counters, graph } = this;
    if (counters !== undefined && !this.captured) whenUnused(() => this.pipelined!.counters!.give(counters));
    if (graph === undefined) return;
    whenUnused(() => {
      this.graph = undefined;
      this.driver.api.raw.GraphExecDestroy(graph);
    });
  }

  /** Writes the values of all arguments, followed by the pointers to them. */
  private layOut(bound: readonly (readonly LaunchArguments[])[], count: number): IndependentLaunches[] {
    const { driver } = this;
    const start = driver.addressOf(this.block);
    const words = new BigUint64Array(this.block);
    let at = 0;
    driver.enter();
    return bound.map((launches) => ({
      streams: launches[0]!.kernel.streams,
      launches: launches.map(({ kernel, values }) => {
        const { groups, threads, sharedBytes } = kernel.program;
        const parameters = start + BigInt(8 * (count + at));
        for (const value of values) {
          words[at] = value;
          words[count + at] = start + BigInt(8 * at);
          at++;
        }
        return { entry: kernel.entry(), groups, threads, sharedBytes, parameters };
      }),
    }));
  }

  /** Submits all launches to a stream. @param alone whether to use this stream only. */
  private launchIn(stream: bigint, alone = false): void {
    const { driver } = this;
    for (const { launches, streams } of this.steps) {
      if (streams > 1 && launches.length > 1 && !alone) driver.spread(launches, streams, stream);
      else for (const launch of launches) driver.launch(launch, stream);
    }
  }

  /** Captures the launches as a graph. If something cannot be captured, steps are launched one by one as before. */
  private capture(): void {
    this.graphless = true;
    this.graph = this.driver.capture(() => this.launchIn(this.driver.stream));
    this.graphless = this.graph === undefined;
  }
}

function launchArguments({ kernel, arrays }: BoundStep<NativeBuffer, CudaKernel>): LaunchArguments[] {
  const { launches, launchSize } = kernel.program;
  const addresses = arrays.map((array, position) => {
    const address = array.buffer.handle + BigInt(array.byteOffset);
    requireAligned(array, kernel.program, position, address);
    return address;
  });
  if (launches === 1) return [{ kernel, values: addresses }];
  return Array.from({ length: launches }, (_, n) => ({ kernel, values: [...addresses, BigInt(n * launchSize)] }));
}
