/** Whether a sum of strides times bounded integers can be a given number. */
import { greatestDivisor } from '../normal-form/rows.ts';

/** An integer from `least` to `most`, times a stride. */
export interface Summand {
  readonly stride: number;
  readonly least: number;
  readonly most: number;
  /** At least one of the counted summands has to have an integer other than 0. */
  readonly counted?: boolean;
}

/** Steps of a search after which it gives up. */
const MOST_STEPS = 20_000;

/**
 * Whether the summands, each with an integer of its range, can add up to `target`. If any is marked `counted`, at least one counted
 * integer has to differ from 0.
 * @returns undefined if the search was given up
 */
export function reaches(given: readonly Summand[], target: number): boolean | undefined {
  if (given.some(({ least, most }) => least > most)) return false;
  const needed = given.some(({ counted }) => counted);
  const [free, others] = withoutZeroStrides(given);
  const search = new CombinationSearch(mergedSummands(others));
  const found = search.from(0, target, !needed || free);
  return search.steps > MOST_STEPS ? undefined : found;
}

/** Removes summands with stride 0. @returns `free`: whether a removed summand is counted and may have an integer other than 0 */
function withoutZeroStrides(given: readonly Summand[]): [free: boolean, others: Summand[]] {
  const isFree = ({ stride, counted, least, most }: Summand) =>
    stride === 0 && counted === true && (least !== 0 || most !== 0);
  return [given.some(isFree), given.filter(({ stride }) => stride !== 0)];
}

/** Merges uncounted summands of equal stride, and sorts by stride, longest first. */
function mergedSummands(given: readonly Summand[]): Summand[] {
  const byStride = new Map<number, Summand>();
  const all: Summand[] = [];
  for (const summand of given) {
    const { stride, least, most, counted } = summand;
    const up = stride > 0 ? summand : { ...summand, stride: -stride, least: -most, most: -least };
    if (counted) {
      all.push(up);
      continue;
    }
    const other = byStride.get(up.stride);
    byStride.set(up.stride, other ? { ...up, least: up.least + other.least, most: up.most + other.most } : up);
  }
  return [...all, ...byStride.values()].sort((a, b) => b.stride - a.stride);
}

class CombinationSearch {
  steps = 0;
  private readonly summands: readonly Summand[];
  /** For summands n, n + 1, …: the range of their sum, the greatest divisor of their strides, and whether one is counted. */
  private readonly low: number[];
  private readonly high: number[];
  private readonly divisor: number[];
  private readonly countedLeft: boolean[];

  constructor(summands: readonly Summand[]) {
    this.summands = summands;
    this.low = [0];
    this.high = [0];
    this.divisor = [0];
    this.countedLeft = [false];
    for (const { stride, least, most, counted } of [...summands].reverse()) {
      this.low.unshift(this.low[0]! + stride * least);
      this.high.unshift(this.high[0]! + stride * most);
      this.divisor.unshift(greatestDivisor(stride, this.divisor[0]!));
      this.countedLeft.unshift(this.countedLeft[0]! || counted === true);
    }
  }

  /** Whether summands n, n + 1, … can add up to `rest`. @param done whether the condition on counted summands is met already */
  from(n: number, rest: number, done: boolean): boolean {
    if (++this.steps > MOST_STEPS) return true;
    if (rest < this.low[n]! || rest > this.high[n]! || !(done || this.countedLeft[n]!)) return false;
    if (n === this.summands.length) return done;
    if (rest % this.divisor[n]! !== 0) return false;
    const { stride, least, most, counted } = this.summands[n]!;
    const from = Math.max(least, Math.ceil((rest - this.high[n + 1]!) / stride));
    const to = Math.min(most, Math.floor((rest - this.low[n + 1]!) / stride));
    for (let value = from; value <= to; value++)
      if (this.from(n + 1, rest - stride * value, done || (counted === true && value !== 0))) return true;
    return false;
  }
}
