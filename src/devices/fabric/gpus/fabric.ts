/**
 * The fabric of the GPUs of one process, which holds all ranks. Each GPU has a stream of passes and a stream of the messages that it sends beside
 * them; streams wait for one another by events, and the host waits for none of them.
 */
import { FftError } from '../../../problem/errors.ts';
import type { CodeStore } from '../../code-cache/store.ts';
import type { GpuKind } from '../../cuda/open.ts';
import { openGpu } from '../../cuda/open.ts';
import type { Backend, DeviceBuffer } from '../../device.ts';
import type { LibraryRequest } from '../../native/library.ts';
import { addressOf, type Fabric } from '../fabric.ts';
import { localFabric } from '../local.ts';
import { eachRowPair, type Rows } from '../rows.ts';
import { type Gpu, type GpuDriver, openGpuDriver, openGpus } from './driver.ts';
import { type Message, type Nccl, ncclLibrary, openNccl } from './nccl.ts';
import { granularityOf, makeWindow, type Window } from './windows.ts';

export const gpuExchanges = ['auto', 'peer', 'copy', 'nccl'] as const;
/** Way of exchange between GPUs: kernels that store into the memory of peers, copies by the driver, or NCCL. */
export type GpuExchange = (typeof gpuExchanges)[number];

export interface GpuOptions {
  /** Numbers of the GPUs. Default: all. */
  readonly devices?: readonly number[] | undefined;
  readonly exchange?: GpuExchange | undefined;
}

/** Sources of drivers, which tests replace. */
export interface GpuSources {
  readonly kind: GpuKind;
  readonly nccl?: LibraryRequest;
}

const EVENT_NO_TIMING = 2;
const NOT_READY = 600;
const DEVICE_MEMORY = 2;
/** Milliseconds for which events are polled at every iteration of the event loop; after that they are polled less often. */
const EAGER_MILLISECONDS = 20;

type Parts = Omit<Fabric, 'close'>;

export class GpuFabric implements Fabric {
  readonly kind = 'gpus';
  readonly library: string;
  readonly size: number;
  readonly ranks: readonly number[];
  readonly counters = { bytes: 0, messages: 0 };
  /** Whether messages move while passes run: not where passes store into windows, because the stores themselves are the messages. */
  readonly beside: boolean;
  /** Empty, because messages between GPUs do not go through `exchange`. */
  readonly reaches = [];
  readonly mostElements = Number.MAX_SAFE_INTEGER;
  readonly backends: readonly Backend[];
  /** The way in which messages move. */
  readonly way: Exclude<GpuExchange, 'auto'>;
  /** Whether the caller has asked for this way. */
  readonly demanded: boolean;
  /** The unit in bytes of a window slot's length. */
  readonly slotUnit: number;
  private readonly driver: GpuDriver;
  private readonly gpus: readonly Gpu[];
  private readonly leave: () => void;
  private readonly nccl: Nccl | undefined;
  private readonly events: bigint[];
  private readonly windows = new Set<Window>();
  private readonly local: Parts;
  private closed = false;

  constructor(parts: {
    readonly driver: GpuDriver;
    readonly gpus: readonly Gpu[];
    readonly leave: () => void;
    readonly backends: readonly Backend[];
    readonly way: GpuFabric['way'];
    readonly demanded: boolean;
    readonly nccl: Nccl | undefined;
  }) {
    const { driver, gpus } = parts;
    this.driver = driver;
    this.gpus = gpus;
    this.leave = parts.leave;
    this.backends = parts.backends;
    this.way = parts.way;
    this.demanded = parts.demanded;
    this.beside = parts.way !== 'peer';
    this.nccl = parts.nccl;
    this.library = parts.nccl?.version ?? `${driver.api.variant.title} ${driver.api.int('DriverGetVersion')}`;
    this.size = gpus.length;
    this.ranks = [...gpus.keys()];
    this.slotUnit = parts.way === 'peer' ? granularityOf(driver, gpus) : 1;
    this.local = localFabric('gpus', this.size, this.library);
    this.events = gpus.map((gpu) => {
      driver.enter(gpu);
      return driver.api.handle('EventCreate', EVENT_NO_TIMING);
    });
  }

  /** Exchanges numbers in host memory, which this thread sees. */
  exchange(exchange: Parameters<Fabric['exchange']>[0]): Promise<void> {
    return this.local.exchange(exchange);
  }

  gather(own: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.local.gather(own);
  }

  abort(): void {}

