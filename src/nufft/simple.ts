/** Single calls, named as in FINUFFT: a plan is made, used once and destroyed. The device keeps the kernels for the next call. */
import type { TransformType } from '../engine/nonuniform/problem.ts';
import { FftError, show } from '../problem/errors.ts';
import { arrayClass } from '../problem/input/bytes.ts';
import { areSingles, type Floats, isFloats } from '../signal/arguments/floats.ts';
import { type NufftOptions, simpleOptions } from './options.ts';
import { plan } from './plan.ts';
import { type Coordinates, transformsIn } from './points.ts';

interface SimpleCall<A> {
  readonly name: string;
  readonly type: TransformType;
  readonly points: readonly Coordinates[];
  readonly frequencies?: readonly Coordinates[];
  readonly input: A;
  readonly nModes: number | readonly number[];
  readonly options: NufftOptions;
}

async function once<A extends Floats>(call: SimpleCall<A>): Promise<A> {
  const { name, type, points, frequencies = [], input, nModes } = call;
  const options = simpleOptions(call.options, name);
  const own = type === 2 ? 'f' : 'c';
  if (!isFloats(input)) {
    const shown = arrayClass(input) ?? show(input);
    const message = `${own} takes a Float32Array or a Float64Array of re, im, re, im …; ${shown} was given.`;
    throw new FftError('wrong-array-type', message, { path: own });
  }
  const precision = areSingles(input) ? 'single' : 'double';
  const each =
    type === 2
      ? (Array.isArray(nModes) ? nModes : [nModes as number]).reduce((a, b) => a * b, 1)
      : pointCount(points[0]);
  const nTrans = each > 0 ? transformsIn(input, each, own) : 1;
  const made = await plan(type, nModes, { ...options, precision, nTrans });
  try {
    const [x, y, z] = points;
    const [s, t, u] = frequencies;
    await made.setPoints(x!, y, z, s, t, u);
    return (await made.execute(input)) as A;
  } finally {
    made.destroy();
  }
}

/** The number of points, as far as it can be told: `setPoints` reports wrong arguments. */
function pointCount(x: Coordinates | undefined): number {
  return isFloats(x) || Array.isArray(x) ? (x as Floats).length : 0;
}

/**
 * Type 1 in one dimension: f_k = Σ_j c_j e^{±i k x_j}.
 *
 * @param x coordinates in radians, M of them
 * @param c strengths, interleaved complex (re, im, …): M of them, or several transforms one after another. Their precision is also the result's.
 * @param nModes number of modes
 * @returns `nModes` modes for each transform, interleaved complex
 * @throws FftError (as a rejection) as `plan`, `setPoints` and `execute`
 */
export async function nufft1d1<A extends Floats>(
  x: Coordinates,
  c: A,
  nModes: number | readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft1d1', type: 1, points: [x], input: c, nModes, options });
}

/** Type 1 in two dimensions; modes along x run fastest. See `nufft1d1`. */
export async function nufft2d1<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  c: A,
  nModes: readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft2d1', type: 1, points: [x, y], input: c, nModes, options });
}

/** Type 1 in three dimensions; modes along x run fastest. See `nufft1d1`. */
export async function nufft3d1<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  z: Coordinates,
  c: A,
  nModes: readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft3d1', type: 1, points: [x, y, z], input: c, nModes, options });
}

/**
 * Type 2 in one dimension: c_j = Σ_k f_k e^{±i k x_j}.
 *
 * @param x coordinates in radians, M of them
 * @param f modes, interleaved complex (re, im, …): `nModes` of them, or several transforms one after another
 * @returns M values for each transform, interleaved complex
 * @throws FftError (as a rejection) as `plan`, `setPoints` and `execute`
 */
export async function nufft1d2<A extends Floats>(
  x: Coordinates,
  f: A,
  nModes: number | readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft1d2', type: 2, points: [x], input: f, nModes, options });
}

/** Type 2 in two dimensions; modes along x run fastest. See `nufft1d2`. */
export async function nufft2d2<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  f: A,
  nModes: readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft2d2', type: 2, points: [x, y], input: f, nModes, options });
}

/** Type 2 in three dimensions; modes along x run fastest. See `nufft1d2`. */
export async function nufft3d2<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  z: Coordinates,
  f: A,
  nModes: readonly number[],
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft3d2', type: 2, points: [x, y, z], input: f, nModes, options });
}

/**
 * Type 3 in one dimension: f_k = Σ_j c_j e^{±i s_k x_j}.
 *
 * @param x coordinates, M of them, not periodic
 * @param c strengths, interleaved complex: M of them, or several transforms one after another
 * @param s frequencies, K of them: any real numbers. The work grows with the product of the extents of x and s.
 * @returns K values for each transform, interleaved complex
 * @throws FftError (as a rejection) as `plan`, `setPoints` and `execute`
 */
export async function nufft1d3<A extends Floats>(
  x: Coordinates,
  c: A,
  s: Coordinates,
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft1d3', type: 3, points: [x], frequencies: [s], input: c, nModes: 1, options });
}

/** Type 3 in two dimensions. See `nufft1d3`. */
export async function nufft2d3<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  c: A,
  s: Coordinates,
  t: Coordinates,
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft2d3', type: 3, points: [x, y], frequencies: [s, t], input: c, nModes: 2, options });
}

/** Type 3 in three dimensions. See `nufft1d3`. */
export async function nufft3d3<A extends Floats>(
  x: Coordinates,
  y: Coordinates,
  z: Coordinates,
  c: A,
  s: Coordinates,
  t: Coordinates,
  u: Coordinates,
  options: NufftOptions = {},
): Promise<A> {
  return once({ name: 'nufft3d3', type: 3, points: [x, y, z], frequencies: [s, t, u], input: c, nModes: 3, options });
}
