/**
 * The adjoint of a transform, under the real inner product ⟨x, y⟩ = Σ (re·re + im·im), as a problem: the other direction on the same tensors,
 * with factors that make it the exact transpose.
 *
 * - The scale is that of the original direction, and blocks of zeros change sides: elements that it does not write are not read by its adjoint.
 * - Half a spectrum has each bin once, but a transform to reals counts the bins between the ends twice.
 * - FFTW's cosine and sine transforms are transposes of one another, but for factors on their first and last elements.
 * - Callbacks change sides, transposed.
 */
import type { PlannedProblem } from '../arrays.ts';
import type { BuiltCallback, Callbacks, NumberKind } from '../callbacks.ts';
import type { Direction } from '../directions.ts';
import { FftError } from '../errors.ts';
import { keepsReals, logicalLength, tensorShape, transformedKind } from '../layout/layout.ts';
import { findCollision } from '../layout/overlap.ts';
import { splitAxisOf, withSplitAxes } from '../layout/split-axis.ts';
import { normalFormOf, normalizeProblem } from '../normalize/normalize.ts';
import { type Problem, type Side, sides, type TransformKind } from '../problem.ts';
import type { DraftCallback } from './steps.ts';
import { type Factors, NotLinear, transposed, type Weight } from './transposed.ts';

/** A problem, and which of its directions is the adjoint. */
export interface AdjointProblem {
  readonly problem: PlannedProblem;
  readonly direction: Direction;
}

/**
 * The problem of an adjoint.
 * @throws FftError `unsupported-feature` where a callback is not linear in its value; `overlapping-strides` where the direction reads some
 * elements more than once
 */
export function adjointProblem(problem: Problem, of: Direction): AdjointProblem {
  const direction = of === 'forward' ? 'inverse' : 'forward';
  const split = Object.fromEntries(sides.map((side) => [side, splitAxisOf(problem, side)]));
  const inBlocks = sides.some((side) => split[side]);
  if (!inBlocks) refuseRepeats(problem, of);
  if (problem.unordered && problem.transform[0] !== 'c2c') {
    const message =
      'The adjoint of a real transform weighs bins by their places, which unordered ones do not tell; plan without unordered.';
    throw new FftError('unsupported-feature', message, { path: 'unordered' });
  }
  if (problem.bands) {
    const message =
      'A plan with bands has no adjoint yet; plan the transform without bands, whose adjoint takes the transposed weights times the cotangent of the sums.';
    throw new FftError('unsupported-feature', message, { path: 'bands' });
  }
  const { scale, divisor } = scaleAndDivisor(problem, of);
  const { strides, offsets, ...fields } = withSplitAxes(problem, {});
  const derived = normalizeProblem({
    ...fields,
    // The strides of an axis in blocks hold inside its blocks only, so the sides are described by the blocks.
    ...(inBlocks ? {} : { strides, offsets }),
    directions: direction,
    normalize: false,
    scale: { [direction]: scale },
    callbacks: adjointCallbacks(problem, of, divisor) as Callbacks | null,
    convolution: null,
  });
  const own = inBlocks ? normalFormOf(withSplitAxes({ ...derived, strides, offsets }, split)) : derived;
  return { problem: own, direction };
}

/** The scale factor of a direction, as a number, and a `divisor` for the part of it that no number can express. */
function scaleAndDivisor(problem: Problem, of: Direction): { readonly scale: number; readonly divisor: number } {
  const scale = problem.scale[of];
  if (of === 'forward' || !problem.normalize) return { scale, divisor: 1 };
  const points = problem.size.reduce(
    (all, n, axis) => all * (problem.omit[axis] ? 1 : logicalLength(problem.transform[axis]!, n)),
    1,
  );
  // A quotient of two doubles is no double-double.
  const isExact = problem.precision !== 'double-double' || Number.isInteger(Math.log2(points));
  return isExact ? { scale: scale / points, divisor: 1 } : { scale, divisor: points };
}

/** Refuses strides of 0: the adjoint writes the elements that the direction reads, so each must have a place of its own. */
function refuseRepeats(problem: Problem, of: Direction): void {
  const side: Side = of === 'forward' ? 'input' : 'output';
  const strides = problem.strides[side];
  if (findCollision(tensorShape(problem, side), strides) === undefined) return;
  throw new FftError(
    'overlapping-strides',
    `The adjoint of ${of} would add up what falls on one place: strides.${side} [${strides.join(', ')}] read some elements more than once. ` +
      'Plan the transform with strides that keep them apart, and add up the result of its adjoint where elements are repeated.',
    { path: `strides.${side}` },
  );
}

