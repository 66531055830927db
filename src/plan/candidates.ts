/**
 * Candidates: the ways to split the axes of a problem, each with its price, cheapest first. The first of them is the plan.
 */
import { show } from '../problem/errors.ts';
import type { Problem } from '../problem/index.ts';
import { uploadsQuestion } from './axis.ts';
import { complexPart, isReal, isSums } from './complex-part.ts';
import { tripCost } from './cost.ts';
import { cheapestOfEach, isFull, keepCheapest, type Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { waysOfReal } from './real.ts';
import { isConvolved, wholePrice } from './scheme.ts';
import { checkTogether, waysTogether } from './shared-axes.ts';
import type { Splits } from './splits.ts';
import { waysOfSums } from './sums.ts';
import { checkUploads, rankUploads } from './uploads.ts';

/** A way to split the axes, and what it costs per point in the device's unit (`cost.ts`). */
export type Candidate = Priced<Splits>;

/**
 * @param most candidates that are asked for; there may be fewer.
 * @throws RangeError where nothing fits the profile.
 */
export function rankSplits(problem: Problem, profile: DeviceProfile, most: number): Candidate[] {
  const best: Candidate[] = [];
  const transformed = transformedAxes(problem);
  const known = new Map<number, Priced<readonly number[]>[]>();
  const uploadsOf = (axis: number) => {
    let own = known.get(axis);
    if (!own) known.set(axis, (own = waysAlone(problem, axis, profile, most)));
    return own;
  };
  for (const { value, price } of waysTogether(problem, profile)) {
    const { together, axes } = value;
    const alone = transformed.filter((axis) => !axes.includes(axis));
    if (isFull(best, most, price + alone.length * tripCost(profile))) continue;
    for (const way of cheapestOfEach(alone.map(uploadsOf), most)) {
      const uploads = problem.size.map((_, axis) => (alone.includes(axis) ? way.value[alone.indexOf(axis)]! : []));
      const splits = { ...(together === undefined ? {} : { together }), uploads };
      keepCheapest(best, { value: splits, price: price + way.price }, most);
    }
  }
  return best;
}

/** The ways to transform an axis in launches of its own. */
function waysAlone(problem: Problem, axis: number, profile: DeviceProfile, most: number): Priced<readonly number[]>[] {
  if (isRealAxis(problem, axis)) return waysOfReal(problem, profile, most);
  if (isSums(problem)) return waysOfSums(problem, axis, profile, most);
  const complex = complexPart(problem);
  const length = complex.size[axis]!;
  if (isConvolved(complex, axis, profile)) return [{ value: [length], price: wholePrice(complex, axis, profile) }];
  return rankUploads(uploadsQuestion(complex, axis, profile), most);
}

/** @throws RangeError where these are no splits that a plan may have. */
export function checkSplits(problem: Problem, profile: DeviceProfile, splits: Splits): void {
  const complex = complexPart(problem);
  const { axes } = checkTogether(splits, problem, profile);
  splits.uploads.forEach((factors, axis) => {
    const alone = transformedAxes(problem).includes(axis) && !axes.includes(axis);
    if (alone && (isRealAxis(problem, axis) || isSums(problem))) return checkKnown(problem, axis, profile, factors);
    if (alone && !isConvolved(complex, axis, profile)) checkUploads(factors, uploadsQuestion(complex, axis, profile));
    else checkWhole(factors, axis, alone ? [problem.size[axis]!] : []);
  });
}

/** Ways of an axis between reals that a saved plan may have taken, more than are ever tried. */
const MOST_SAVED_WAYS = 64;

/** @throws RangeError where an axis between reals is not split so */
function checkKnown(problem: Problem, axis: number, profile: DeviceProfile, given: readonly number[]): void {
  const known = waysAlone(problem, axis, profile, MOST_SAVED_WAYS);
  const isGiven = (value: readonly number[]) =>
    value.length === given.length && value.every((n, at) => n === given[at]);
  if (known.some(({ value }) => isGiven(value))) return;
  throw new RangeError(`axis ${axis} does not come in uploads of ${show(given)}`);
}

/** @throws RangeError where an axis is split that is convolved as a whole, or has no launch of its own. */
function checkWhole(given: readonly number[], axis: number, expected: readonly number[]): void {
  if (given.length === expected.length && given.every((n, at) => n === expected[at])) return;
  throw new RangeError(`axis ${axis} comes in uploads of ${show(expected)}, not of ${show(given)}`);
}

function isRealAxis(problem: Problem, axis: number): boolean {
  return axis === 0 && isReal(problem);
}

/** Axes that are more than stepped over. (A single real becomes a complex number, or a sum that is twice as large.) */
function transformedAxes(problem: Problem): number[] {
  const { size, omit } = problem;
  const alwaysDone = (axis: number) => isRealAxis(problem, axis) || isSums(problem);
  return size.flatMap((length, axis) => (omit[axis] || (length === 1 && !alwaysDone(axis)) ? [] : [axis]));
}
