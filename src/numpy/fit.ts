/** Arrays of another shape: every axis is cropped at its end or filled up with zeros, and reals become complex if need be. */
import { isComplex, isSingle, type NumpyArray, product } from './array.ts';
import { type Floats, fitting, zeros } from './memory.ts';

/**
 * @param shape as many axes as the array has
 * @param complex whether complex numbers are wanted; what is complex stays so.
 * @returns reals or interleaved complex numbers: the array's own where nothing has to change.
 * @throws FftError `out-of-memory`
 */
export function fitted(array: NumpyArray, shape: readonly number[], complex: boolean): Floats {
  const { data, shape: from, dtype } = array;
  const given = isComplex(dtype) ? 2 : 1;
  const wanted = complex ? 2 : 1;
  // Axes before this one are walked through; this one and everything inside it is copied in one piece.
  let whole = shape.length;
  while (whole > 0 && from[whole - 1] === shape[whole - 1]) whole--;
  if (given === wanted && whole === 0) return data;
  whole = Math.max(0, whole - 1);

  const target = zeros(wanted * product(shape), isSingle(dtype));
  const kept = from.map((length, axis) => Math.min(length, shape[axis]!));
  // The axes outside an empty one may be long, and none of their steps copies anything.
  if (kept.includes(0)) return target;
  const run = product(kept.slice(whole));
  const readStrides = from.map((_, axis) => product(from.slice(axis + 1)));
  const writeStrides = shape.map((_, axis) => product(shape.slice(axis + 1)));
  const walk = (axis: number, read: number, write: number): void => {
    if (axis === whole) {
      if (given === wanted) target.set(data.subarray(given * read, given * (read + run)), wanted * write);
      else spread(data, read, target, write, run);
      return;
    }
    for (let k = 0; k < kept[axis]!; k++)
      walk(axis + 1, read + k * readStrides[axis]!, write + k * writeStrides[axis]!);
  };
  walk(0, 0, 0);
  return target;
}

/** Reals become real parts. */
function spread(data: Floats, read: number, target: Floats, write: number, count: number): void {
  for (let k = 0; k < count; k++) target[2 * (write + k)] = data[read + k]!;
}

/** A copy. @throws FftError `out-of-memory` */
export function copyOf(data: Floats): Floats {
  return fitting(data.length, () => data.slice());
}

/** Conjugates complex numbers where they are. */
export function conjugate(data: Floats): void {
  for (let k = 1; k < data.length; k += 2) data[k] = -data[k]!;
}
