/**
 * The arrangement of a launch: the part of a `GPUBuffer` that each binding shows. WebGPU forbids binding one buffer for reading and for
 * writing in one dispatch, or the same bytes twice for writing; bindings begin at multiples of 256 bytes and are limited
 * in size. So arrays in one buffer share a binding, the rest of an offset is added inside the kernel, and an
 * array that is too long for one binding gets several.
 */
import type { Arrangement } from '../../emit/spmd/tree/program.ts';
import {
  type ArrayRef,
  type Index,
  type Kernel,
  range,
  reachable,
  type StorageType,
  storageBytes,
} from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { ALIGNMENT, type WebGpuBuffer } from './memory.ts';
import type { Limits } from './options.ts';

/** The use of a kernel's global: its size, and whether it is written. */
export interface GlobalUse {
  readonly type: StorageType;
  /** Bytes from the array's beginning to the last byte that may be accessed. */
  readonly bytes: number;
  readonly written: boolean;
}

/** A global with its place in memory. */
interface UsedArray extends GlobalUse {
  readonly buffer: WebGpuBuffer;
  readonly byteOffset: number;
}

/** A part of a buffer that one binding shows. */
interface BoundSegment {
  readonly gpu: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

interface Arranged {
  readonly arrangement: Arrangement;
  readonly segments: readonly BoundSegment[];
  /** The beginning of each global in its bindings, in reals. */
  readonly offsets: readonly number[];
}

/** Bytes of the 32-bit words that WebGPU binds memory in: the size of every binding is a multiple of it. */
const WORD_BYTES = 4;

/** The uses of a kernel's globals. */
export function usesOf(kernel: Kernel): GlobalUse[] {
  const ends = new Map<ArrayRef, number>();
  const written = new Set<ArrayRef>();
  const touch = (array: ArrayRef, at: Index) => ends.set(array, Math.max(ends.get(array) ?? 0, range(at)[1] + 1));
  for (const { stores } of kernel.phases) {
    for (const { array, index } of stores) {
      touch(array, index);
      written.add(array);
    }
    for (const node of reachable(stores.map(({ value }) => value))) {
      if (node.op === 'load') touch(node.array, node.index);
    }
  }
  return kernel.globals.map((array) => ({
    type: array.type,
    bytes: storageBytes(array.type) * (ends.get(array) ?? 0),
    written: written.has(array),
  }));
}

/** The usual arrangement: each array begins at the beginning of its own buffer; in place, both sides share theirs. */
export function defaultArrangement({ globals, aliased }: Kernel): Arrangement {
  // In place, both sides have the same number of arrays. Operands follow them.
  const sides = globals.filter(({ operand }) => !operand).length;
  const shown = aliased ? sides / 2 : sides;
  return {
    globals: globals.map((_, n) => ({ pieces: [{ binding: n < sides ? n % shown : n - sides + shown }] })),
    bindings: globals.length - sides + shown,
    offsets: false,
  };
}

/** Globals that share bindings. */
interface Cluster {
  readonly buffer: WebGpuBuffer;
  start: number;
  end: number;
  written: boolean;
  members: number[];
}

/**
 * @param others the number of further storage bindings, for tables.
 * @throws FftError `device-limit`, `aliased-buffers`
 */
export function arrange(places: readonly UsedArray[], others: number, limits: Limits, name: string): Arranged {
  const clusters = clustersOf(places);
  const segments: BoundSegment[] = [];
  const globals: { pieces: { binding: number; elements?: number }[] }[] = places.map(() => ({ pieces: [] }));
  const offsets = places.map(() => 0);
  for (const { buffer, start, end, members } of clusters) {
    const { base, parts } = bindingsOfRange(buffer, start, end, limits);
    for (const member of members) {
      // Offsets count in numbers of the array's own type, since halves and singles may lie in one buffer.
      const { type, byteOffset } = places[member]!;
      const pieces = parts.map(({ size }, n) => {
        const binding = segments.length + n;
        return n < parts.length - 1 ? { binding, elements: size / storageBytes(type) } : { binding };
      });
      globals[member] = { pieces };
      offsets[member] = (byteOffset - base) / storageBytes(type);
    }
    segments.push(...parts);
  }
  requireBindings(segments.length, others, limits, name);
  return {
    arrangement: { globals, bindings: segments.length, offsets: offsets.some((offset) => offset !== 0) },
    segments,
    offsets,
  };
}

/** @throws FftError `device-limit` */
export function requireBindings(globals: number, tables: number, limits: Limits, name: string): void {
  const { maxStorageBuffersPerShaderStage: most, maxStorageBufferBindingSize: size } = limits;
  if (globals + tables <= most) return;
  throw new FftError(
    'device-limit',
    `Kernel ${name} needs ${globals + tables} storage buffers, with at most maxStorageBufferBindingSize = ${size} ` +
      `bytes in each; the device allows maxStorageBuffersPerShaderStage = ${most}. Fewer batches at a time would fit.`,
  );
}

function clustersOf(places: readonly UsedArray[]): Cluster[] {
  refuseMixed(places);
  let clusters = places.map(({ buffer, byteOffset, bytes, written }, n): Cluster => {
    const end = Math.max(byteOffset + WORD_BYTES, Math.min(byteOffset + bytes, buffer.bytes));
    return { buffer, start: byteOffset, end, written, members: [n] };
  });
  const aligned = (start: number) => Math.floor(start / ALIGNMENT) * ALIGNMENT;
  const conflict = (a: Cluster, b: Cluster) => {
    if (!sameMemory(a.buffer, b.buffer)) return false;
    if (a.written !== b.written) return true;
    return a.written && aligned(a.start) < b.end && aligned(b.start) < a.end;
  };
  // A joined cluster is larger and perhaps written, so it may collide with others: repeat until none collide.
  for (let n = 0; n < clusters.length; n++) {
    const a = clusters[n]!;
    const b = clusters.slice(n + 1).find((other) => conflict(a, other));
    if (!b) continue;
    a.start = Math.min(a.start, b.start);
    a.end = Math.max(a.end, b.end);
    a.written ||= b.written;
    a.members.push(...b.members);
    clusters = clusters.filter((other) => other !== b);
    n = -1;
  }
  return clusters;
}

function sameMemory(a: WebGpuBuffer, b: WebGpuBuffer): boolean {
  return a.pieces.length === b.pieces.length && a.pieces.every(({ gpu }, n) => gpu === b.pieces[n]!.gpu);
}

/** Refuses two arrays in lists of buffers that share a buffer: they have no common order of bytes. */
function refuseMixed(places: readonly UsedArray[]): void {
  const used = ({ buffer, byteOffset, bytes }: UsedArray) => buffer.ranges(byteOffset, bytes).map(({ gpu }) => gpu);
  for (const a of places) {
    for (const b of places) {
      if (sameMemory(a.buffer, b.buffer) || !used(a).some((gpu) => used(b).includes(gpu))) continue;
      throw new FftError(
        'aliased-buffers',
        'Two lists of GPUBuffers share some of their buffers; they may only be the same list or have none in common.',
      );
    }
  }
}

/** The bindings of a range of bytes, and the byte at which the first binding begins. */
function bindingsOfRange(
  buffer: WebGpuBuffer,
  start: number,
  end: number,
  { maxStorageBufferBindingSize }: Limits,
): { base: number; parts: BoundSegment[] } {
  const largest = Math.floor(maxStorageBufferBindingSize / ALIGNMENT) * ALIGNMENT;
  const first = buffer.pieces.find((piece) => start < piece.start + piece.bytes) ?? buffer.pieces.at(-1)!;
  const base = first.start + Math.floor((start - first.start) / ALIGNMENT) * ALIGNMENT;
  const parts: BoundSegment[] = [];
  for (const { gpu, start: from, end: to } of buffer.ranges(base, end - base)) {
    for (let offset = from; offset < to; offset += largest) {
      parts.push({ gpu, offset, size: Math.ceil(Math.min(largest, to - offset) / WORD_BYTES) * WORD_BYTES });
    }
  }
  return { base, parts };
}
