/** Programs: a result, computed from named inputs. */
import { FftError, show } from '../../problem/errors.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';
import type { Result } from './static-types.ts';
import { InputType, isNumber, scalarOf } from './types.ts';
import { asValue, describedValue, freeOf, refuseProgram, Value } from './values.ts';

/** The types of inputs by their names. */
export interface Inputs {
  readonly [name: string]: InputType;
}

/** The values of inputs by their names. */
export type ValuesOf<I extends Inputs> = { readonly [K in keyof I]: I[K] extends InputType<infer T> ? T : never };

/** A listener that is told of each program made. */
export type Note = (program: Program) => void;

/** A program: named inputs, and a result computed from them. */
export class Program<I extends Inputs = Inputs> {
  readonly inputs: I;
  /** The program's type in the notation of the LIFT paper: `[real]_n → [[real]_4]_{n/4}`. */
  readonly type: string;
  /** @internal */
  readonly parameters: readonly Value[];
  /** @internal */
  readonly body: Value;
  /** @internal The listener, which is also told of the programs that rewriting makes of this one. */
  readonly note: Note | undefined;

  /** @internal */
  constructor(inputs: I, parameters: readonly Value[], body: Value, note: Note | undefined) {
    this.inputs = inputs;
    this.parameters = parameters;
    this.body = body;
    this.note = note;
    this.type = [...parameters, body].map(({ type }) => type.text).join(' → ');
    Object.freeze(this);
    note?.(this);
  }
}

/**
 * A program from a JavaScript function over its inputs.
 * @param inputs types by name: `{ v: real(n) }`
 * @param f is called once, with the inputs' values, and gives the result: a number or arrays of numbers
 * @throws FftError `invalid-program`
 */
export function programOf<I extends Inputs>(inputs: I, f: (values: ValuesOf<I>) => Result, note?: Note): Program<I> {
  const given = snapshot(inputs, 'program: its inputs', { code: 'invalid-program', depth: 1, keep: true });
  if (!isRecord(given) || Object.keys(given).length === 0) {
    refuseProgram('program', `it takes inputs by name, { v: real(n) }; it was given ${show(inputs)}.`);
  }
  if (typeof f !== 'function')
    refuseProgram('program', `it takes a function of its inputs; it was given ${describedValue(f)}.`);
  const own = Object.freeze({ ...given }) as I;
  const parameters = Object.entries(own).map(([name, declared]: [string, unknown]) => {
    if (!/^[A-Za-z_]\w*$/.test(name))
      refuseProgram('program', `inputs have names like 'v'; it was given ${show(name)}.`);
    if (declared instanceof InputType) return new Value('input', declared.type, [], { name });
    return refuseProgram(
      'program',
      `input ${name} is declared by real(…) or complex(…); it was given ${show(declared)}.`,
    );
  });
  const values = Object.fromEntries(parameters.map((value) => [value.details.name, value])) as unknown as ValuesOf<I>;
  const result: unknown = f(values);
  const body = asValue(result);
  if (!body || !isNumber(scalarOf(body.type))) {
    refuseProgram(
      'program',
      `its function has to give a number or arrays of numbers; it gave ${describedValue(result)}.`,
    );
  }
  const foreign = [...freeOf(body)].find((symbol) => !parameters.includes(symbol));
  if (foreign) {
    refuseProgram(
      'program',
      `its result holds a value of another function or program: ${foreign.details.name ?? foreign.type.text}.`,
    );
  }
  return new Program(own, parameters, body, note);
}

/** @throws FftError `invalid-argument` */
export function requireProgram(given: unknown, what: string): Program {
  if (given instanceof Program) return given;
  throw new FftError('invalid-argument', `${what} takes a program, from program(); it was given ${show(given)}.`);
}
