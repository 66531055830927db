/** The shared part of devices behind C libraries, on a driver that is a list of commands. */
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { emitOpencl } from '../../emit/opencl/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { Allocator } from '../common/memory.ts';
import type { BoundStep } from '../common/program.ts';
import type { PackedKernel } from '../device.ts';
import { gpuProfile } from '../profiles/gpu.ts';
import { NativeBackend } from './backend.ts';
import type { Launches, NativeDriver, Pinned } from './driver.ts';
import { type SpmdFacts, SpmdKernel } from './kernel.ts';
import { NativeBuffer } from './memory.ts';

const random = randomFor('devices/native');
const noise = (length: number) => new Float32Array(uniform(random, length, 'single'));
const MEBIBYTE = 2 ** 20;

/** A driver with memory by handles, whose commands run when an event is queried. */
class ListDriver implements NativeDriver {
  readonly kind = 'opencl';
  readonly codeFacts = {};
  readonly target = 'queue';
  readonly stream = 1n;
  readonly eagerMilliseconds = 2;
  readonly handlesComeBack = false;
  readonly memory = new Map<bigint, Uint8Array>();
  pinnedBytes = 0;
  /** Makes the next command fail. */
  failing = false;
  private readonly todo: (() => void)[] = [];
  private readonly failures = new Map<bigint, FftError>();
  private last = 100n;

  submit(work: () => void): bigint {
    const event = ++this.last;
    if (this.failing) this.failures.set(event, new FftError('launch-failed', 'A command failed.'));
    this.todo.push(this.failing ? () => {} : work);
    this.failing = false;
    return event;
  }
  fresh = (bytes: Uint8Array): bigint => {
    this.memory.set(++this.last, bytes);
    return this.last;
  };

  enter(): void {}
  pin(bytes: number): Pinned {
    this.pinnedBytes += bytes;
    const view = new Uint8Array(bytes);
    return { address: this.fresh(view), view };
  }
  unpin({ address, view }: Pinned): void {
    this.pinnedBytes -= view.length;
    this.memory.delete(address);
  }
  copy(direction: 'in' | 'out', { handle }: NativeBuffer, byteOffset: number, host: bigint, bytes: number): bigint {
    const device = this.memory.get(handle)!.subarray(byteOffset, byteOffset + bytes);
    const other = this.memory.get(host)!.subarray(0, bytes);
    return this.submit(() => (direction === 'in' ? device.set(other) : other.set(device)));
  }
  mark(): bigint {
    return this.submit(() => {});
  }
  hasPassed(): boolean {
    this.synchronize();
    return true;
  }
  failureOf(event: bigint): FftError | undefined {
    return this.failures.get(event);
  }
  forget(): void {}
  sleep(_: bigint, wake: () => void): void {
    setTimeout(wake, 1);
  }
  wait(): void {}
  synchronize(): void {
    for (const work of this.todo.splice(0)) work();
  }
  callersStream(target: unknown): bigint {
    return target as bigint;
  }
  isCapturing(): boolean {
    return false;
  }
  close(): void {}
}

class ListKernel extends SpmdKernel {
  protected binary(): Uint8Array {
    return new Uint8Array();
  }
  unload(): void {}
}

class ListAllocator extends Allocator<NativeBuffer> {
  driver!: ListDriver;
  protected take(bytes: number): NativeBuffer {
    const handle = this.driver.fresh(new Uint8Array(bytes));
    return new NativeBuffer(this, handle, bytes, { of: handle, start: 0 });
  }
  protected reclaim({ handle }: NativeBuffer): void {
    this.driver.memory.delete(handle);
  }
}

/** Every kernel triples its first array into its second. */
class ListBackend extends NativeBackend<NativeBuffer, ListKernel> {
  readonly driver: ListDriver;
  readonly memory: ListAllocator;
  constructor(driver: ListDriver) {
    super(driver, 'list', {
      ...gpuProfile,
      name: 'list',
      sharedBytes: 1,
      maxBytes: 1,
      maxThreads: 1,
      multiprocessors: 1,
    });
    this.driver = driver;
    this.memory = Object.assign(new ListAllocator(this), { driver });
  }
  protected translate(kernel: Kernel): ListKernel {
    return new ListKernel(kernel, emitOpencl(kernel, {}));
  }
  protected revive({ outline, facts }: PackedKernel, whole: () => Kernel): ListKernel {
    return new ListKernel({ ...outline, whole }, (facts as SpmdFacts).program);
  }
  protected layOut(bound: readonly BoundStep<NativeBuffer, ListKernel>[]): Launches {
    const { driver } = this;
    const launch = () => {
      let event: bigint | undefined;
      for (const { arrays } of bound) {
        const [from, to] = arrays.map(({ buffer }) => new Float32Array(driver.memory.get(buffer.handle)!.buffer));
        event = driver.submit(() => to!.set(from!.map((value) => 3 * value)));
      }
      return event;
    };
    return { submit: launch, append: launch, time: async () => 1, release: () => {} };
  }
}

