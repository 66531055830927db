/** Arrays given as lists of numbers, or as lists of lists of equal length, as `numpy.asarray` takes them. */
import { FftError, reasonOf, show } from '../../problem/errors.ts';
import { floatZeros } from './memory.ts';

/** One axis of numbers, or several: `[[1, 2], [3, 4]]` has the shape [2, 2]. */
export type NumberLists = readonly number[] | readonly NumberLists[];

/** The most axes of an array in NumPy. The limit also ends lists that contain themselves. */
const MOST_AXES = 64;

interface Listed {
  readonly data: Float64Array;
  readonly shape: number[];
}

/**
 * The numbers of nested lists as one array.
 * @returns float64, since numbers of JavaScript are doubles.
 * @throws FftError `wrong-array-type` for anything but numbers in lists, `wrong-length` if lists side by side have different lengths, `out-of-memory`
 */
export function fromLists(lists: NumberLists): Listed {
  try {
    return read(lists);
  } catch (cause) {
    if (cause instanceof FftError) throw cause;
    throw new FftError('wrong-array-type', `The list cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

function read(lists: NumberLists): Listed {
  const shape = listShape(lists);
  const data = floatZeros(
    shape.reduce((total, length) => total * length, 1),
    false,
  ) as Float64Array;
  let filled = 0;
  fill(lists, 0, '');
  return { data, shape };

  function fill(part: unknown, axis: number, path: string): void {
    if (!Array.isArray(part)) throw wrongEntry(part, path, 'its neighbours are lists');
    const length = shape[axis]!;
    if (part.length !== length) throw ragged(path, part.length, length);
    for (let k = 0; k < length; k++) {
      const entry: unknown = part[k];
      if (axis + 1 < shape.length) fill(entry, axis + 1, `${path}[${k}]`);
      else if (typeof entry === 'number') data[filled++] = entry;
      else throw wrongEntry(entry, `${path}[${k}]`, 'it must be a number');
    }
  }
}

/** The shape: the length of the list, of its first element, and so on. */
function listShape(lists: NumberLists): number[] {
  const shape: number[] = [];
  for (let part: unknown = lists; Array.isArray(part); part = part[0]) {
    if (shape.length === MOST_AXES) {
      throw new FftError('wrong-array-type', `Lists are nested more than ${MOST_AXES} levels deep.`);
    }
    shape.push(part.length);
  }
  return shape;
}

function ragged(path: string, length: number, wanted: number): FftError {
  const message = `The list x${path} has ${length} entries, and the first one of its level ${wanted}; all must be equally long.`;
  return new FftError('wrong-length', message, { path: `x${path}` });
}

function wrongEntry(entry: unknown, path: string, why: string): FftError {
  return new FftError('wrong-array-type', `x${path} is ${show(entry)}; ${why}.`, { path: `x${path}` });
}