  /** The address of memory on a rank's device. @throws FftError `foreign-buffer`, `destroyed` */
  addressOf(rank: number, buffer: DeviceBuffer, what: string): bigint {
    return addressOf(this.backends[rank]!, rank, buffer, what);
  }

  /** @throws FftError `out-of-memory` */
  window(slotBytes: number): Window {
    const made = makeWindow(this.driver, this.gpus, slotBytes);
    const window = {
      ...made,
      release: () => {
        if (!this.windows.delete(window)) return;
        this.synchronize();
        made.release();
      },
    };
    this.windows.add(window);
    return window;
  }

  /** Makes passes submitted from now on wait for all earlier passes, on any GPU. */
  meet(): void {
    this.order('stream', 'stream');
  }

  /** Makes messages sent from now on wait for all earlier passes: the memory that they overwrite is no longer read. */
  beginSending(): void {
    this.order('stream', 'sending');
  }

  /** Sends messages, each when the passes of its sender that were submitted before are over. */
  send(messages: readonly Message[]): void {
    const { driver, gpus, nccl } = this;
    gpus.forEach((gpu, n) => {
      driver.enter(gpu);
      driver.api.call('EventRecord', this.events[n], gpu.stream);
      driver.api.call('StreamWaitEvent', gpu.sending, this.events[n], 0);
    });
    for (const { from, source, to, target, bytes } of messages) {
      if (bytes === 0 || (nccl && from !== to)) continue;
      const gpu = gpus[from]!;
      driver.enter(gpu);
      if (from === to) driver.api.call('MemcpyDtoDAsync', target, source, bytes, gpu.sending);
      else driver.copyBetween(gpu, source, gpus[to]!, target, bytes);
    }
    const between = messages.filter(({ from, to, bytes }) => from !== to && bytes > 0);
    if (nccl && between.length > 0) nccl.move(between);
  }

  /** Makes passes submitted from now on wait for all messages sent before. */
  receive(): void {
    this.order('sending', 'stream');
  }

  /** Makes every stream of the second kind wait for the work submitted so far to all streams of the first kind. */
  private order(first: 'stream' | 'sending', then: 'stream' | 'sending'): void {
    const { driver, gpus, events } = this;
    gpus.forEach((gpu, n) => {
      driver.enter(gpu);
      driver.api.call('EventRecord', events[n], gpu[first]);
    });
    gpus.forEach((gpu, n) => {
      driver.enter(gpu);
      events.forEach((event, other) => {
        if (first !== then || other !== n) driver.api.call('StreamWaitEvent', gpu[then], event, 0);
      });
    });
  }

  /** Copies a box within memory that a rank's GPU reaches. */
  copyBox(rank: number, from: bigint, source: Rows, to: bigint, target: Rows, elementBytes: number): void {
    const { driver, gpus } = this;
    const gpu = gpus[rank]!;
    driver.enter(gpu);
    eachRowPair(source, target, elementBytes, ({ read, write, rows, readPitch, writePitch, rowBytes }) => {
      const [source, target] = [from + BigInt(read), to + BigInt(write)];
      if (rows === 1) driver.api.call('MemcpyDtoDAsync', target, source, rowBytes, gpu.stream);
      else {
        const end = (address: bigint, pitch: number) => [0n, 0n, BigInt(DEVICE_MEMORY), 0n, address, 0n, BigInt(pitch)];
        const both = [...end(source, readPitch), ...end(target, writePitch), BigInt(rowBytes), BigInt(rows)];
        driver.call('Memcpy2DAsync', BigUint64Array.from(both), gpu.stream);
      }
    });
  }

  zeroBox(rank: number, at: bigint, box: Rows, elementBytes: number): void {
    const { driver, gpus } = this;
    const gpu = gpus[rank]!;
    driver.enter(gpu);
    eachRowPair(box, box, elementBytes, ({ write, rows, writePitch, rowBytes }) => {
      const pitch = rows === 1 ? rowBytes : writePitch;
      driver.call('MemsetD2D8Async', at + BigInt(write), pitch, 0, rowBytes, rows, gpu.stream);
    });
  }

  /** Copies a host array into memory of a rank; the array has been read when this returns. */
  upload(rank: number, to: bigint, array: ArrayBufferView): void {
    if (array.byteLength === 0) return;
    this.driver.enter(this.gpus[rank]!);
    this.driver.api.call('MemcpyHtoDAsync', to, array, array.byteLength, this.gpus[rank]!.stream);
    this.driver.api.call('StreamSynchronize', this.gpus[rank]!.stream);
  }

