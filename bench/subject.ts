/**
 * What the benchmark times: one forward transform of a fixed workload, complex unless it says otherwise, by omnifft or by a peer. Every subject
 * fills its own input, so that peers in other processes get the very same numbers, and answers for single bins of its
 * result, so that nothing is timed before it has been checked.
 */
export type Precision = 'single' | 'double' | 'double-double';

export interface Workload {
  /** Axes, fastest first. */
  readonly size: readonly number[];
  readonly precision: Precision;
  /** Transforms in one call, packed one after another; 1 when absent. */
  readonly batches?: number;
  /** The input is real, of one axis: `sample(seed, j)` is number j; bins are those up to the half. */
  readonly real?: boolean;
  /** Axes of what the data is convolved with, fastest first. */
  readonly kernel?: readonly number[];
  /**
   * What number k of the result has to be, where that is not bin k of the data's transform; and how many there are.
   * @param data the input, as complex numbers.
   */
  readonly expected?: {
    readonly count: number;
    at(data: ArrayLike<number>, k: number): readonly [number, number];
  };
  /** A cosine transform of real data along each axis: what is called bin k has the sum number k for its real part. */
  readonly sums?: SumsKind;
}

export type SumsKind = 'dct1' | 'dct2' | 'dct3' | 'dct4';

export interface Subject {
  readonly name: string;
  /** Fills the input with `sample(seed, j)` for j = 0 … 2·points − 1, interleaved. */
  load(seed: number): void | Promise<void>;
  /** Runs once and answers with `re, im` of the bins asked for; indices count complex numbers of the output. */
  bins(indices: readonly number[]): Float64Array | Promise<Float64Array>;
  /** Runs `calls` times and answers with the mean microseconds of one call, by the subject's own clock. */
  time(calls: number): number | Promise<number>;
  close(): void | Promise<void>;
}

/** Whether what is transformed are reals. */
export function hasReals({ real = false, sums }: Workload): boolean {
  return real || sums !== undefined;
}

export function points(workload: Workload): number {
  return workload.size.reduce((product, length) => product * length, workload.batches ?? 1);
}

/** The same of sums, which are real. */
export function pickReals(output: ArrayLike<number>, indices: readonly number[]): Float64Array {
  return Float64Array.from(indices.flatMap((k) => [output[k]!, 0]));
}

/** Picks bins out of an interleaved array. */
export function pick(output: ArrayLike<number>, indices: readonly number[]): Float64Array {
  return Float64Array.from(indices.flatMap((k) => [output[2 * k]!, output[2 * k + 1]!]));
}
