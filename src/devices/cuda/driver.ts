/** A device behind CUDA's driver API or HIP's: its context, its streams and events, and the compiler for it. */
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { CodeFacts } from '../device.ts';
import { Binaries, type KernelCode } from '../native/binaries.ts';
import type { NativeDriver, Pinned } from '../native/driver.ts';
import { isHandle, type Koffi } from '../native/library.ts';
import type { NativeBuffer } from '../native/memory.ts';
import { type DriverApi, NOT_READY } from './api.ts';
import type { KernelCompiler } from './compiler.ts';

const EVENT_TIMING = 0;
const EVENT_NO_TIMING = 2;
const STREAM_NON_BLOCKING = 1;
/** Capture mode `relaxed`: while this thread captures a stream, other threads may make calls that cannot be captured. */
const CAPTURE_RELAXED = 2;

/** The parts of an opened device. */
export interface CudaSetup {
  readonly api: DriverApi;
  readonly koffi: Koffi;
  readonly compiler: KernelCompiler;
  /** Options that select the device's architecture. */
  readonly compilerOptions: readonly string[];
  readonly device: number;
  readonly context: bigint;
  /** The caller's stream; absent if the device makes its own. */
  readonly stream?: bigint | undefined;
  /** Releases the context. */
  readonly leave: () => void;
  /** The store that keeps compiled code for other processes; absent if nothing is kept. */
  readonly store?: CodeStore | undefined;
}

/** A kernel's entry point, the launch configuration and its arguments. */
export interface CudaLaunch {
  readonly entry: bigint;
  readonly groups: readonly [number, number, number];
  readonly threads: number;
  readonly sharedBytes: number;
  /** Address of the array of pointers to the arguments. */
  readonly parameters: bigint;
}

export class CudaDriver implements NativeDriver {
  readonly kind: 'cuda' | 'hip';
  readonly target = 'stream';
  readonly eagerMilliseconds = 2;
  readonly handlesComeBack = false;
  readonly stream: bigint;
  readonly api: DriverApi;
  readonly codeFacts: CodeFacts;
  private readonly binaries: Binaries;
  private readonly setup: CudaSetup;
  /** Events that are free for reuse. */
  private readonly spare: bigint[] = [];
  /** Further streams of the device that launches are spread over, each with an event that follows its last launch. */
  private readonly sideStreams: { readonly stream: bigint; readonly end: bigint }[] = [];
  /** Memory for results that functions write through a pointer. */
  private readonly out = new BigUint64Array(1);

  constructor(setup: CudaSetup) {
    const { api } = setup;
    this.setup = setup;
    this.api = api;
    this.kind = api.variant.kind;
    this.enter();
    this.codeFacts = cudaCodeFacts(setup);
    this.binaries = new Binaries(setup.store, this.codeFacts);
    this.stream = setup.stream ?? api.handle('StreamCreate', STREAM_NON_BLOCKING);
  }

  enter(): void {
    this.api.call('CtxSetCurrent', this.setup.context);
  }

  pin(bytes: number): Pinned | undefined {
    const address = this.api.allocate('MemHostAlloc', bytes);
    return address === undefined ? undefined : { address, view: new Uint8Array(this.setup.koffi.view(address, bytes)) };
  }

  unpin({ address }: Pinned): void {
    this.api.raw.MemFreeHost(address);
  }

  copy(direction: 'in' | 'out', { handle }: NativeBuffer, byteOffset: number, host: bigint, bytes: number): undefined {
    const device = handle + BigInt(byteOffset);
    if (direction === 'in') this.api.call('MemcpyHtoDAsync', device, host, bytes, this.stream);
    else this.api.call('MemcpyDtoHAsync', host, device, bytes, this.stream);
  }

  mark(stream: bigint): bigint {
    const event = this.spare.pop() ?? this.api.handle('EventCreate', EVENT_NO_TIMING);
    try {
      this.api.call('EventRecord', event, stream);
      return event;
    } catch (error) {
      this.spare.push(event);
      throw error;
    }
  }

  hasPassed(event: bigint): boolean {
    const status = this.api.raw.EventQuery(event) as number;
    if (status !== 0 && status !== NOT_READY) throw this.api.failure('EventQuery', status);
    return status === 0;
  }

  forget(event: bigint): void {
    this.spare.push(event);
  }

  /** Polls after a delay instead of blocking a thread in the driver, which would take one thread for each device. */
  sleep(_event: bigint, wake: () => void): void {
    setTimeout(wake, 1);
  }

  wait(stream: bigint, event: bigint): void {
    this.api.call('StreamWaitEvent', stream, event, 0);
  }

  synchronize(stream: bigint): void {
    this.api.call('StreamSynchronize', stream);
  }

  callersStream(target: unknown): bigint {
    // 0 is the default stream, which every context has.
    if (isHandle(target, 0n)) return target;
    throw new FftError(
      'invalid-encoder',
      `The stream is ${show(target)}; the handle of a stream of this device's context is needed, a bigint.`,
    );
  }

  isCapturing(stream: bigint): boolean {
    this.out[0] = 0n;
    this.api.call('StreamIsCapturing', stream, this.out);
    return this.out[0] !== 0n;
  }