  /** Copies memory of a rank into a host array, after all work submitted before. */
  download(rank: number, from: bigint, array: ArrayBufferView): void {
    if (array.byteLength === 0) return;
    this.driver.enter(this.gpus[rank]!);
    this.driver.api.call('MemcpyDtoHAsync', array, from, array.byteLength, this.gpus[rank]!.stream);
    this.driver.api.call('StreamSynchronize', this.gpus[rank]!.stream);
  }

  /**
   * Resolves when all submitted work has run. It waits for the passes, which wait for the messages that they receive. @throws FftError (as a
   * rejection) errors of the driver
   */
  async finish(): Promise<void> {
    const { driver, gpus } = this;
    if (this.closed) return;
    const events = gpus.map((gpu) => {
      driver.enter(gpu);
      const event = driver.api.handle('EventCreate', EVENT_NO_TIMING);
      driver.api.call('EventRecord', event, gpu.stream);
      return event;
    });
    const start = performance.now();
    try {
      for (let n = 0; n < events.length; ) {
        driver.enter(gpus[n]!);
        const status = driver.api.raw.EventQuery(events[n]) as number;
        if (status === 0) n++;
        else if (status !== NOT_READY) throw driver.api.failure('EventQuery', status);
        else if (performance.now() - start < EAGER_MILLISECONDS) await new Promise(setImmediate);
        else await new Promise((resolve) => setTimeout(resolve, 1));
      }
    } finally {
      events.forEach((event, n) => {
        driver.enter(gpus[n]!);
        driver.api.raw.EventDestroy(event);
      });
    }
  }

  /** Blocks this thread until all submitted work has run. */
  private synchronize(): void {
    for (const gpu of this.gpus) {
      this.driver.enter(gpu);
      this.driver.api.raw.StreamSynchronize(gpu.stream);
    }
  }

  /** Closes the streams and contexts; the devices have been closed before. */
  async close(): Promise<void> {
    const { driver, gpus, events } = this;
    if (this.closed) return;
    this.closed = true;
    this.synchronize();
    for (const window of [...this.windows]) window.release();
    this.nccl?.close();
    events.forEach((event, n) => {
      driver.enter(gpus[n]!);
      driver.api.raw.EventDestroy(event);
    });
    this.leave();
  }
}

/** @throws FftError (as a rejection) `world-unavailable` */
export async function openGpuFabric(
  { kind, nccl = ncclLibrary(kind.driver.kind) }: GpuSources,
  { devices, exchange = 'auto' }: GpuOptions,
  store?: CodeStore,
): Promise<GpuFabric> {
  const driver = await openGpuDriver(kind);
  const { gpus, leave } = openGpus(driver, devices);
  const backends: Backend[] = [];
  try {
    const chosen = await chosenWay(driver, gpus, exchange, nccl);
    for (const { ordinal, context, stream } of gpus)
      backends.push(await openGpu(kind, { device: ordinal, context, stream, store }));
    return new GpuFabric({ driver, gpus, leave, backends, ...chosen, demanded: exchange !== 'auto' });
  } catch (error) {
    for (const backend of backends) backend.close();
    leave();
    throw error;
  }
}

/** The default way: stores into peers where all GPUs reach one another, else NCCL where it is installed, else copies. */
async function chosenWay(
  driver: GpuDriver,
  gpus: readonly Gpu[],
  exchange: GpuExchange,
  library: LibraryRequest,
): Promise<{ way: GpuFabric['way']; nccl: Nccl | undefined }> {
  const areNear = driver.allReach(gpus);
  if (areNear) driver.reachAll(gpus);
  const reach = areNear && driver.hasWindows;
  if (exchange === 'peer' && !reach) {
    const message = "exchange 'peer' needs GPUs that reach one another's memory, which these do not; use 'auto'.";
    throw new FftError('world-unavailable', message);
  }
  if (exchange === 'copy' || exchange === 'peer') return { way: exchange, nccl: undefined };
  if (exchange === 'auto' && reach) return { way: 'peer', nccl: undefined };
  try {
    return { way: 'nccl', nccl: await openNccl(library, gpus) };
  } catch (cause) {
    if (exchange === 'auto') return { way: 'copy', nccl: undefined };
    throw new FftError('world-unavailable', `exchange 'nccl': ${(cause as Error).message}`, { cause });
  }
}
