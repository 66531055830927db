/** The launches of a program, with their arguments laid out. */
import { FftError } from '../../problem/errors.ts';
import { type BoundStep, requireAligned } from '../common/program.ts';
import type { Launches } from '../native/driver.ts';
import type { NativeBuffer } from '../native/memory.ts';
import type { Handle } from './api.ts';
import type { ZeDriver } from './driver.ts';
import { ZeEvents } from './events.ts';
import type { ZeKernel } from './kernel.ts';

/** One launch: its kernel, its arguments of 8 bytes each, and its groups. */
interface ZeLaunch {
  readonly kernel: ZeKernel;
  /** The number of the launch within its step. The launches of one step do not depend on one another. */
  readonly number: number;
  readonly values: readonly BigUint64Array[];
  readonly groups: Uint32Array;
}

export class ZeLaunches implements Launches {
  private readonly driver: ZeDriver;
  private readonly launches: readonly ZeLaunch[];

  /** @throws FftError `misaligned-buffer` */
  constructor(driver: ZeDriver, steps: readonly BoundStep<NativeBuffer, ZeKernel>[]) {
    this.driver = driver;
    this.launches = steps.flatMap(zeLaunches);
  }

  submit(): undefined {
    this.launchIn(this.driver.stream);
    this.driver.order(this.driver.stream);
  }

  append(list: Handle): void {
    this.driver.order(list);
    this.launchIn(list);
    this.driver.order(list);
  }

  /** Times runs by timestamps of the device, taken by events before the first launch and after the last one. */
  async time(repeats: number, submit: (work: () => undefined) => Promise<void>): Promise<number> {
    const { driver } = this;
    const { api, context, stream, device } = driver;
    const { tick, timeBits } = device.limits;
    if (!(tick > 0 && tick < Number.POSITIVE_INFINITY)) {
      throw new FftError('launch-failed', 'The device ran the transform but cannot tell how long it took.');
    }
    const events = new ZeEvents(api, context, true);
    try {
      const [first, last] = [events.take(), events.take()];
      await submit(() => {
        driver.order(stream, first);
        for (let n = 0; n < repeats; n++) {
          this.launchIn(stream);
          driver.order(stream, n === repeats - 1 ? last : 0n);
        }
      });
      const ticks = BigInt.asUintN(timeBits || 64, this.timeOf(last) - this.timeOf(first));
      return (Number(ticks) * tick) / repeats;
    } finally {
      events.release();
    }
  }

  release(): void {}

  /** The time in ticks at which the command of an event ended. */
  private timeOf(event: Handle): bigint {
    const times = new BigUint64Array(new ArrayBuffer(32));
    this.driver.api.call('zeEventQueryKernelTimestamp', undefined, event, times);
    return times[1]!;
  }

  /** Appends all launches to a command list, which copies the arguments that are set at that moment. */
  private launchIn(list: Handle): void {
    const { driver, launches } = this;
    const { api } = driver;
    for (const [n, launch] of launches.entries()) {
      const { kernel, number, values, groups } = launch;
      const object = kernel.object();
      if (n > 0 && number === 0) driver.order(list);
      if (kernel.bound !== launch) {
        for (const [place, value] of values.entries())
          api.call('zeKernelSetArgumentValue', LAUNCHING, object, place, 8, value);
        kernel.bound = launch;
      }
      api.call('zeCommandListAppendLaunchKernel', LAUNCHING, list, object, groups, 0n, 0, null);
    }
  }
}

const LAUNCHING = { what: 'Launching a kernel' } as const;

function zeLaunches({ kernel, arrays }: BoundStep<NativeBuffer, ZeKernel>): ZeLaunch[] {
  const { groups, launches, launchSize } = kernel.program;
  const addresses = arrays.map((array, n) => {
    const address = array.buffer.handle + BigInt(array.byteOffset);
    requireAligned(array, kernel.program, n, address);
    return address;
  });
  return Array.from({ length: launches }, (_, number) => {
    const all = launches > 1 ? [...addresses, BigInt(number * launchSize)] : addresses;
    const values = all.map((value) => new BigUint64Array(new ArrayBuffer(8)).fill(value));
    return { kernel, number, values, groups: immovableWords(groups) };
  });
}

/** An array in an `ArrayBuffer`, which the JavaScript engine does not move. */
function immovableWords(numbers: readonly number[]): Uint32Array {
  const array = new Uint32Array(new ArrayBuffer(4 * numbers.length));
  array.set(numbers);
  return array;
}
