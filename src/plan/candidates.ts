/**
 * Candidates: the ways to split the axes of a problem, each with its price, cheapest first. The first candidate is the plan.
 */
import { show } from '../problem/errors.ts';
import type { Problem } from '../problem/index.ts';
import type { Target } from './device/target.ts';
import { tripCost } from './price/cost.ts';
import { cheapestOfEach, isFull, keepCheapest, type Priced } from './price/priced.ts';
import { checkUploads } from './price/uploads.ts';
import { uploadsQuestion } from './schemes/axis.ts';
import type { AxisScheme, Uploads } from './schemes/axis-scheme.ts';
import { complexPart, isR2r, isReal } from './schemes/complex-part.ts';
import { complexSchemes, isConvolved } from './schemes/complex-schemes.ts';
import { realSchemes } from './schemes/r2c.ts';
import { r2rSchemes } from './schemes/r2r/r2r.ts';
import { checkSharedAxes, sharedAxesChoices } from './schemes/shared-axes.ts';
import type { Splits } from './schemes/splits.ts';

/** A way to split the axes, with its price per point in the device's unit (`cost.ts`). */
export type Candidate = Priced<Splits>;

/**
 * The candidates for a problem, cheapest first.
 * @param most the number of candidates that the caller wants; there may be fewer
 * @throws RangeError where nothing fits the profile
 */
export function rankSplits(problem: Problem, target: Target, most: number): Candidate[] {
  const best: Candidate[] = [];
  const transformed = axesToPlan(problem);
  const known = new Map<number, Priced<AxisScheme>[]>();
  const schemesOf = (axis: number) => {
    let own = known.get(axis);
    if (!own) known.set(axis, (own = schemesAlone(problem, axis, target, most)));
    return own;
  };
  for (const { value, price } of sharedAxesChoices(problem, target)) {
    const { shared, axes } = value;
    const alone = transformed.filter((axis) => !axes.includes(axis));
    if (isFull(best, most, price + alone.length * tripCost(target))) continue;
    for (const way of cheapestOfEach(alone.map(schemesOf), most)) {
      const own = problem.size.map((_, axis) => (alone.includes(axis) ? way.value[alone.indexOf(axis)]! : null));
      const splits: Splits = { ...(shared ? { shared } : {}), axes: own };
      keepCheapest(best, { value: splits, price: price + way.price }, most);
    }
  }
  return best;
}

/** The ways to transform an axis in launches of its own. */
function schemesAlone(problem: Problem, axis: number, target: Target, most: number): Priced<AxisScheme>[] {
  if (isRealAxis(problem, axis)) return realSchemes(problem, target, most);
  if (isR2r(problem)) return r2rSchemes(problem, axis, target, most);
  return complexSchemes(complexPart(problem), axis, target, most);
}

/** Checks splits that were saved or given. @throws RangeError where a plan cannot have these splits */
export function checkSplits(problem: Problem, target: Target, splits: Splits): void {
  checkThreads(splits, target);
  const { axes } = checkSharedAxes(splits, problem, target);
  splits.axes.forEach((scheme, axis) => {
    const alone = axesToPlan(problem).includes(axis) && !axes.includes(axis);
    if (alone) checkScheme(problem, axis, target, scheme);
    else if (scheme !== null) throw new RangeError(`axis ${axis} has no launches of its own, but ${show(scheme)}`);
  });
}

function checkThreads({ threads }: Splits, { lockstep, maxThreads }: Target): void {
  if (threads === undefined) return;
  const most = lockstep === 'threads' ? maxThreads : 0;
  if (Number.isSafeInteger(threads) && threads >= 1 && threads <= most) return;
  throw new RangeError(`groups do not have ${show(threads)} threads`);
}

/** The number of schemes of an axis that saved splits are looked up in: more than are ever tried. */
const MOST_SAVED_WAYS = 64;

/** @throws RangeError where the axis cannot have that scheme */
function checkScheme(problem: Problem, axis: number, target: Target, given: AxisScheme | null): void {
  const complex = complexPart(problem);
  const isComplex = !isRealAxis(problem, axis) && !isR2r(problem);
  // Uploads of a saved plan may lie outside what the search looks at, so they are checked directly.
  if (isComplex && isUploads(given) && !isConvolved(complex, axis, target))
    return checkUploads(given.lengths, uploadsQuestion(complex, axis, target));
  const known = schemesAlone(problem, axis, target, MOST_SAVED_WAYS);
  if (known.some(({ value }) => JSON.stringify(value) === JSON.stringify(given))) return;
  throw new RangeError(`axis ${axis} is not transformed as ${show(given)}`);
}

function isUploads(given: AxisScheme | null): given is Uploads {
  return given?.by === 'uploads' && Array.isArray(given.lengths);
}

function isRealAxis(problem: Problem, axis: number): boolean {
  return axis === 0 && isReal(problem);
}

/** The axes that are transformed, not just stepped over. (Length 1 may count: a single real becomes a complex number, or a sum twice as large.) */
function axesToPlan(problem: Problem): number[] {
  const { size, omit } = problem;
  const alwaysDone = (axis: number) => isRealAxis(problem, axis) || isR2r(problem);
  return size.flatMap((length, axis) => (omit[axis] || (length === 1 && !alwaysDone(axis)) ? [] : [axis]));
}
