/** The launches of a program, recorded once into a command buffer. */
import { type BoundStep, requireAligned } from '../common/program.ts';
import type { Launches } from '../native/driver.ts';
import { COMPUTE, type Handle, MEMORY } from './api.ts';
import type { VkAllocation, VkDriver } from './driver.ts';
import type { VkKernel } from './kernel.ts';
import type { VkBuffer } from './memory.ts';

/** One launch: its kernel, and the push constants that hold its arguments. */
interface VkLaunch {
  readonly kernel: VkKernel;
  /** The number of the launch within its step. The launches of one step do not depend on one another. */
  readonly number: number;
  readonly pushed: Uint8Array;
}

/** The most runs that are timed in one command buffer. */
const RUNS_RECORDED = 64;

export class VkLaunches implements Launches {
  private readonly driver: VkDriver;
  private readonly launches: readonly VkLaunch[];
  /** Memory for arguments that exceed the limit of push constants. */
  private readonly blocks: VkAllocation[] = [];
  /** Whether the launches write memory that host code can access. */
  private readonly forHost: boolean;
  private recorded: Handle | undefined;
  /** Whether a command buffer of the caller's refers to the arguments from now on. */
  private captured = false;

  /** @throws FftError `misaligned-buffer`, `out-of-memory` */
  constructor(driver: VkDriver, steps: readonly BoundStep<VkBuffer, VkKernel>[]) {
    this.driver = driver;
    this.forHost = steps.some(({ arrays }) => arrays.some(({ buffer }) => buffer.mapped));
    this.launches = steps.flatMap((step) => this.launchesOf(step));
  }

  submit(): undefined {
    this.driver.submit([this.commands()], { what: 'Launching a program' });
  }

  append(commands: Handle): void {
    this.captured = true;
    this.driver.order(commands, 'device');
    this.launchIn(commands);
    this.driver.order(commands, 'host');
  }

  /**
   * Times runs that are recorded one after another, as in a caller's command buffer: between two command buffers a GPU idles for some microseconds.
   */
  async time(repeats: number, submit: (work: () => undefined) => Promise<void>): Promise<number> {
    const { driver } = this;
    const block = driver.commands();
    const runs = Math.min(repeats, RUNS_RECORDED);
    driver.record(block, false, () => {
      for (let run = 0; run < runs; run++) {
        if (run > 0) driver.order(block, 'kernel');
        this.launchIn(block);
      }
    });
    const blocks = new Array<Handle>(Math.floor(repeats / runs)).fill(block);
    const rest = new Array<Handle>(repeats % runs).fill(this.commands());
    try {
      return (await driver.timed([...blocks, ...rest], submit)) / repeats;
    } finally {
      driver.freeCommands(block);
    }
  }

  release(whenUnused: (action: () => void) => void): void {
    whenUnused(() => {
      if (this.recorded !== undefined) this.driver.freeCommands(this.recorded);
      this.recorded = undefined;
      if (!this.captured) for (const block of this.blocks.splice(0)) this.driver.free(block);
    });
  }

  private commands(): Handle {
    if (this.recorded !== undefined) return this.recorded;
    const commands = this.driver.commands();
    this.driver.record(commands, this.forHost, () => this.launchIn(commands));
    this.recorded = commands;
    return commands;
  }

  private launchIn(commands: Handle): void {
    const { driver, launches } = this;
    const { api } = driver;
    for (const [n, { kernel, number, pushed }] of launches.entries()) {
      const { pipeline, layout } = kernel.pipeline();
      if (n > 0 && number === 0) driver.order(commands, 'kernel');
      api.call('vkCmdBindPipeline', undefined, commands, COMPUTE.bindPoint, pipeline);
      api.call('vkCmdPushConstants', undefined, commands, layout, COMPUTE.stage, 0, pushed.length, pushed);
      api.call('vkCmdDispatch', undefined, commands, ...kernel.program.groups);
    }
  }

  private launchesOf({ kernel, arrays }: BoundStep<VkBuffer, VkKernel>): VkLaunch[] {
    const { launches, launchSize, argumentBytes, indirect } = kernel.program;
    return Array.from({ length: launches }, (_, number) => {
      const bytes = new Uint8Array(new ArrayBuffer(argumentBytes));
      const view = new DataView(bytes.buffer);
      for (const [n, array] of arrays.entries()) {
        const address = array.buffer.address + BigInt(array.byteOffset);
        requireAligned(array, kernel.program, n, address);
        view.setBigUint64(8 * n, address, true);
      }
      if (launches > 1) view.setUint32(8 * arrays.length, number * launchSize, true);
      return { kernel, number, pushed: indirect ? this.behindAddress(bytes) : bytes };
    });
  }

  private behindAddress(bytes: Uint8Array): Uint8Array {
    const { driver } = this;
    const block = driver.allocate(bytes.length, MEMORY.hostVisible | MEMORY.hostCoherent);
    this.blocks.push(block);
    driver.view(block.mapped!, bytes.length).set(bytes);
    return new Uint8Array(new BigUint64Array([block.address]).buffer);
  }
}
