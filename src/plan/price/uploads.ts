/** The ways to split one axis into uploads, cheapest first. */
import { divisors, primeFactors } from '../../numeric/primes.ts';
import { show } from '../../problem/errors.ts';
import { dividingTile } from '../group/tiling.ts';
import { isFull, keepCheapest, type Priced } from './priced.ts';

/**
 * The cost per point of one upload of a length.
 * @param columns the number of neighbouring columns that it reads and writes; the last upload reads whole transforms, and only writes columns
 */
export type UploadCost = (length: number, columns: number, last: boolean) => number;

/** One axis, and the costs of its uploads in the device's unit (`cost.ts`). */
export interface UploadsQuestion {
  readonly title: string;
  readonly length: number;
  /** Whether memory does not run along the axis. */
  readonly strided: boolean;
  /** The longest transform that fits one upload: alone, and as one of several columns. */
  readonly capacity: { readonly whole: number; readonly columns: number };
  /** Whether a longer transform fits several blocks together: alone or as one of several columns, as the whole axis or as a part of it. */
  readonly fusable: (length: number, columns: boolean, split: boolean) => boolean;
  /** The least number of uploads, as far as the length has factors; default: one. */
  readonly uploads?: number;
  /** The cost of one upload that holds the whole axis. */
  readonly whole: () => number;
  /** The cost of one of several uploads. */
  readonly cost: UploadCost;
  /** The cost, balance included, of the first of two uploads if it reorders; missing where it costs what others do. */
  readonly first?: ((length: number) => number) | undefined;
  /** The least cost of an upload: a trip to memory. */
  readonly trip: number;
  /** The least cost of the last upload, where that is less. */
  readonly lastTrip?: number;
  /** The least cost of one of several uploads, for any number of columns; default: a trip. */
  readonly least?: (length: number, last: boolean) => number;
  /** The extra cost of several uploads where one would do. */
  readonly several: number;
  /** The extra cost of an upload whose columns do not fill their last tile. */
  readonly ragged: number;
  /** The cost of one doubling of the ratio between factors. */
  readonly unbalanced: number;
  /** The best number of neighbouring columns for one group. */
  readonly tile: number;
  /** The unit of a group's number of neighbouring columns. */
  readonly grain: number;
}

/**
 * The lengths of the uploads: one that holds the whole axis, as few as fit, or one more than that.
 * @returns the `most` cheapest splits, or fewer
 * @throws RangeError where no split fits
 */
export function rankUploads(question: UploadsQuestion, most: number): Priced<readonly number[]>[] {
  const { length, title, whole, trip, lastTrip = trip } = question;
  const best: Priced<readonly number[]>[] = [];
  const least = leastUploads(question);
  const alone = least <= 1 && fitsWhole(question);
  if (alone) keepCheapest(best, { value: [length], price: whole() }, most);
  const several = alone ? question.several : 0;
  const factors = primeFactors(length).length;
  const search = searchSplits(question);
  let fewest = Number.POSITIVE_INFINITY;
  for (let uploads = Math.max(2, least); uploads <= Math.min(factors, fewest + 1); uploads++) {
    if (isFull(best, most, (uploads - 1) * trip + lastTrip + several)) break;
    const found = search(uploads, most);
    if (found.length > 0) fewest = Math.min(fewest, uploads);
    for (const { value, price } of found) keepCheapest(best, { value, price: price + several }, most);
  }
  if (best.length === 0) throw new RangeError(`${title}: ${length} has no factors that fit one upload`);
  return best;
}

/** @throws RangeError where the axis cannot have uploads of these lengths, or needs fewer of them */
export function checkUploads(given: readonly number[], question: UploadsQuestion): void {
  const { length, capacity, title } = question;
  const least = leastUploads(question);
  const divide = given.every((n) => Number.isSafeInteger(n) && n > 1) && given.reduce((a, b) => a * b, 1) === length;
  const hold = () => (given.length === 1 ? fitsWhole(question) : given.every((n) => fitsPart(n, question)));
  // The number of uploads when neighbouring factors that fit one upload are merged: that many are enough, and one more may be faster.
  let enough = 1;
  let size = 1;
  for (const n of given) {
    if (size * n > capacity.columns) enough++;
    size = size * n > capacity.columns ? n : size * n;
  }
  if (divide && given.length >= least && given.length <= Math.max(2, least, enough) + 1 && hold()) return;
  throw new RangeError(`${title} of ${length} points does not come in uploads of ${show(given)}`);
}

function leastUploads({ length, uploads = 1 }: UploadsQuestion): number {
  return uploads === 1 ? 1 : Math.min(uploads, primeFactors(length).length);
}

function fitsWhole({ length, capacity, strided, fusable }: UploadsQuestion): boolean {
  return length <= capacity.whole || fusable(length, strided, false);
}

/** Whether one of several uploads may have this length. */
function fitsPart(n: number, { capacity, fusable }: UploadsQuestion): boolean {
  return n <= capacity.columns || fusable(n, true, true);
}

