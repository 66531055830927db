/** The launches of a program: each is a kernel object whose arguments are set once. */
import { storageBytes } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { type BoundArray, type BoundStep, buffersOf, requireAligned } from '../common/program.ts';
import type { Launches } from '../native/driver.ts';
import { type Handle, INFO, QUEUE } from './api.ts';
import type { ClDriver, ClLaunch } from './driver.ts';
import type { ClKernel } from './kernel.ts';
import type { ClBuffer } from './memory.ts';

export class ClLaunches implements Launches {
  private readonly driver: ClDriver;
  private readonly launches: ClLaunch[] = [];
  /** The caller's memory objects. They are retained, because the caller may release them while a kernel still uses them. */
  private readonly held: readonly Handle[];

  /** @throws FftError `buffer-usage`, `misaligned-buffer`, `launch-failed` */
  constructor(driver: ClDriver, steps: readonly BoundStep<ClBuffer, ClKernel>[]) {
    this.driver = driver;
    try {
      for (const step of steps) this.bind(step);
    } catch (error) {
      this.releaseKernels();
      throw error;
    }
    this.held = [...buffersOf(steps)].flatMap(({ adopted, handle }) => (adopted ? [handle] : []));
    for (const handle of this.held) driver.cl.raw.clRetainMemObject(handle);
  }

  submit(): Handle | undefined {
    return this.launchIn(this.driver.stream, true);
  }

  append(queue: Handle): void {
    this.launchIn(queue, false);
  }

  /** Times runs by the device's clock, on a queue with profiling enabled. */
  async time(repeats: number, submit: (work: () => undefined) => Promise<void>): Promise<number> {
    const { driver, launches } = this;
    const { cl, stream } = driver;
    const queue = driver.makeQueue(QUEUE.profiling);
    const events: Handle[] = [];
    try {
      await submit(() => {
        const before = driver.mark(stream);
        driver.wait(queue, before);
        driver.forget(before);
        const last = repeats * launches.length - 1;
        for (let n = 0; n <= last; n++) {
          const event = driver.launch(launches[n % launches.length]!, queue, n === 0 || n === last);
          if (event !== undefined) events.push(event);
        }
        driver.flush(queue);
        driver.wait(stream, events.at(-1)!);
      });
      const [first, last] = [events[0]!, events.at(-1)!];
      const failure = driver.failureOf(last);
      if (failure) throw failure;
      const start = cl.number('profiling', first, INFO.profilingStart);
      const end = cl.number('profiling', last, INFO.profilingEnd);
      if (start === undefined || end === undefined) {
        throw new FftError('launch-failed', 'The device ran the transform but cannot tell how long it took.');
      }
      return (end - start) / 1e6 / repeats;
    } finally {
      for (const event of events) driver.forget(event);
      cl.raw.clReleaseCommandQueue(queue);
    }
  }

  release(whenUnused: (action: () => void) => void): void {
    whenUnused(() => {
      this.releaseKernels();
      for (const handle of this.held) this.driver.cl.raw.clReleaseMemObject(handle);
    });
  }

  private launchIn(queue: Handle, wanted: boolean): Handle | undefined {
    const { driver, launches } = this;
    const last = launches.length - 1;
    for (let n = 0; n < last; n++) driver.launch(launches[n]!, queue);
    const event = driver.launch(launches[last]!, queue, wanted);
    driver.flush(queue);
    return event;
  }

  private releaseKernels(): void {
    for (const { kernel } of this.launches.splice(0)) this.driver.cl.raw.clReleaseKernel(kernel);
  }

  private bind({ kernel, arrays }: BoundStep<ClBuffer, ClKernel>): void {
    const { globals } = kernel.kernel;
    const { threads, groups, launches, launchSize } = kernel.program;
    for (const [n, array] of arrays.entries()) requireUsable(kernel, array, n);
    const offsets = globals.map(({ type }, n) => BigInt(arrays[n]!.byteOffset / storageBytes(type)));
    const values = [...arrays.map(({ buffer }) => buffer.handle), ...offsets];
    const globalSize = new BigUint64Array([BigInt(groups[0] * threads), BigInt(groups[1]), BigInt(groups[2])]);
    const localSize = new BigUint64Array([BigInt(threads), 1n, 1n]);
    for (let n = 0; n < launches; n++) {
      const first = launches > 1 ? [BigInt(n * launchSize)] : [];
      const made = kernel.instance();
      this.launches.push({ kernel: made, globalSize, localSize });
      const requested = { what: `Binding kernel ${kernel.kernel.name}` };
      for (const [position, value] of [...values, ...first].entries()) {
        this.driver.cl.call('clSetKernelArg', requested, made, position, 8, new BigUint64Array([value]));
      }
    }
  }
}

/** Checks that a buffer may be bound to an array. @throws FftError `buffer-usage`, `misaligned-buffer` */
function requireUsable({ program }: ClKernel, array: BoundArray<ClBuffer>, position: number): void {
  const { written = true } = program.bindings[position] ?? {};
  if (written && !array.buffer.writable) {
    throw new FftError('buffer-usage', `${array.what} is written, but its cl_mem is CL_MEM_READ_ONLY.`);
  }
  requireAligned(array, program, position, array.byteOffset);
}
