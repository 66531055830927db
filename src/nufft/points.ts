/** Coordinates of points: copied and checked. */

import { FftError, show } from '../problem/errors.ts';
import { arrayClass, arrayLength } from '../problem/input/bytes.ts';
import { isFloats, liveSamples } from '../signal/arguments/floats.ts';

/** Coordinates: floats of either precision, or a list of numbers. */
export type Coordinates = Float32Array | Float64Array | readonly number[];

/** Coordinates by axis. */
export type PointSet = readonly Float64Array[];

export type GivenAxes = readonly (Coordinates | null | undefined)[];

/**
 * Coordinates of points along the axes in use, copied as doubles.
 * @param names names of the axes: the first `dimensions` of them are needed, the others must be missing
 * @throws FftError `missing-buffer`, `wrong-array-type`, `wrong-length`, `invalid-argument`, `detached-array`
 */
export function readPoints(given: GivenAxes, names: readonly string[], dimensions: number): PointSet {
  const axes: Float64Array[] = [];
  names.forEach((name, axis) => {
    const coordinates = given[axis] ?? undefined;
    if (axis < dimensions) axes.push(readAxis(coordinates, name));
    else if (coordinates !== undefined) {
      const message = `setPoints was given ${name}, which a transform of ${dimensions} dimensions of this type has not.`;
      throw new FftError('invalid-argument', message, { path: name });
    }
  });
  const [first] = axes;
  axes.forEach((axis, n) => {
    if (axis.length === first!.length) return;
    const message = `${names[n]} has ${axis.length} numbers, ${names[0]} has ${first!.length}: each point has a coordinate along every axis.`;
    throw new FftError('wrong-length', message, { path: names[n]! });
  });
  return axes;
}

function readAxis(given: Coordinates | undefined, name: string): Float64Array {
  if (given === undefined) {
    throw new FftError('missing-buffer', `setPoints needs ${name}: a coordinate for each point.`, { path: name });
  }
  const axis = Float64Array.from(coordinateList(given, name));
  for (let n = 0; n < axis.length; n++) {
    if (Number.isFinite(axis[n]!)) continue;
    const message = `${name}[${n}] is ${show(Array.isArray(given) ? given[n] : axis[n])}; coordinates are finite numbers.`;
    throw new FftError('invalid-argument', message, { path: `${name}[${n}]` });
  }
  return axis;
}

function coordinateList(given: Coordinates, name: string): ArrayLike<number> {
  if (isFloats(given)) return liveSamples(given, name);
  if (Array.isArray(given)) {
    // A list may hold only numbers; Number() would convert anything else to one.
    return given.map((value) => (typeof value === 'number' ? value : Number.NaN));
  }
  const shown = arrayClass(given) ?? show(given);
  throw new FftError(
    'wrong-array-type',
    `${name} takes a Float64Array, a Float32Array or a list of numbers; ${shown} was given.`,
    {
      path: name,
    },
  );
}

/**
 * The number of transforms in an array of strengths or values.
 * @throws FftError `wrong-length` where the array is not a whole number of transforms of `points` complex numbers
 */
export function transformsIn(values: unknown, points: number, name: string): number {
  const length = arrayLength(values);
  const transforms = length / (2 * points);
  if (Number.isInteger(transforms) && transforms >= 1) return transforms;
  const message = `${name} has ${length} numbers; for ${points} of its complex numbers in a transform it takes a multiple of ${2 * points}.`;
  throw new FftError('wrong-length', message, { path: name });
}
