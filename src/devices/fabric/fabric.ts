/**
 * A fabric: what moves numbers between ranks. One folder per kind implements it. It knows memory and messages, and nothing of transforms.
 */

import { FftError } from '../../problem/errors.ts';
import type { Backend, DeviceBuffer, DeviceKind } from '../device.ts';
import type { NativeBuffer } from '../native/memory.ts';

/** A part of memory that is sent or received: a box, counted in elements of the exchange. */
export interface Part {
  readonly peer: number;
  /** Elements before the first one. */
  readonly offset: number;
  readonly lengths: readonly number[];
  readonly strides: readonly number[];
  /** Whether its elements follow one another. */
  readonly contiguous: boolean;
}

/** Memory of messages: an array that this thread sees, or the address of memory of a device whose kind the fabric `reaches`. */
export type FabricMemory = ArrayBufferView | bigint;

/** What one rank gives and takes in an exchange. Between two ranks parts pair up in their order. */
export interface RankExchange<Memory = FabricMemory> {
  readonly rank: number;
  readonly sent: Memory;
  readonly sentParts: readonly Part[];
  readonly received: Memory;
  readonly receivedParts: readonly Part[];
}

export interface Exchange<Memory = FabricMemory> {
  readonly elementBytes: number;
  /** One collective call over packed parts, one that is told where parts lie, or a message for each pair of ranks. */
  readonly way: 'blocks' | 'types' | 'pairs';
  /** One for each rank that is held here. */
  readonly ranks: readonly RankExchange<Memory>[];
}

/** Bytes that left the ranks held here, and messages. */
export interface Counters {
  bytes: number;
  messages: number;
}

export interface Fabric {
  readonly kind: 'mpi' | 'workers' | 'gpus';
  /** The library and its version, or what else carries the messages. */
  readonly library: string;
  /** Ranks of the world. */
  readonly size: number;
  /** Those held here. */
  readonly ranks: readonly number[];
  readonly counters: Counters;
  /** Whether messages move while this thread computes. */
  readonly beside: boolean;
  /** Kinds of devices in whose memory messages may lie, though this thread does not see it. */
  readonly reaches: readonly DeviceKind[];
  /** Elements that exchanges by blocks or pairs count at most, on either side of a rank. */
  readonly mostElements: number;
  /**
   * Collective: all ranks call it in the same order, as they do all that follows.
   * @throws FftError (as a rejection) `rank-lost`
   */
  exchange(exchange: Exchange): Promise<void>;
  /**
   * Collective: what each rank gives, by rank. All give as many bytes.
   * @param own one for each rank held here.
   * @throws FftError (as a rejection) `rank-lost`
   */
  gather(own: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /** Ends the world for all ranks, wherever they are. */
  abort(): void;
  /** Collective: no rank uses the fabric any more. */
  close(): Promise<void>;
}

/**
 * The address of memory of a rank's own device.
 * @param what the memory, in messages. @throws FftError `foreign-buffer`, `destroyed`
 */
export function addressOf(backend: Backend, rank: number, buffer: DeviceBuffer, what: string): bigint {
  checkBuffer(backend, rank, buffer, what);
  return (buffer as NativeBuffer).handle;
}

/** @throws FftError as `addressOf` */
export function checkBuffer(backend: Backend, rank: number, buffer: DeviceBuffer, what: string): void {
  if (!backend.owns(buffer)) {
    const message = `${what} is memory of another device; rank ${rank} takes that of its own, world.devices[…].alloc(…).`;
    throw new FftError('foreign-buffer', message);
  }
  if (buffer.freed) throw new FftError('destroyed', `${what} is memory that has been freed.`);
}

/** Elements of a part. */
export function elementsOfPart({ lengths }: Part): number {
  return lengths.reduce((a, b) => a * b, 1);
}

/** Adds what one rank sends to others. */
export function count(counters: Counters, rank: number, parts: readonly Part[], elementBytes: number): void {
  const peers = new Set<number>();
  for (const part of parts) {
    if (part.peer === rank) continue;
    counters.bytes += elementsOfPart(part) * elementBytes;
    peers.add(part.peer);
  }
  counters.messages += peers.size;
}
