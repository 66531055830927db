/** Types of values: scalars, arrays with their lengths, tuples. Two types are equal where their texts are. */

import { type Length, type Size, sizeOfLength } from './sizes.ts';
import type { Arr, Complex, Real } from './static-types.ts';

export type Type =
  | { readonly kind: 'real' | 'complex' | 'condition'; readonly text: string }
  | { readonly kind: 'array'; readonly of: Type; readonly length: Size; readonly text: string }
  | { readonly kind: 'tuple'; readonly of: readonly Type[]; readonly text: string };

export type ArrayType = Extract<Type, { kind: 'array' }>;

export const REAL: Type = Object.freeze({ kind: 'real', text: 'real' });
export const COMPLEX: Type = Object.freeze({ kind: 'complex', text: 'complex' });
export const CONDITION: Type = Object.freeze({ kind: 'condition', text: 'condition' });

export function arrayOf(of: Type, length: Size): ArrayType {
  const text = `${length}`;
  return Object.freeze({ kind: 'array', of, length, text: `[${of.text}]_${/^\w+$/.test(text) ? text : `{${text}}`}` });
}

export function tupleOf(of: readonly Type[]): Type {
  return Object.freeze({ kind: 'tuple', of: Object.freeze(of), text: `(${of.map(({ text }) => text).join(' × ')})` });
}

export function isSameType(a: Type, b: Type): boolean {
  return a === b || a.text === b.text;
}

export function isNumber({ kind }: Type): boolean {
  return kind === 'real' || kind === 'complex';
}

/** Whether a value of a type is a number or a tuple of numbers, without arrays. */
export function isOfNumbers(type: Type): boolean {
  return type.kind === 'tuple' ? type.of.every(isOfNumbers) : isNumber(type);
}

/** The scalar type at the bottom of nested arrays. */
export function scalarOf(type: Type): Type {
  return type.kind === 'array' ? scalarOf(type.of) : type;
}

/** Lengths of an array, outermost first. */
export function lengthsOfType(type: Type): Size[] {
  return type.kind === 'array' ? [type.length, ...lengthsOfType(type.of)] : [];
}

declare const HELD: unique symbol;

/** The type of an input, made by `real` and `complex`. */
export class InputType<T = unknown> {
  declare readonly [HELD]: T;
  readonly type: Type;

  constructor(type: Type) {
    this.type = type;
    Object.freeze(this);
  }

  toString(): string {
    return this.type.text;
  }
}

/** The type of an input: without lengths a number, with lengths a nested array of numbers, outermost length first. */
export interface InputTypes<N> {
  (): InputType<N>;
  (n: Length): InputType<Arr<N>>;
  (m: Length, n: Length): InputType<Arr<Arr<N>>>;
  (l: Length, m: Length, n: Length): InputType<Arr<Arr<Arr<N>>>>;
  (k: Length, l: Length, m: Length, n: Length): InputType<Arr<Arr<Arr<Arr<N>>>>>;
}

function inputTypes<N>(name: string, scalar: Type): InputTypes<N> {
  return (...lengths: Length[]) => {
    const sizes = lengths.map((length) => sizeOfLength(name, length));
    return new InputType<never>(sizes.reduceRight<Type>((of, length) => arrayOf(of, length), scalar));
  };
}

/** Real inputs: `real()` is a number, `real(3, n)` three arrays of n. @throws FftError `invalid-size` */
export const real: InputTypes<Real> = inputTypes('real', REAL);
/** Complex inputs: `complex()` is a number, `complex(3, n)` three arrays of n. @throws FftError `invalid-size` */
export const complex: InputTypes<Complex> = inputTypes('complex', COMPLEX);
