/** Axes and lengths as NumPy counts them: negative axes from the end. */
import { excerpt, FftError, show } from '../../problem/errors.ts';

/**
 * An axis counted from 0.
 * @throws FftError `invalid-argument`
 */
export function resolveAxis(axis: number, dimensions: number, path: string): number {
  if (!Number.isInteger(axis) || axis < -dimensions || axis >= dimensions) {
    const accepted = dimensions === 0 ? 'a single number has no axes' : `it takes ${-dimensions} to ${dimensions - 1}`;
    const shape = `the array has ${dimensions} ${dimensions === 1 ? 'axis' : 'axes'}`;
    throw new FftError('invalid-argument', `${path} is ${show(axis)}; ${shape}: ${accepted}.`, { path });
  }
  return axis < 0 ? axis + dimensions : axis;
}

/**
 * Axes counted from 0, in the order in which they were given.
 * @throws FftError `invalid-argument`
 */
export function resolveAxes(axes: readonly number[], dimensions: number): number[] {
  if (!Array.isArray(axes)) {
    throw new FftError('invalid-argument', `axes is ${show(axes)}; it must list axes, such as [-2, -1].`, {
      path: 'axes',
    });
  }
  return Array.from<number, number>(axes, (axis, k) => resolveAxis(axis, dimensions, `axes[${k}]`));
}

/**
 * Axes counted from 0, for functions that transform each axis once only.
 * @throws FftError `invalid-argument`, also if an axis is named twice
 */
export function resolveDistinctAxes(axes: readonly number[], dimensions: number): number[] {
  const resolved = resolveAxes(axes, dimensions);
  const repeated = resolved.findIndex((axis, k) => resolved.indexOf(axis) < k);
  if (repeated < 0) return resolved;
  const message = `axes is [${excerpt(axes.join(', '))}], which names axis ${resolved[repeated]} twice; each axis is taken once.`;
  throw new FftError('invalid-argument', message, { path: 'axes' });
}

/**
 * A length to crop or pad to.
 * @throws FftError `invalid-size`
 */
export function checkLength(length: number, path: string): number {
  if (Number.isSafeInteger(length) && length >= 1) return length;
  throw new FftError('invalid-size', `${path} is ${show(length)}; a length must be a positive integer.`, { path });
}