type Search = (uploads: number, most: number) => Priced<readonly number[]>[];

/**
 * Searches for splits into a given number of factors. Factors are about equal, and whole tiles divide them, or else tiles of whole grains
 * that a group may take instead.
 */
function searchSplits(question: UploadsQuestion): Search {
  const { length, cost, first, tile, grain, trip, lastTrip = trip } = question;
  const leastTrip = (last: boolean) => (last ? lastTrip : trip);
  const leastOf = question.least ?? ((_: number, last: boolean) => leastTrip(last));
  const ragged = (n: number) => (question.ragged === 0 || dividingTile(tile, n, n, grain) ? 0 : question.ragged);
  const price = remembered((n, columns, last) => cost(n, columns, last) + ragged(n));
  let parts: number[] | undefined;
  return (uploads, most) => {
    parts ??= divisors(length).filter((n) => n > 1 && fitsPart(n, question));
    const ideal = length ** (1 / uploads);
    const offBalance = (n: number) => question.unbalanced * Math.abs(Math.log2(n / ideal));
    const balanced: UploadCost = (n, columns, last) => price(n, columns, last) + offBalance(n);
    const reordered: UploadCost = (n, columns, last) => (last ? price(n, columns, last) : first!(n) + ragged(n));
    const reorders = uploads === 2 && first !== undefined;
    const bound = (n: number, last: boolean) => (reorders ? leastTrip(last) : leastOf(n, last) + offBalance(n));
    return cheapestSplits(length, uploads, parts, { price: reorders ? reordered : balanced, bound }, most);
  };
}

/** The same cost function, which computes each price once. */
function remembered(cost: UploadCost): UploadCost {
  const known = [new Map<number, Map<number, number>>(), new Map<number, Map<number, number>>()];
  return (n, columns, last) => {
    let own = known[Number(last)]!.get(n);
    if (!own) known[Number(last)]!.set(n, (own = new Map()));
    let price = own.get(columns);
    if (price === undefined) own.set(columns, (price = cost(n, columns, last)));
    return price;
  };
}

interface Prices {
  readonly price: UploadCost;
  /** A lower bound of the cost of an upload of this length. */
  readonly bound: (length: number, last: boolean) => number;
}

/** The difference in price from which on a split is dearer than another whatever the rounding. */
const ROUNDING_SLACK = 1e-6;

/**
 * Shortest paths over the divisors. A state is the length that is left and the number of uploads that it may take. Parts are tried in the order of
 * their lower bounds, up to the first that cannot be among the cheapest; equally cheap splits are ordered by length, not by when they were found.
 */
function cheapestSplits(
  length: number,
  uploads: number,
  parts: readonly number[],
  { price, bound }: Prices,
  most: number,
): Priced<readonly number[]>[] {
  const longest = Math.max(1, ...parts);
  const bounds = new Map(parts.map((n) => [n, bound(n, false)]));
  const hopeful = [...parts].sort((a, b) => bounds.get(a)! - bounds.get(b)!);
  const cheapest = bounds.get(hopeful[0]!) ?? 0;
  const lastBound = Math.min(...parts.map((n) => bound(n, true)));
  const known = new Map<string, Priced<readonly number[]>[]>();
  const search = (rest: number, left: number): Priced<readonly number[]>[] => {
    const tried: { readonly n: number; readonly own: number; readonly after: Priced<readonly number[]>[] }[] = [];
    const prices: Priced<undefined>[] = [];
    const isTooDear = (least: number) => isFull(prices, most, least - ROUNDING_SLACK);
    const others = (left - 2) * cheapest + lastBound;
    for (const n of hopeful) {
      if (isTooDear(bounds.get(n)! + others)) break;
      if (rest % n !== 0) continue;
      const after = from(rest / n, left - 1);
      if (after.length === 0 || isTooDear(bounds.get(n)! + after[0]!.price)) continue;
      const own = price(n, rest / n, false);
      tried.push({ n, own, after });
      for (const tail of after) keepCheapest(prices, { value: undefined, price: own + tail.price }, most);
    }
    const best: Priced<readonly number[]>[] = [];
    for (const { n, own, after } of tried.sort((a, b) => a.n - b.n)) {
      for (const tail of after) keepCheapest(best, { value: [n, ...tail.value], price: own + tail.price }, most);
    }
    return best;
  };
  const from = (rest: number, left: number): Priced<readonly number[]>[] => {
    if (left === 1) return bounds.has(rest) ? [{ value: [rest], price: price(rest, length / rest, true) }] : [];
    // The rest is too long for so few uploads, or too short for so many.
    if (rest > longest ** left || rest < 2 ** left) return [];
    const key = `${rest},${left}`;
    let found = known.get(key);
    if (!found) known.set(key, (found = search(rest, left)));
    return found;
  };
  return from(length, uploads);
}
