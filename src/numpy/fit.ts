/** Real or complex in, complex of another shape out: every axis is cropped at its end or filled up with zeros. */
import { isComplex, isSingle, type NumpyArray, product, zeros } from './array.ts';

type Floats = Float32Array | Float64Array;

/**
 * @param shape as many axes as the array has
 * @returns interleaved complex numbers: the array's own where nothing has to change.
 * @throws FftError `out-of-memory`
 */
export function fitComplex(array: NumpyArray, shape: readonly number[]): Floats {
  const { data, shape: from, dtype } = array;
  const complex = isComplex(dtype);
  // Axes before this one are walked through; this one and everything inside it is copied in one piece.
  let whole = shape.length;
  while (whole > 0 && from[whole - 1] === shape[whole - 1]) whole--;
  if (complex && whole === 0) return data;
  whole = Math.max(0, whole - 1);

  const target = zeros(2 * product(shape), isSingle(dtype));
  const kept = from.map((length, axis) => Math.min(length, shape[axis]!));
  // The axes outside an empty one may be long, and none of their steps copies anything.
  if (kept.includes(0)) return target;
  const run = product(kept.slice(whole));
  const readStrides = from.map((_, axis) => product(from.slice(axis + 1)));
  const writeStrides = shape.map((_, axis) => product(shape.slice(axis + 1)));
  const walk = (axis: number, read: number, write: number): void => {
    if (axis === whole) {
      if (complex) target.set(data.subarray(2 * read, 2 * (read + run)), 2 * write);
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
