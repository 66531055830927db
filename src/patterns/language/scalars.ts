/** Arithmetic: functions of numbers, which make values. A real number becomes complex where it meets a complex one. */
import { show } from '../../problem/errors.ts';
import type { AsValue, Complex, Condition, NumberLike, Promoted, Real, RealLike, Tuple } from './static-types.ts';
import { COMPLEX, CONDITION, isNumber, isSameType, REAL, type Type, tupleOf } from './types.ts';
import { asValue, describedValue, refuseProgram, type ScalarOp, Value, widened } from './values.ts';

type Kind = 'real' | 'number';

/** The operands of an operation, checked. */
function operands(op: string, given: readonly unknown[], kinds: readonly Kind[]): Value[] {
  const values = given.slice(0, kinds.length).map(asValue);
  const fits = kinds.every((kind, n) => {
    const type = values[n]?.type;
    return type && (kind === 'real' ? type.kind === 'real' : isNumber(type));
  });
  if (fits) return values as Value[];
  const takes = kinds.map((kind) => (kind === 'real' ? 'real' : 'a number')).join(', ');
  const was = kinds.map((_, n) => describedValue(given[n])).join(' and ');
  return refuseProgram(op, `it takes ${takes}; it was given ${was}.`);
}

/** A function of numbers, which are all made complex if one of them is. */
function ofNumbers<R>(op: ScalarOp, count: number, give?: Type): (...given: unknown[]) => R {
  const kinds = Array<Kind>(count).fill('number');
  return (...given) => {
    const values = operands(op, given, kinds);
    const type = give ?? (values.some((value) => value.type.kind === 'complex') ? COMPLEX : REAL);
    return new Value(op, type, values) as R;
  };
}

function ofReals<R>(op: ScalarOp, count: number, give: Type = REAL): (...given: unknown[]) => R {
  const kinds = Array<Kind>(count).fill('real');
  return (...given) => new Value(op, give, operands(op, given, kinds)) as R;
}

type Arithmetic = <A extends NumberLike, B extends NumberLike>(a: A, b: B) => Promoted<A, B>;

/**
 * a + b. @throws FftError `invalid-program`, as all scalar functions do for a value that is not a number, or for a complex number if they take reals
 * only
 */
export const add = ofNumbers('add', 2) as Arithmetic;
/** a − b */
export const sub = ofNumbers('sub', 2) as Arithmetic;
/** a · b */
export const mul = ofNumbers('mul', 2) as Arithmetic;
/** a / b for a real b. */
export const div: <A extends NumberLike>(a: A, b: RealLike) => AsValue<A> = (a, b) => {
  const [above, below] = operands('div', [a, b], ['number', 'real']) as [Value, Value];
  return new Value('div', above.type, [above, below]) as never;
};
/** −a */
export const neg = ofNumbers('neg', 1) as <A extends NumberLike>(a: A) => AsValue<A>;
/** The smaller of two reals. */
export const min: (a: RealLike, b: RealLike) => Real = ofReals('min', 2);
/** The larger of two reals. */
export const max: (a: RealLike, b: RealLike) => Real = ofReals('max', 2);
/** |a| of a real number; for a complex number use `sqrt(norm2(a))`. */
export const abs: (a: RealLike) => Real = ofReals('abs', 1);
/** √a */
export const sqrt: (a: RealLike) => Real = ofReals('sqrt', 1);
/** The natural logarithm; −∞ for 0, NaN for a negative number. */
export const log: (a: RealLike) => Real = ofReals('log', 1);
/** e^a */
export const exp: (a: RealLike) => Real = ofReals('exp', 1);
/** The condition a < b, for `select`. */
export const less: (a: RealLike, b: RealLike) => Condition = ofReals('less', 2, CONDITION);
/** The real part of a number. */
export const re: (a: NumberLike) => Real = ofNumbers('re', 1, REAL);
/** The imaginary part of a number; 0 for a real one. */
export const im: (a: NumberLike) => Real = ofNumbers('im', 1, REAL);
/** The complex conjugate of a number; a real number is its own. */
export const conj = ofNumbers('conj', 1) as <A extends NumberLike>(a: A) => AsValue<A>;
/** |a|² */
export const norm2: (a: NumberLike) => Real = ofNumbers('norm2', 1, REAL);
/** re + i·im */
export const complexOf: (re: RealLike, im: RealLike) => Complex = ofReals('complexOf', 2, COMPLEX);

/** `a` where the condition holds, otherwise `b`. Both are computed. @throws FftError `invalid-program` */
export function select<A extends NumberLike, B extends NumberLike>(condition: Condition, a: A, b: B): Promoted<A, B> {
  const given: unknown = condition;
  if (!(given instanceof Value) || given.type.kind !== 'condition') {
    refuseProgram(
      'select',
      `it takes a condition, less(a, b), and two numbers; it was given ${describedValue(given)}.`,
    );
  }
  const [one, other] = operands('select', [a, b], ['number', 'number']) as [Value, Value];
  return new Value('select', widened(one.type, other.type)!, [given, one, other]) as never;
}

/** A tuple of values, like an element of a zipped array. @throws FftError `invalid-program` */
export function tuple<const T extends readonly unknown[]>(...given: T): Tuple<{ [K in keyof T]: AsValue<T[K]> }> {
  const values = given.map(asValue);
  if (values.length < 1 || values.some((value) => !value || isSameType(value.type, CONDITION))) {
    refuseProgram('tuple', `it takes values; it was given ${given.map(describedValue).join(' and ')}.`);
  }
  const type = tupleOf(values.map((value) => value!.type));
  return new Value('tuple', type, values as Value[]) as never;
}

/** The identity function: returns its argument. */
export function id<A>(a: A): A {
  return a;
}

/** The root of unity e^(−2πi·k/n), rounded once. @throws FftError `invalid-program` for a k or n that is not a whole number */
export function omega(k: number, n: number): Complex {
  if (!Number.isSafeInteger(k) || !Number.isSafeInteger(n) || n < 1) {
    refuseProgram('omega', `it takes whole numbers k and n, n above 0; it was given ${show(k)} and ${show(n)}.`);
  }
  return new Value('omega', COMPLEX, [], { k: ((k % n) + n) % n, n }) as never;
}
