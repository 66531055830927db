/**
 * The driver interface of devices behind C libraries. Streams, events and memory are handles, as BigInts; work on a stream
 * runs in the order in which it was submitted. Calls throw if the driver reports an error.
 */
import type { FftError } from '../../problem/errors.ts';
import type { CodeFacts, DeviceKind, EncodeTarget } from '../device.ts';
import type { NativeBuffer } from './memory.ts';

/** Host memory that the device reads and writes by itself. */
export interface Pinned {
  readonly address: bigint;
  readonly view: Uint8Array;
}

export interface NativeDriver {
  readonly kind: DeviceKind;
  /** Facts of device, driver and compiler that compiled code depends on. */
  readonly codeFacts: CodeFacts;
  /** The name of the option that takes a caller's stream. */
  readonly target: EncodeTarget;
  /** The device's own stream, which takes all its work. */
  readonly stream: bigint;
  /** Milliseconds without progress during which events are polled at every iteration of the event loop; after that, `sleep` says when to poll. */
  readonly eagerMilliseconds: number;
  /** Whether a new stream of the caller may get the handle of a destroyed one. */
  readonly handlesComeBack: boolean;

  /** Makes the device's context current. This comes before any other call. */
  enter(): void;

  /** Allocates pinned memory; undefined if there is not enough. */
  pin(bytes: number): Pinned | undefined;
  unpin(pinned: Pinned): void;
  /** Appends a copy to the device's stream. @returns the event of the copy, if the driver gives one. */
  copy(
    direction: 'in' | 'out',
    device: NativeBuffer,
    byteOffset: number,
    host: bigint,
    bytes: number,
  ): bigint | undefined;

  /** Records an event, which happens when all earlier work on the stream has run. It has to be given back with `forget`. */
  mark(stream: bigint): bigint;
  hasPassed(event: bigint): boolean;
  /** The failure of the command of a past event. The method is missing if a failure ends the whole device. */
  failureOf?(event: bigint): FftError | undefined;
  forget(event: bigint): void;
  /** Calls back when it is worth looking at an event again. */
  sleep(event: bigint, wake: () => void): void;
  /** Holds later work on a stream back until an event. */
  wait(stream: bigint, event: bigint): void;
  /** Waits on this thread until all work on a stream has run. */
  synchronize(stream: bigint): void;

  /** The caller's stream, from its handle. @throws FftError `invalid-encoder` */
  callersStream(target: unknown): bigint;
  /** Whether work that is appended to a stream is recorded now, to be run later in an order that the caller chooses. */
  isCapturing(stream: bigint): boolean;

  /** Frees the device's own resources. No work may be running any more. */
  close(): void;
}

/** The launches of a program, with their arguments laid out. */
export interface Launches {
  /**
   * Appends all launches to the device's stream.
   * @returns the event of the last launch, if the driver gives one.
   */
  submit(): bigint | undefined;
  /** Appends the launches to the caller's stream. @param captured whether they are recorded, so that the caller may run them at any time. */
  append(stream: bigint, captured: boolean): void;
  /** Times one repetition in milliseconds. @param submit submits work to the device's stream, and resolves when it has run. */
  time(repeats: number, submit: (work: () => bigint | undefined) => Promise<void>): Promise<number>;
  /** Frees the launches. @param whenUnused calls back when no work in flight uses them. */
  release(whenUnused: (action: () => void) => void): void;
}