  close(): void {
    const { raw } = this.api;
    for (const event of this.spare.splice(0)) raw.EventDestroy(event);
    for (const { stream, end } of this.sideStreams.splice(0)) {
      raw.EventDestroy(end);
      raw.StreamDestroy(stream);
    }
    if (this.setup.stream === undefined) raw.StreamDestroy(this.stream);
    this.setup.leave();
  }

  /** The binary of a program, taken from the cache or compiled on this thread. */
  codeOf(program: SpmdProgram): KernelCode {
    return this.binaries.find(program.source) ?? this.compile(program);
  }

  /** The binary of a program, taken from the cache or compiled on another thread. */
  async codeAsideOf({ source, entry }: SpmdProgram): Promise<KernelCode> {
    const { compiler, compilerOptions } = this.setup;
    const kept = this.binaries.find(source);
    return kept ?? this.binaries.keep(source, await compiler.compileAside(source, entry, compilerOptions));
  }

  compile({ source, entry }: SpmdProgram): KernelCode {
    const { compiler, compilerOptions } = this.setup;
    return this.binaries.keep(source, compiler.compile(source, entry, compilerOptions));
  }

  addressOf(block: ArrayBuffer): bigint {
    return this.setup.koffi.address(block);
  }

  launch({ entry, groups: [x, y, z], threads, sharedBytes, parameters }: CudaLaunch, stream: bigint): void {
    const { LaunchKernel } = this.api.raw;
    const status = LaunchKernel(entry, x, y, z, threads, 1, 1, sharedBytes, stream, parameters, null) as number;
    if (status !== 0) throw this.api.failure('LaunchKernel', status);
  }

  /**
   * Submits independent launches to `main` and to further streams in turn. The streams fork from `main` and join it again, so that waiting for `main`
   * waits for all launches.
   * @param streams the number of streams, `main` included.
   */
  spread(launches: readonly CudaLaunch[], streams: number, main: bigint): void {
    const sides = this.sideStreamsFor(Math.min(streams, launches.length) - 1);
    const start = this.mark(main);
    for (const { stream } of sides) this.wait(stream, start);
    this.forget(start);
    const all = [main, ...sides.map(({ stream }) => stream)];
    try {
      for (const [n, launch] of launches.entries()) this.launch(launch, all[n % all.length]!);
    } finally {
      for (const { stream, end } of sides) {
        this.api.call('EventRecord', end, stream);
        this.wait(main, end);
      }
    }
  }

  /** Captures the work that a call submits into an executable graph; undefined if the work cannot be captured. */
  capture(submit: () => void): bigint | undefined {
    try {
      this.api.call('StreamBeginCapture', this.stream, CAPTURE_RELAXED);
    } catch {
      return undefined;
    }
    try {
      submit();
    } catch (error) {
      const graph = this.endCapture();
      if (graph !== undefined) this.api.raw.GraphExecDestroy(graph);
      throw error;
    }
    return this.endCapture();
  }

  /** Milliseconds of one repetition. @param submit submits work to the device's stream, after all earlier work, and resolves when it has run. */
  async timed(
    repeats: number,
    submit: (work: () => undefined) => Promise<void>,
    repetition: () => void,
  ): Promise<number> {
    const { api, stream } = this;
    const [start, end] = [api.handle('EventCreate', EVENT_TIMING), api.handle('EventCreate', EVENT_TIMING)];
    try {
      await submit(() => {
        repetition();
        api.call('EventRecord', start, stream);
        for (let n = 0; n < repeats; n++) repetition();
        api.call('EventRecord', end, stream);
      });
      this.enter();
      const milliseconds = new Float32Array(1);
      api.call('EventElapsedTime', milliseconds, start, end);
      return milliseconds[0]! / repeats;
    } finally {
      api.raw.EventDestroy(start);
      api.raw.EventDestroy(end);
    }
  }

  private endCapture(): bigint | undefined {
    const { api, stream, out } = this;
    out[0] = 0n;
    try {
      api.call('StreamEndCapture', stream, out);
      return api.handle('GraphInstantiateWithFlags', out[0], 0);
    } catch {
      return undefined;
    } finally {
      if (out[0] !== 0n) api.raw.GraphDestroy(out[0]);
    }
  }

  /** The first `count` further streams: every call gets the same ones. */
  private sideStreamsFor(count: number): CudaDriver['sideStreams'] {
    const { api, sideStreams: streams } = this;
    while (streams.length < count) {
      const stream = api.handle('StreamCreate', STREAM_NON_BLOCKING);
      try {
        streams.push({ stream, end: api.handle('EventCreate', EVENT_NO_TIMING) });
      } catch (error) {
        api.raw.StreamDestroy(stream);
        throw error;
      }
    }
    return streams.slice(0, count);
  }
}

function cudaCodeFacts({ api, compiler, compilerOptions, device }: CudaSetup): CodeFacts {
  const { name, attribute } = api.facts(device);
  return {
    device: name,
    capability: `${attribute('major')}.${attribute('minor')}`,
    driver: `${api.variant.title} ${api.int('DriverGetVersion')}`,
    compiler: [compiler.version, ...compilerOptions].join(' '),
  };
}