function adjointCallbacks(problem: Problem, of: Direction, divisor: number): unknown {
  const [direction, read, written] =
    of === 'forward' ? (['inverse', 'input', 'output'] as const) : (['forward', 'output', 'input'] as const);
  const { load, store } = problem.callbacks?.[of] ?? { load: null, store: null };
  const weights = weightsOf(problem, of);
  const made = {
    load: transposedOrRefused(store, `callbacks.${of}.store`, transformedKind(problem, written), {
      weights: weights.load,
      divisor: 1,
    }),
    store: transposedOrRefused(
      load ?? (keepsReals(problem, read) ? REALS_AS_COMPLEX : null),
      `callbacks.${of}.load`,
      transformedKind(problem, read),
      { weights: weights.store, divisor },
    ),
  };
  if (!made.load && !made.store) return null;
  return { [direction]: made, arrays: problem.callbacks?.arrays ?? {} };
}

/** The load callback for complex numbers in place of reals, if the user has none there. */
const REALS_AS_COMPLEX: BuiltCallback = {
  ...{ takes: 'real', gives: 'complex' },
  nodes: [{ op: 're' }, { op: 'constant', value: 0 }],
  result: [0, 1],
};

/** The transpose of a callback. @param path of the callback @throws FftError `unsupported-feature` where it is not linear in its value */
function transposedOrRefused(
  built: BuiltCallback | null,
  path: string,
  kind: NumberKind,
  factors: Factors,
): DraftCallback | null {
  const made = transposed(built, kind, factors);
  if (!(made instanceof NotLinear)) return made;
  const message = `${path} ${made.why}: it is not linear in it and has no adjoint. Callbacks have one that multiply the parts of their value by what does not depend on it, and add these products.`;
  throw new FftError('unsupported-feature', message, { path });
}

/** The factors of the transpose: before the transform of the other direction (`load`), and behind it (`store`). */
interface Weights {
  readonly load: readonly Weight[];
  readonly store: readonly Weight[];
}

function weightsOf(problem: Problem, of: Direction): Weights {
  const all = problem.size.map((n, axis): Weights => {
    if (problem.omit[axis]) return NO_WEIGHTS;
    const weighted = axisWeights(problem.transform[axis]!, n, of);
    const placed = (one: AxisWeight | undefined) => (one && one.from < one.to ? [{ dimension: axis + 1, ...one }] : []);
    return { load: placed(weighted.load), store: placed(weighted.store) };
  });
  return { load: all.flatMap(({ load }) => load), store: all.flatMap(({ store }) => store) };
}

const NO_WEIGHTS: Weights = { load: [], store: [] };

type AxisWeight = Omit<Weight, 'dimension'>;

/** The factors along one axis. @param n points of the axis */
function axisWeights(
  kind: TransformKind,
  n: number,
  of: Direction,
): { readonly load?: AxisWeight; readonly store?: AxisWeight } {
  const between = { from: 1, outside: 1 };
  if (kind === 'r2c') {
    // The bins at the ends are their own conjugates.
    const inner = { ...between, to: Math.ceil(n / 2) };
    return of === 'forward' ? { load: { ...inner, inside: 1 / 2 } } : { store: { ...inner, inside: 2 } };
  }
  const inner = { ...between, to: n - 1 };
  const first = { from: 0, to: 1, outside: 1 };
  const last = { from: n - 1, to: n, outside: 1 };
  switch (of === 'forward' ? kind : (INVERSES[kind] ?? kind)) {
    case 'dct1':
      return { load: { ...inner, inside: 1 / 2 }, store: { ...inner, inside: 2 } };
    case 'dct2':
      return { load: { ...first, inside: 2 } };
    case 'dct3':
      return { store: { ...first, inside: 1 / 2 } };
    case 'dst2':
      return { load: { ...last, inside: 2 } };
    case 'dst3':
      return { store: { ...last, inside: 1 / 2 } };
    default:
      // These have symmetric matrices, or complex ones whose adjoint is the other direction.
      return {};
  }
}

/** Transforms whose inverse is of another kind. */
const INVERSES: { readonly [kind in TransformKind]?: TransformKind } = {
  ...{ dct2: 'dct3', dct3: 'dct2', dst2: 'dst3', dst3: 'dst2' },
};
