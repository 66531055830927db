/**
 * The meaning of programs: an interpreter over nested JavaScript arrays in double precision, with Fourier transforms computed from their definition.
 * Tests compare compiled programs with it.
 */
import { FftError, show } from '../../problem/errors.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';
import { type Inputs, type Program, requireProgram } from '../language/program.ts';
import { numbersOf, realsOfType, resolvedSizes } from '../language/sizing.ts';
import type { Type } from '../language/types.ts';
import { type Datum, Interpreter, type Pair } from './interpreter.ts';

/**
 * The result of a program as flat numbers, row-major; complex results are re, im, re, im …
 * @param inputs numbers by input name, flat and row-major, complex ones as re, im, …; a plain number for a single real input
 * @param sizes numbers by size name, needed only for sizes that the lengths of the inputs do not tell
 * @returns one array of doubles
 * @throws FftError `invalid-argument`, `missing-buffer`, `unknown-field`, `wrong-array-type`, `wrong-length`, `invalid-size`
 */
export function interpret<I extends Inputs>(
  program: Program<I>,
  inputs: { readonly [K in keyof I]: ArrayLike<number> | number },
  sizes?: { readonly [name: string]: number },
): Float64Array {
  const known = requireProgram(program, 'interpret');
  const given = readInputs(known, inputs);
  const counts = new Map([...given].map(([name, numbers]) => [name, numbers.length]));
  const resolved = resolvedSizes(known, sizes, counts);
  const interpreter = new Interpreter(resolved);
  for (const parameter of known.parameters) {
    const name = parameter.details.name!;
    const numbers = given.get(name)!;
    const count = realsOfType(parameter.type, resolved);
    if (numbers.length !== count) {
      throw new FftError(
        'wrong-length',
        `${name} has ${numbers.length} numbers; ${parameter.type.text} takes ${count}.`,
        {
          path: name,
        },
      );
    }
    interpreter.bind(parameter, nestedData(numbers, numbersOf(parameter.type, resolved), parameter.type));
  }
  return flattened(interpreter.evaluate(known.body), realsOfType(known.body.type, resolved));
}

function readInputs({ parameters }: Program, inputs: unknown): Map<string, ArrayLike<number>> {
  const read = snapshot(inputs, 'inputs', { code: 'invalid-argument', depth: 1, keep: true });
  if (!isRecord(read))
    throw new FftError('invalid-argument', `interpret was given ${show(inputs)}; it takes { v: numbers }.`);
  const names = parameters.map(({ details }) => details.name!);
  const unknown = Object.keys(read).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new FftError('unknown-field', `The program has no input ${show(unknown)}; it has ${names.join(', ')}.`, {
      path: unknown,
    });
  }
  return new Map(
    names.map((name) => {
      const raw = (inputs as Record<string, unknown>)[name];
      if (raw === undefined) throw new FftError('missing-buffer', `Input ${name} is missing.`, { path: name });
      const numbers = typeof raw === 'number' ? [raw] : raw;
      const isNumbers =
        ArrayBuffer.isView(numbers) || (Array.isArray(numbers) && numbers.every((each) => typeof each === 'number'));
      if (isNumbers) return [name, numbers as ArrayLike<number>];
      throw new FftError('wrong-array-type', `${name} is ${show(raw)}; it takes numbers.`, { path: name });
    }),
  );
}

function nestedData(numbers: ArrayLike<number>, shape: readonly number[], type: Type): Datum {
  const complex = type.text.includes('complex');
  let at = 0;
  const next = ([count, ...inner]: readonly number[]): Datum => {
    if (count === undefined) return complex ? { re: numbers[at++]!, im: numbers[at++]! } : numbers[at++]!;
    return Array.from({ length: count }, () => next(inner));
  };
  return next(shape);
}

function flattened(datum: Datum, reals: number): Float64Array {
  const flat = new Float64Array(reals);
  let at = 0;
  const put = (part: Datum): void => {
    if (Array.isArray(part)) part.forEach(put);
    else if (typeof part === 'object') {
      flat[at++] = (part as Pair).re;
      flat[at++] = (part as Pair).im;
    } else flat[at++] = part as number;
  };
  put(datum);
  return flat;
}
