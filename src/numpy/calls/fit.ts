/** Brings arrays into another shape: every axis is cropped at its end or padded with zeros, and reals become complex if necessary. */
import { elementCount } from '../arrays/array.ts';
import type { Floats } from '../arrays/memory.ts';
import type { OperandShape } from './steps.ts';
import type { Fill } from './work.ts';

/** How to bring an array into another shape. */
export interface Fit {
  readonly fill: Fill;
  /** Whether `fill` takes subarrays of the data, which then has to be an ordinary array and not of a subclass. */
  readonly takesSubarrays: boolean;
}

/**
 * The way from one shape to another.
 * @param to has as many axes as `from`, and is complex if `from` is.
 * @returns undefined if nothing has to change.
 */
export function fitFor(from: OperandShape, to: OperandShape): Fit | undefined {
  // Axes outside number `whole` are looped over; that axis and the axes inside it are copied in one piece.
  let whole = to.shape.length;
  while (whole > 0 && from.shape[whole - 1] === to.shape[whole - 1]) whole--;
  if (whole > 0) return { fill: reshaping(from, to, whole - 1), takesSubarrays: true };
  if (from.complex === to.complex) return undefined;
  const count = elementCount(from.shape);
  return { fill: (target, data) => spreadReals(data, 0, target, 0, count), takesSubarrays: false };
}

/** @param whole the outermost axis of the pieces that are copied at once */
function reshaping(from: OperandShape, to: OperandShape, whole: number): Fill {
  const given = from.complex ? 2 : 1;
  const wanted = to.complex ? 2 : 1;
  const kept = from.shape.map((length, axis) => Math.min(length, to.shape[axis]!));
  // If an axis is empty, nothing is copied, and the loop over long outer axes can be skipped.
  const isEmpty = kept.includes(0);
  const run = elementCount(kept.slice(whole));
  const readStrides = from.shape.map((_, axis) => elementCount(from.shape.slice(axis + 1)));
  const writeStrides = to.shape.map((_, axis) => elementCount(to.shape.slice(axis + 1)));
  return (target, data) => {
    target.fill(0);
    if (!isEmpty) walk(0, 0, 0);

    function walk(axis: number, read: number, write: number): void {
      if (axis === whole) {
        if (given === wanted) target.set(data.subarray(given * read, given * (read + run)), wanted * write);
        else spreadReals(data, read, target, write, run);
        return;
      }
      for (let k = 0; k < kept[axis]!; k++)
        walk(axis + 1, read + k * readStrides[axis]!, write + k * writeStrides[axis]!);
    }
  };
}

/** Copies reals to real parts. */
function spreadReals(data: Floats, read: number, target: Floats, write: number, count: number): void {
  for (let k = 0; k < count; k++) {
    target[2 * (write + k)] = data[read + k]!;
    target[2 * (write + k) + 1] = 0;
  }
}

/** Conjugates complex numbers in place. */
export function conjugateInPlace(data: Floats): void {
  for (let k = 1; k < data.length; k += 2) data[k] = -data[k]!;
}