describe('a device behind a C library', () => {
  let device: ListBackend;
  beforeEach(() => {
    device = new ListBackend(new ListDriver());
  });
  const pair = (length: number) => [device.allocate(4 * length), device.allocate(4 * length)] as const;
  const tripling = (from: NativeBuffer, to: NativeBuffer) =>
    device.bind(steps(device, scaleKernel(2, 8, 2)), [whole(from), whole(to)]);
  const own = (length: number) => pair(length) as unknown as readonly [NativeBuffer, NativeBuffer];

  it('copies, runs and copies in order, through little pinned memory', async () => {
    const length = 16 * MEBIBYTE;
    const [from, to] = own(length);
    const x = new Float32Array(length).map((_, i) => i % 4099);
    const got = new Float32Array(length);
    await Promise.all([device.upload(whole(from), x), tripling(from, to).run(), device.download(whole(to), got)]);
    expect(got.every((value, i) => value === 3 * x[i]!)).toBe(true);
    expect(device.driver.pinnedBytes).toBeLessThanOrEqual(32 * MEBIBYTE);
    device.close();
    expect([device.driver.pinnedBytes, device.driver.memory.size]).toEqual([0, 0]);
  });

  it('rejects the call whose command has failed, and no other', async () => {
    const [from, to] = own(16);
    const program = tripling(from, to);
    const got = new Float32Array(16);
    const x = noise(16);
    const fail = <T>(work: () => T): T => {
      device.driver.failing = true;
      return work();
    };
    const calls = [
      fail(() => device.upload(whole(from), noise(16))),
      device.upload(whole(from), x),
      fail(() => program.run()),
      program.run(),
      fail(() => device.download(whole(to), new Float32Array(16))),
      device.download(whole(to), got),
    ];
    const codes = await Promise.all(calls.map((call) => codeOf(() => call)));
    expect(codes).toEqual(['launch-failed', undefined, 'launch-failed', undefined, 'launch-failed', undefined]);
    expect(got).toEqual(x.map((value) => 3 * value));
    device.driver.failing = true;
    expect(await codeOf(() => program.runSync!())).toBe('launch-failed');
    program.runSync!();
    device.close();
  });

  it('frees memory when the work that was submitted before has run', async () => {
    const [from, to] = own(16);
    const got = new Float32Array(16);
    const x = noise(16);
    const work = [device.upload(whole(from), x), tripling(from, to).run(), device.download(whole(to), got)];
    from.free();
    to.free();
    expect([from.freed, device.memory.held, device.driver.memory.has(from.handle)]).toEqual([true, 0, true]);
    await Promise.all([...work, device.finish()]);
    expect(got).toEqual(x.map((value) => 3 * value));
    expect(device.driver.memory.has(from.handle)).toBe(false);
    device.close();
  });

  it('refuses a range that the memory does not have, and what is of another device', async () => {
    const [from, to] = own(16);
    const other = new ListBackend(new ListDriver());
    expect(await codeOf(() => device.upload({ buffer: from, byteOffset: 4 }, noise(16)))).toBe('wrong-length');
    expect(await codeOf(() => other.upload(whole(from), noise(16)))).toBe('foreign-buffer');
    expect(await codeOf(() => other.bind(steps(other, scaleKernel(2, 8, 2)), [whole(from), whole(to)]))).toBe(
      'foreign-buffer',
    );
    expect(await codeOf(() => other.bind(steps(device, scaleKernel(2, 8, 2)), [whole(from)]))).toBe('internal-error');
    for (const repeats of [0, 1.5]) {
      expect(await codeOf(() => tripling(from, to).time!(repeats))).toBe('invalid-argument');
    }
    for (const backend of [device, other]) backend.close();
    expect(await codeOf(() => device.upload(whole(from), noise(16)))).toBe('device-closed');
  });
});
