/**
 * What the emitters for GPU languages take and give: one kernel in, the text of one entry point out.
 *
 * SPMD: single program, multiple data. Every thread of a group runs the same text.
 */

/** How a kernel is spread over a device. */
export interface SpmdOptions {
  /** Threads per group; default `kernel.threads`. Never more than the device allows. */
  readonly threads?: number;
  /** Most groups in one dimension of a launch: more fold over y and z. Default 2³¹ − 1, in WGSL 65535. */
  readonly maxGroups?: number;
  /** Launches that the groups are dealt out to, as far as there are groups; more where one has no room for all. Default 1. */
  readonly launches?: number;
  /** Roots of unity are computed, and no tables of them bound. */
  readonly computedRoots?: boolean;
  /** The language's compiler leaves exact operations alone by itself, which somebody has tried: nothing has to keep it from more. */
  readonly unguarded?: boolean;
  /** What nobody reads or writes again soon: what it loads from globals, or what it stores to them. */
  readonly streamed?: 'loads' | 'stores';
  /** How globals are bound; absent: each its own array at offset 0. */
  readonly arrangement?: Arrangement;
}

/** A stretch of a global that one binding holds. */
export interface Piece {
  readonly binding: number;
  /** Reals in it; the last piece of a global may be open-ended. */
  readonly elements?: number;
}

/** Several globals may live in one memory (in place, planes of one buffer), and one global may lie in several pieces. */
export interface Arrangement {
  /** For each of `kernel.globals`: the pieces it consists of, in order. */
  readonly globals: readonly { readonly pieces: readonly Piece[] }[];
  /** Number of bindings for globals; tables follow them. */
  readonly bindings: number;
  /** Where each global begins, in reals, is read at launch instead of being 0. Even for arrays of pairs. */
  readonly offsets: boolean;
}

/** How an entry point is launched, whatever it is written in. */
export interface EntryPoint {
  /** Name of the entry point. */
  readonly entry: string;
  /** Threads of a group, all in x. */
  readonly threads: number;
  /** Blocks of the launch in each dimension: the groups, each of which may be a cluster of neighbouring blocks in x. */
  readonly groups: readonly [x: number, y: number, z: number];
  /**
   * How often it is launched, with the same dimensions. Where that is not once, the number of the first group is one more
   * integer behind the offsets: `launchSize` times the number of the launch.
   */
  readonly launches: number;
  /** Groups of a launch. */
  readonly launchSize: number;
  /** Blocks of a cluster; the source declares it. */
  readonly cluster: number;
  /** Memory shared by a group. WGSL and OpenCL declare it in the source; for CUDA and HIP it is given at launch. */
  readonly sharedBytes: number;
  /** Bindings of globals, then of tables. */
  readonly bindings: readonly { readonly written: boolean }[];
  /** Of what each global's beginning, after its offset, has to be a multiple, in reals: 2 where it is read in pairs. */
  readonly alignments: readonly (1 | 2)[];
}

export interface SpmdProgram extends EntryPoint {
  readonly language: 'wgsl' | 'cuda' | 'hip' | 'opencl';
  readonly source: string;
}
