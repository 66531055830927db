/** States of filters, which carry over from one chunk of a stream to the next: a few numbers for each line of the signal. */
import { elementCount, isComplex, type NumpyArray } from '../../numpy/arrays/array.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import type { Lines } from '../arguments/lines.ts';
import type { Planes } from '../arguments/planes.ts';

/** States of all lines, in an array of doubles; the state of a line is read before the line is filtered, and written after. */
export interface States {
  readonly array: NumpyArray<'float64' | 'complex128'>;
  readonly read: (line: number, planes: Planes) => void;
  readonly write: (line: number, planes: Planes) => void;
}

/** States filled with zeros. @param order numbers of a state along the time axis */
export function newStates(lines: Lines, order: number, complex: boolean, sections = 0): States {
  const { shape, leading } = stateShape(lines, order, sections);
  const data = new Float64Array(elementCount(shape) * (complex ? 2 : 1));
  const array = { data, shape, dtype: complex ? 'complex128' : 'float64' } as States['array'];
  const parts = complex ? 2 : 1;
  /** The position of a state's number: in each section, states lie as the lines of the signal do. */
  const at = (line: number, k: number) => {
    const [section, place] = [Math.floor(k / order), k % order];
    const { inner } = lines;
    return (section * leading + Math.floor(line / inner) * inner * order + place * inner + (line % inner)) * parts;
  };
  return {
    array,
    read(line, { re, im }) {
      for (let k = 0; k < re.length; k++) {
        const from = at(line, k);
        re[k] = data[from]!;
        if (im) im[k] = data[from + 1]!;
      }
    },
    write(line, { re, im }) {
      for (let k = 0; k < re.length; k++) {
        const to = at(line, k);
        data[to] = re[k]!;
        if (im) data[to + 1] = im[k]!;
      }
    },
  };
}

/**
 * A copy of the caller's states.
 * @param sections number of sections, for filters made of sections: their states have a leading axis of sections
 * @throws FftError `wrong-length`
 */
export function statesOf(given: NumpyArray, lines: Lines, order: number, complex: boolean, sections = 0): States {
  const states = newStates(lines, order, complex, sections);
  const { shape } = states.array;
  const repeats = (d: number) => d !== lines.axis + (sections > 0 ? 1 : 0) && (sections === 0 || d > 0);
  const fits =
    given.shape.length === shape.length &&
    given.shape.every((length, d) => length === shape[d] || (length === 1 && repeats(d)));
  if (!fits || (given.data.length === 0) !== (states.array.data.length === 0)) {
    const [own, wanted] = [given.shape, shape].map((lengths) => excerpt(lengths.join(', ')));
    throw new FftError('wrong-length', `zi has shape [${own}]; the filter and the signal take [${wanted}].`, {
      path: 'zi',
    });
  }
  const [from, to] = [isComplex(given.dtype) ? 2 : 1, complex ? 2 : 1];
  const elements = elementCount(shape);
  for (let element = 0; element < elements; element++) {
    const source = from * repeatedPlace(element, shape, given.shape);
    for (let part = 0; part < Math.min(from, to); part++)
      states.array.data[element * to + part] = given.data[source + part]!;
  }
  return states;
}

/** The position of an element in an array that is repeated along axes of length 1. */
function repeatedPlace(element: number, shape: readonly number[], own: readonly number[]): number {
  let [rest, place, stride] = [element, 0, 1];
  for (let d = shape.length - 1; d >= 0; d--) {
    if (own[d] !== 1) place += (rest % shape[d]!) * stride;
    rest = Math.floor(rest / shape[d]!);
    stride *= own[d]!;
  }
  return place;
}

function stateShape({ array, axis }: Lines, order: number, sections: number) {
  const shape = array.shape.map((length, d) => (d === axis ? order : length));
  return { shape: sections > 0 ? [sections, ...shape] : shape, leading: elementCount(shape) };
}
