/**
 * What a device behind a C library is: its driver's calls. Streams, events and memory are handles, BigInts; work on a stream
 * runs in the order in which it was submitted. Calls throw where the driver reports an error.
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
  /** Device, driver and compiler: what compiled code depends on. */
  readonly codeFacts: CodeFacts;
  /** What a stream is called. */
  readonly target: EncodeTarget;
  /** Takes all work of the device. */
  readonly stream: bigint;
  /** For so many milliseconds without progress events are asked at every iteration of the event loop; then `sleep` says when. */
  readonly eagerMilliseconds: number;
  /** A stream of the caller's that is gone may have had the handle that a new one has. */
  readonly handlesComeBack: boolean;

  /** Before any other call: makes the device's context the current one. */
  enter(): void;

  /** Undefined where there is not enough memory. */
  pin(bytes: number): Pinned | undefined;
  unpin(pinned: Pinned): void;
  /** Appends a copy to the device's stream. @returns its event, where the driver gives one with it. */
  copy(
    direction: 'in' | 'out',
    device: NativeBuffer,
    byteOffset: number,
    host: bigint,
    bytes: number,
  ): bigint | undefined;

  /** An event that happens when everything before it on the stream has; to be given back to `forget`. */
  mark(stream: bigint): bigint;
  hasPassed(event: bigint): boolean;
  /** What went wrong with the command of an event that has passed; missing where a failure ends the whole device. */
  failureOf?(event: bigint): FftError | undefined;
  forget(event: bigint): void;
  /** Calls back when it is worth looking at an event again. */
  sleep(event: bigint, wake: () => void): void;
  /** Holds later work on a stream back until an event. */
  wait(stream: bigint, event: bigint): void;
  /** Waits on this thread until all work on a stream has run. */
  synchronize(stream: bigint): void;

  /** A stream of the caller's, from its handle. @throws FftError `invalid-encoder` */
  callersStream(target: unknown): bigint;
  /** Work that is appended to a stream now is recorded, to be run later in whatever order the caller likes. */
  isCapturing(stream: bigint): boolean;

  /** Gives back what is the device's own; nothing is running any more. */
  close(): void;
}

/** The launches of a program, with their arguments laid out. */
export interface Launches {
  /**
   * Appends all of them to the device's stream.
   * @returns the event of the last one, where the driver gives one with it.
   */
  submit(): bigint | undefined;
  /** Appends them to a stream of the caller's. @param captured the caller may run what is recorded whenever it likes. */
  append(stream: bigint, captured: boolean): void;
  /** Milliseconds of one repetition. @param submit does something on the device's stream, and resolves when that has run. */
  time(repeats: number, submit: (work: () => bigint | undefined) => Promise<void>): Promise<number>;
  /** @param whenUnused calls back when nothing in flight uses them. */
  release(whenUnused: (action: () => void) => void): void;
}
