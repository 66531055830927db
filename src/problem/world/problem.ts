/**
 * A transform of a tensor that several ranks share: as a user writes it (`WorldProblemInput`), and its normal form, which the rest of the
 * library reads (`WorldProblem`).
 */
import type { PlannedProblem } from '../arrays.ts';
import { type ElementKind, realBytes } from '../layout/layout.ts';
import type { AnyProblemInput, Storage } from '../problem.ts';
import type { Box, Grid } from './boxes.ts';

export const exchangeWays = ['auto', 'blocks', 'types', 'pairs'] as const;
/** The way of an exchange: one collective call with packed messages, one with types that describe unpacked pieces, or packed messages between pairs. */
export type ExchangeWay = (typeof exchangeWays)[number];

export const wires = ['storage', 'half'] as const;
export const worldStrategies = ['estimate', 'measure'] as const;

/** A brick as users write it. */
export interface BrickInput {
  /** First point along each axis, fastest first; one entry more counts batches. */
  readonly from: readonly number[];
  /** The points after the last ones of the brick. */
  readonly to: readonly number[];
  /** The rank that holds it. Default: the place of the brick in the list. */
  readonly rank?: number | undefined;
  /** The distance between neighbours along each axis in the memory of the rank, in elements. Default: packed. */
  readonly strides?: readonly number[] | undefined;
}

/** The sharing of a side among the ranks. */
export type SideInput =
  | { readonly split: 'slab' | readonly number[]; readonly bricks?: undefined }
  | { readonly bricks: readonly BrickInput[]; readonly split?: undefined };

/** The decomposition: the planner's choice, slabs, or pencils of a grid. */
export type DecompositionInput = 'auto' | 'slab' | readonly [rows: number, columns: number];

export interface WorldProblemInput
  extends Pick<
    AnyProblemInput,
    'size' | 'batches' | 'normalize' | 'scale' | 'zeroPadding' | 'tuning' | 'precision' | 'debug'
  > {
  readonly transform?: 'c2c' | 'r2c' | undefined;
  /** The format of all memory: of the ranks' data and of messages. Default: the precision. */
  readonly storage?: Storage | undefined;
  /** Default `{ split: 'slab' }`: the slowest axis is cut. */
  readonly input?: SideInput | undefined;
  /** The sharing of the output. `as-input` (default): as the input; `any`: the sharing after the last pass, which saves an exchange. */
  readonly output?: SideInput | 'as-input' | 'any' | undefined;
  readonly decomposition?: DecompositionInput | undefined;
  readonly exchange?: ExchangeWay | undefined;
  /** The number of parts of an exchange, one of which is sent while the next one is computed. */
  readonly chunks?: 'auto' | number | undefined;
  /** The format of messages: `half` sends halves of data that are stored as singles or doubles. */
  readonly wire?: (typeof wires)[number] | undefined;
  /** `measure` times the best few plans on all ranks. Default `estimate`. */
  readonly strategy?: (typeof worldStrategies)[number] | undefined;
}

/** A part of a tensor in the memory of one rank. Elements are counted from the first one of that memory. */
export interface Brick extends Box {
  readonly rank: number;
  readonly offset: number;
  readonly strides: readonly number[];
}

/** The sharing of a tensor's elements: one box per rank, by a grid, or bricks. */
export type Sharing =
  | { readonly by: 'grid'; readonly grid: Grid }
  | { readonly by: 'bricks'; readonly bricks: readonly Brick[] };

/** A tensor that the ranks share. */
export interface SharedTensor {
  /** Points along each axis, fastest first, and batches. */
  readonly shape: readonly number[];
  readonly elements: ElementKind;
  readonly sharing: Sharing;
}

export interface WorldProblem {
  /** The transform as a problem of one device, packed and out of place. */
  readonly whole: PlannedProblem;
  readonly ranks: number;
  readonly input: SharedTensor;
  /** The shared output; `any`: the sharing after the last pass. */
  readonly output: SharedTensor | 'any';
  readonly decomposition: DecompositionInput;
  readonly exchange: ExchangeWay;
  readonly chunks: 'auto' | number;
  readonly wire: (typeof wires)[number];
  readonly strategy: (typeof worldStrategies)[number];
}

/** A tensor that changes its sharing, and is not transformed. */
export interface RedistributionInput {
  readonly size: readonly number[];
  readonly type?: ElementKind | undefined;
  readonly precision?: Storage | undefined;
  readonly batches?: number | undefined;
  readonly input: SideInput;
  readonly output: SideInput;
}

export interface Redistribution {
  readonly storage: Storage;
  readonly ranks: number;
  readonly input: SharedTensor;
  readonly output: SharedTensor;
}

/** The number of bytes of a complex number in a message. */
export function bytesOnWire(problem: Pick<WorldProblem, 'wire' | 'whole'>): number {
  return 2 * realBytes(sendsHalves(problem) ? 'half' : problem.whole.edgeStorage);
}

/** Whether numbers travel between ranks as halves, though they are stored in another format. */
export function sendsHalves({ wire, whole }: Pick<WorldProblem, 'wire' | 'whole'>): boolean {
  return wire === 'half' && whole.edgeStorage !== 'half';
}
