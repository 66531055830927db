/**
 * The options and results of the emitters for GPU languages, which print a kernel as the text of one entry point.
 *
 * SPMD: single program, multiple data. Every thread of a group runs the same text.
 */
import type { ArrayRef, Index } from '../../../ir/index.ts';

/**
 * The roots of unity that kernels compute instead of reading tables: all (true), none, the twiddles of the four-step algorithm, or all
 * other roots.
 */
export type ComputedRoots = boolean | 'four-step' | 'others';

/** Options of an emitter. */
export interface SpmdOptions {
  /** Threads per group; default `kernel.threads`. At most the device's limit. */
  readonly threads?: number;
  /** The most groups in one dimension of a launch; more groups fold over y and z. Default 2³¹ − 1, in WGSL 65535. */
  readonly maxGroups?: number;
  /** The least number of launches, at most one per group; there are more if the groups do not fit. Default 1. */
  readonly launches?: number;
  /** If all roots are computed, tables of roots are not bound. */
  readonly computedRoots?: ComputedRoots;
  /** The device's compiler was tested and keeps exact operations as they are, so they need no protection. */
  readonly unguarded?: boolean;
  /** The accesses to globals (loads or stores) whose memory is not used again soon, so that caches need not keep it. */
  readonly streamed?: 'loads' | 'stores';
  /** The binding of globals; if missing, each global is an array of its own at offset 0. */
  readonly arrangement?: Arrangement;
  /** Globals are registers of the caller rather than memory (emit/device-function/). */
  readonly registers?: CallerRegisters;
}

/** The globals of a kernel as arrays in each thread's registers: the register of every access is known when it is printed. */
export interface CallerRegisters {
  /** The name of a global, which is an array of the thread, or of a table or a shared array. */
  nameOf(array: ArrayRef): string;
  /** Whether its values are single reals; otherwise they are pairs. */
  isReal(array: ArrayRef): boolean;
  /** The register that holds a value. @param at index of the value in terms of the thread's number */
  numberOf(array: ArrayRef, at: Index): number;
  /** The name of the first value of the caller's part of each shared array; missing if arrays begin at 0. */
  readonly sharedStart?: string;
}

/** A stretch of a global that one binding holds. */
export interface Piece {
  readonly binding: number;
  /** Reals in it; the last piece of a global may be open-ended. */
  readonly elements?: number;
}

/**
 * The arrangement of globals in memory. Several globals may be in one memory (in place, planes of one buffer), and one global may be in
 * several pieces.
 */
export interface Arrangement {
  /** For each of `kernel.globals`, its pieces in order. */
  readonly globals: readonly { readonly pieces: readonly Piece[] }[];
  /** Number of bindings for globals; tables follow them. */
  readonly bindings: number;
  /** Whether the first element of each global is given at launch, in reals; if not, it is 0. It is even for arrays of pairs. */
  readonly offsets: boolean;
}

/** The launch parameters of an entry point in any language. */
export interface EntryPoint {
  /** Name of the entry point. */
  readonly entry: string;
  /** Threads of a group, all along x. */
  readonly threads: number;
  /** Blocks of the launch in each dimension: the groups, each of which may be a cluster of neighbouring blocks in x. */
  readonly groups: readonly [x: number, y: number, z: number];
  /**
   * Number of launches, all with the same dimensions. If there are several, the number of the first group is one more integer argument
   * after the offsets: `launchSize` times the number of the launch.
   */
  readonly launches: number;
  /** Groups of a launch. */
  readonly launchSize: number;
  /** Blocks of a cluster; the source declares it. */
  readonly cluster: number;
  /** Memory shared by a group. WGSL, OpenCL and Metal declare it in the source; for CUDA and HIP it is given at launch. */
  readonly sharedBytes: number;
  /** Bindings of globals, then of tables. */
  readonly bindings: readonly { readonly written: boolean }[];
  /** The alignment of each global's first element, in reals: 2 if it is accessed in pairs. */
  readonly alignments: readonly (1 | 2)[];
}

export interface SpmdProgram extends EntryPoint {
  readonly language: 'wgsl' | 'cuda' | 'hip' | 'opencl' | 'msl';
  readonly source: string;
}
