/** A fabric moves numbers between ranks. One folder per kind implements it. It knows memory and messages, and nothing of transforms. */

import { FftError } from '../../problem/errors.ts';
import type { Backend, DeviceBuffer, DeviceKind } from '../device.ts';
import type { NativeBuffer } from '../native/memory.ts';

/** A part of memory that is sent or received: a box, counted in elements of the exchange. */
export interface Part {
  readonly peer: number;
  /** Elements before the part's first one. */
  readonly offset: number;
  readonly lengths: readonly number[];
  readonly strides: readonly number[];
  /** Whether the part's elements follow one another without gaps. */
  readonly contiguous: boolean;
}

/** Message memory: an array that this thread sees, or the address of device memory whose kind the fabric `reaches`. */
export type FabricMemory = ArrayBufferView | bigint;

/** The sends and receives of one rank in an exchange. The parts between two ranks pair up in order. */
export interface RankExchange<Memory = FabricMemory> {
  readonly rank: number;
  readonly sent: Memory;
  readonly sentParts: readonly Part[];
  readonly received: Memory;
  readonly receivedParts: readonly Part[];
}

export interface Exchange<Memory = FabricMemory> {
  readonly elementBytes: number;
  /**
   * Way of exchange: one collective call over packed parts (`blocks`), one collective call with datatypes that describe the parts (`types`), or a
   * message for each pair of ranks (`pairs`).
   */
  readonly way: 'blocks' | 'types' | 'pairs';
  /** Sends and receives of each rank held here. */
  readonly ranks: readonly RankExchange<Memory>[];
}

/** Bytes and messages that the ranks held here have sent to others. */
export interface Counters {
  bytes: number;
  messages: number;
}

export interface Fabric {
  readonly kind: 'mpi' | 'workers' | 'gpus';
  /** The library and its version, or a description of the memory that carries the messages. */
  readonly library: string;
  /** Number of ranks in the world. */
  readonly size: number;
  /** Ranks held here. */
  readonly ranks: readonly number[];
  readonly counters: Counters;
  /** Whether messages move while this thread computes. */
  readonly beside: boolean;
  /** Kinds of devices whose memory may hold messages even though this thread does not see it. */
  readonly reaches: readonly DeviceKind[];
  /** The most elements that exchanges by blocks or pairs can count, on either side of a rank. */
  readonly mostElements: number;
  /**
   * Exchanges parts between ranks. Collective: all ranks call it in the same order, like all methods below.
   * @throws FftError (as a rejection) `rank-lost`
   */
  exchange(exchange: Exchange): Promise<void>;
  /**
   * The records of all ranks, in order of rank. Collective; all records have the same number of bytes.
   * @param own the record of each rank held here
   * @throws FftError (as a rejection) `rank-lost`
   */
  gather(own: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /** Ends the world for all ranks, whatever they are doing. */
  abort(): void;
  /** Closes the fabric. Collective: no rank uses it afterwards. */
  close(): Promise<void>;
}

/**
 * The address of memory on a rank's own device.
 * @param what a name of the memory, for messages. @throws FftError `foreign-buffer`, `destroyed`
 */
export function addressOf(backend: Backend, rank: number, buffer: DeviceBuffer, what: string): bigint {
  checkBuffer(backend, rank, buffer, what);
  return (buffer as NativeBuffer).handle;
}

/** Checks that a buffer belongs to a rank's own device. @throws FftError as `addressOf` */
export function checkBuffer(backend: Backend, rank: number, buffer: DeviceBuffer, what: string): void {
  if (!backend.owns(buffer)) {
    const message = `${what} is memory of another device; rank ${rank} takes that of its own, world.devices[…].alloc(…).`;
    throw new FftError('foreign-buffer', message);
  }
  if (buffer.freed) throw new FftError('destroyed', `${what} is memory that has been freed.`);
}

/** The number of elements of a part. */
export function elementsOfPart({ lengths }: Part): number {
  return lengths.reduce((a, b) => a * b, 1);
}

/** Counts the bytes and messages that one rank sends to others. */
export function count(counters: Counters, rank: number, parts: readonly Part[], elementBytes: number): void {
  const peers = new Set<number>();
  for (const part of parts) {
    if (part.peer === rank) continue;
    counters.bytes += elementsOfPart(part) * elementBytes;
    peers.add(part.peer);
  }
  counters.messages += peers.size;
}
